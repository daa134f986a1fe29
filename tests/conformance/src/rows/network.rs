//! Connections and processes that end, or seem to.

use std::thread;
use std::time::Duration;

use super::{
    FRED, FRED_LIMIT, FRED_REFUSED, FRED_WAITS, KEPT_INTERVAL, MANAGER, MANAGER_LIMIT,
    MANAGER_WAITS, REFUSED, SOON, UNANSWERED, UNHARMED, UNKNOWN,
};
use super::{closes_once, disconnects, hangs, nothing, plain};
use crate::one_server::OneServer;
use crate::row::{Back, Class, Expected, Leases, Row};

const REPLY_LOST: Expected =
    Expected { outcomes: &[(Class::Unknown, 1)], leases: Leases::End, back: SOON };

pub(super) fn rows() -> Vec<Row<OneServer>> {
    let mut rows = without_server();
    rows.extend(without_answer());
    rows
}

fn without_server() -> Vec<Row<OneServer>> {
    vec![
        disconnects(Row::new(
            "killed and restarted empty",
            "SIGKILL; started again on the same port without data",
            plain,
            kill,
            restart,
            REFUSED,
        )),
        disconnects(
            Row::new(
                "killed, and gone for a while",
                "SIGKILL; started again after sixteen intervals",
                plain,
                kill,
                restart,
                REFUSED,
            )
            .lasts(16),
        ),
        Row::new(
            "not there yet",
            "clients are made while nothing listens on the port; then the server is started",
            plain,
            kill,
            restart,
            REFUSED,
        )
        .made_while_broken()
        .calls(3)
        .but(FRED, FRED_REFUSED, FRED_WAITS)
        .but(MANAGER, UNANSWERED.back(Back::Within(20)), MANAGER_WAITS),
    ]
}

fn without_answer() -> Vec<Row<OneServer>> {
    vec![
        hangs(
            Row::new(
                "stopped and resumed",
                "SIGSTOP; SIGCONT after three calls were given up",
                plain,
                |site| site.server.suspend(),
                |site| site.server.resume(),
                UNANSWERED,
            )
            .calls(3),
        ),
        Row::new(
            "stopped and resumed, early",
            "the same, with calls of a worker that does not know the server's time yet, so that \
             they cannot say when they will be given up",
            plain,
            |site| site.server.suspend(),
            |site| site.server.resume(),
            UNANSWERED.outcomes(&[(Class::GivenUp, 3)]),
        )
        .calls(3)
        .unlimited()
        .but(FRED, UNKNOWN.outcomes(&[(Class::Unknown, 3)]), FRED_LIMIT)
        .but(MANAGER, UNKNOWN.outcomes(&[(Class::Unknown, 3)]), MANAGER_LIMIT),
        Row::new(
            "peer gone silent",
            "open connections stay open and carry nothing; new ones work",
            OneServer::behind_proxy,
            |site| site.proxy().silence(),
            nothing,
            UNANSWERED,
        )
        .but(FRED, UNKNOWN, FRED_LIMIT)
        .but(
            MANAGER,
            UNKNOWN.back(Back::Never),
            "A ConnectionManager does not notice. An answer that never comes does not make it \
             connect again.",
        ),
        Row::new(
            "reply lost",
            "every registration is executed and its connection closed instead of answered",
            OneServer::behind_proxy,
            |site| site.proxy().lose_replies(u32::MAX),
            |site| site.proxy().lose_replies(0),
            REPLY_LOST,
        ),
        Row::new(
            "one reply lost",
            "one registration is executed and its connection closed instead of answered; the gap is 0.3",
            OneServer::behind_proxy,
            |site| site.proxy().lose_replies(1),
            nothing,
            REPLY_LOST.leases(Leases::MayEnd),
        )
        .interval(KEPT_INTERVAL)
        .gap(0.3)
        .with_slots(
            REPLY_LOST.leases(Leases::Kept),
            "A worker with a slot asks again at once and is not counted again.",
        ),
        closes_once(Row::new(
            "CLIENT KILL",
            "every connection is closed once",
            plain,
            kill_clients,
            nothing,
            UNHARMED.leases(Leases::MayEnd),
        )),
        hangs(
            Row::new(
                "CLIENT PAUSE",
                "commands that may write wait; CLIENT UNPAUSE after three calls were given up",
                plain,
                |site| {
                    site.admin::<String>(&["CLIENT", "PAUSE", "600000", "WRITE"]);
                },
                |site| {
                    site.admin::<String>(&["CLIENT", "UNPAUSE"]);
                },
                UNANSWERED,
            )
            .calls(3),
        ),
    ]
}

pub(super) fn kill(site: &mut OneServer) {
    site.server.kill();
    let_it_be_noticed();
}

pub(super) fn restart(site: &mut OneServer) {
    site.server.restart();
}

pub(super) fn kill_clients(site: &mut OneServer) {
    site.kill_clients();
    let_it_be_noticed();
}

/// The clients' ends learn of it by themselves, a moment later. What is sent before that may have arrived,
/// for all that the client knows.
pub(super) fn let_it_be_noticed() {
    thread::sleep(Duration::from_millis(100));
}
