//! Users and what they may do.

use super::network::{kill_clients, let_it_be_noticed};
use super::{
    FRED, FRED_MISCONFIGURED, FRED_WAITS, MANAGER, MISCONFIGURED, UNKNOWN, locks_out, plain,
};
use crate::one_server::OneServer;
use crate::row::{Back, Row};

pub(super) fn rows() -> Vec<Row<OneServer>> {
    vec![
        locks_out(Row::new(
            "user deleted and restored",
            "ACL DELUSER, ACL SETUSER",
            with_user,
            |site| {
                site.admin::<u64>(&["ACL", "DELUSER", "worker"]);
                let_it_be_noticed();
            },
            |site| grant(site, &ALL),
            MISCONFIGURED,
        )),
        locks_out(Row::new(
            "wrong password",
            "the user's password is changed and its connections are closed; changed back",
            with_user,
            |site| {
                grant(site, &["resetpass", ">other"]);
                kill_clients(site);
            },
            |site| grant(site, &["resetpass", ">secret"]),
            MISCONFIGURED,
        )),
        Row::new(
            "wrong password for long",
            "the same, changed back after forty intervals",
            with_user,
            |site| {
                grant(site, &["resetpass", ">other"]);
                kill_clients(site);
            },
            |site| grant(site, &["resetpass", ">secret"]),
            MISCONFIGURED,
        )
        .lasts(40)
        .but(FRED, FRED_MISCONFIGURED, FRED_WAITS)
        .but(
            MANAGER,
            UNKNOWN.back(Back::Never),
            "A ConnectionManager gives up for good when it was refused seven times.",
        ),
        locks_out(Row::new(
            "NOAUTH",
            "requirepass is set, which the client does not know, and every connection is closed",
            plain,
            |site| {
                site.set("requirepass", "unknown");
                kill_clients(site);
            },
            |site| site.set("requirepass", ""),
            MISCONFIGURED,
        )),
        Row::new(
            "EVALSHA forbidden",
            "the user may run neither EVALSHA nor EVAL",
            with_user,
            |site| grant(site, &["-evalsha", "-eval"]),
            |site| grant(site, &["+evalsha", "+eval"]),
            MISCONFIGURED,
        ),
        Row::new(
            "INCR, HSET forbidden",
            "the user may run scripts that do not count",
            with_user,
            |site| grant(site, &["-incr", "-hset"]),
            |site| grant(site, &["+incr", "+hset"]),
            MISCONFIGURED,
        ),
    ]
}

const ALL: [&str; 4] = ["on", ">secret", "~*", "+@all"];

fn with_user() -> OneServer {
    let mut site = plain();
    grant(&mut site, &ALL);
    site.endpoint.user = Some(("worker", "secret"));
    site
}

fn grant(site: &mut OneServer, rules: &[&str]) {
    site.admin::<String>(&[&["ACL", "SETUSER", "worker"], rules].concat());
}
