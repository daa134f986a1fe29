//! Ways to reach a server, each with a fault of its connections.

use super::network::{kill, kill_clients, restart};
use super::{
    FRED, FRED_CLOSED, FRED_CLOSED_REASON, REFUSED, TLS_INTERVAL, UNHARMED, closes_once,
    disconnects, nothing, plain,
};
use crate::endpoint::{Address, Endpoint};
use crate::one_server::OneServer;
use crate::row::{Leases, Row};
use crate::tls::TlsProxy;

pub(super) fn rows() -> Vec<Row<OneServer>> {
    vec![
        disconnects(Row::new(
            "Unix socket",
            "killed and restarted on the same socket",
            on_a_socket,
            kill,
            restart,
            REFUSED,
        )),
        closes_once(Row::new(
            "RESP2",
            "every connection is closed once",
            plain,
            kill_clients,
            nothing,
            UNHARMED.leases(Leases::MayEnd),
        )),
        Row::new(
            "RESP3",
            "every connection is closed once",
            || {
                let mut site = plain();
                site.endpoint.resp3 = true;
                site
            },
            kill_clients,
            nothing,
            UNHARMED.leases(Leases::MayEnd),
        )
        .but(FRED, FRED_CLOSED, FRED_CLOSED_REASON),
        // Last, since they cost so much that what is timed beside them may be late.
        closes_once(
            Row::new(
                "TLS",
                "a certificate of an authority of its own; every connection is closed once",
                over_tls,
                kill_clients,
                nothing,
                UNHARMED.leases(Leases::MayEnd),
            )
            .interval(TLS_INTERVAL),
        ),
        disconnects(
            Row::new(
                "TLS, foreign certificate",
                "every connection is closed, and new ones are shown a certificate of another \
             authority; set right",
                over_tls,
                |site| {
                    site.tls().be_foreign(true);
                    kill_clients(site);
                },
                |site| site.tls().be_foreign(false),
                REFUSED,
            )
            .interval(TLS_INTERVAL),
        ),
    ]
}

fn over_tls() -> OneServer {
    let mut site = plain();
    let tls = TlsProxy::start(site.server.port());
    site.endpoint.address = Address::Tls(tls.port(), tls.authority().to_owned());
    site.tls = Some(tls);
    site
}

fn on_a_socket() -> OneServer {
    // The server is started in its own directory, which is what the name is relative to.
    let mut site = OneServer::new(&["--unixsocket", "redis.sock"]);
    let path = site.server.directory().join("redis.sock");
    site.endpoint = Endpoint { address: Address::Unix(path), ..site.endpoint };
    site
}
