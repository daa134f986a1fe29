//! All faults, by what they strike.

mod access;
mod network;
mod reached;
mod several;
mod state;

use std::time::Duration;

use crate::one_server::OneServer;
use crate::row::{Back, Class, Expected, Leases, Row};
use crate::several::{Cluster, Watched};
use crate::subject::Client;

/// How soon a group is back: a failed registration is tried again within one interval, and then
/// two intervals must be counted and agree.
pub const SOON: Back = Back::Within(5);

/// The server refuses, and the worker knows it.
pub const REFUSED: Expected =
    Expected { outcomes: &[(Class::NotExecuted, 0)], leases: Leases::End, back: SOON };
/// Somebody must do something.
pub const MISCONFIGURED: Expected = REFUSED.outcomes(&[(Class::Configuration, 0)]);
/// There is no answer, and what was sent is not executed late.
pub const UNANSWERED: Expected = REFUSED.outcomes(&[(Class::GivenUp, 0)]);
/// It costs nothing.
pub const UNHARMED: Expected =
    Expected { outcomes: &[(Class::Succeeds, 1)], leases: Leases::Kept, back: SOON };

/// Both ways to use fred.
const FRED: &[Client] = &[Client::FredClient, Client::FredPool];
const FRED_WAITS: &str = "While it connects again fred holds calls back. One that runs into its time limit \
    there may have been sent, as far as fred says.";
const FRED_LIMIT: &str = "fred is given seven eighths of the interval for a call, and then says that it may have \
    been sent.";

/// Connections that are closed once.
const FRED_CLOSED: Expected =
    UNHARMED.leases(Leases::MayEnd).outcomes(&[(Class::Succeeds, 1), (Class::NotExecuted, 0)]);
const FRED_CLOSED_REASON: &str = "Until fred is connected again calls fail at once.";

/// A connection that looks after itself.
const MANAGER: &[Client] = &[Client::RedisManager];
const MANAGER_CLOSED: &str = "A ConnectionManager does not say whether it sent a call on a connection that turned \
    out to be closed, and pauses for up to 3.2 seconds between attempts to connect.";
const MANAGER_WAITS: &str =
    "Calls wait while a ConnectionManager connects again, with pauses of up to 3.2 seconds.";
const MANAGER_LIMIT: &str = "A ConnectionManager waits half a second for an answer, unless it is told otherwise, and \
    then says that the call may have been executed.";

/// As [`REFUSED`], where the client cannot tell.
const UNKNOWN: Expected = REFUSED.outcomes(&[(Class::Unknown, 0)]);
/// As [`UNKNOWN`], with the pauses that a `ConnectionManager` makes between attempts.
const MANAGER_REFUSED: Expected = UNKNOWN.back(Back::Within(20));
/// As [`REFUSED`], where fred can sometimes tell.
const FRED_REFUSED: Expected = REFUSED.outcomes(&[(Class::NotExecuted, 0), (Class::Unknown, 0)]);
/// As [`MISCONFIGURED`], where fred can sometimes tell.
const FRED_MISCONFIGURED: Expected =
    REFUSED.outcomes(&[(Class::Configuration, 0), (Class::NotExecuted, 0), (Class::Unknown, 0)]);

/// The faults of a single server.
pub fn of_one_server() -> Vec<Row<OneServer>> {
    let mut rows = network::rows();
    rows.extend(state::rows());
    rows.extend(access::rows());
    rows.extend(reached::rows());
    rows
}

/// The faults of a cluster.
pub fn of_a_cluster() -> Vec<Row<Cluster>> {
    several::of_a_cluster()
}

/// The faults of a primary that sentinels watch.
pub fn of_sentinels() -> Vec<Row<Watched>> {
    several::of_sentinels()
}

/// The connection is lost with the fault, and refused until the repair.
fn disconnects(row: Row<OneServer>) -> Row<OneServer> {
    row.but(FRED, FRED_REFUSED, FRED_WAITS).but(MANAGER, MANAGER_REFUSED, MANAGER_CLOSED)
}

/// The connection is lost with the fault, and refused until somebody changes something.
fn locks_out(row: Row<OneServer>) -> Row<OneServer> {
    row.but(FRED, FRED_MISCONFIGURED, FRED_WAITS).but(MANAGER, MANAGER_REFUSED, MANAGER_CLOSED)
}

/// The connection stays and carries no answer.
fn hangs(row: Row<OneServer>) -> Row<OneServer> {
    row.but(FRED, UNKNOWN, FRED_LIMIT).but(MANAGER, UNKNOWN, MANAGER_LIMIT)
}

/// The connection is lost once.
fn closes_once(row: Row<OneServer>) -> Row<OneServer> {
    let unknown = row.expected.outcomes(&[(Class::Unknown, 0)]);
    row.but(FRED, FRED_CLOSED, FRED_CLOSED_REASON).but(MANAGER, unknown, MANAGER_CLOSED)
}

/// Where nobody may lose a lease: a machine that stands still for longer than the gap costs one, and the gap is
/// a part of the interval.
const KEPT_INTERVAL: Duration = Duration::from_secs(1);
/// Connections with TLS cost so much that shorter ones would measure only that.
const TLS_INTERVAL: Duration = Duration::from_millis(500);

/// A server that is as it should be.
fn plain() -> OneServer {
    OneServer::new(&[])
}

/// Nothing is to be repaired.
fn nothing(_: &mut OneServer) {}
