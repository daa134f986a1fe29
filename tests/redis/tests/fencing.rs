//! Stores that refuse a late writer, by the code in `docs/rebalancing.md`.

use std::time::Duration;

use n_and_i::{Config, Lease, Peers};
use n_and_i_redis::RedisRegistry;
use n_and_i_test_support::RedisServer;
use rusqlite::{Connection, named_params};

const PAGE: &str = include_str!("../../../docs/rebalancing.md");

/// The only block of code in this language.
fn block(language: &str) -> &'static str {
    let (_, rest) = PAGE.split_once(&format!("```{language}\n")).expect("a block of code");
    let (code, rest) = rest.split_once("```").expect("its end");
    assert!(!rest.contains(&format!("```{language}\n")), "one block of {language}");
    code
}

/// Whether a write of this value with this token was accepted.
type Write<'a> = dyn FnMut(u64, &str) -> bool + 'a;

/// Two real owners of one task, one after the other: the first is late with its write.
async fn late_writer(name: &str, write: &mut Write<'_>) {
    let server = RedisServer::start();
    let registry = RedisRegistry::from_client(server.client());
    let config = Config::new(name, Duration::from_millis(200)).unwrap();
    let discover = || n_and_i_tokio::discover(registry.clone(), config.clone()).unwrap();

    let mut first = discover();
    let before = owned(&mut first).await;
    assert!(write(before.token(), "begun by the first"));
    assert!(write(before.token(), "written twice by the first"), "an owner may write again");
    first.stop();

    let mut second = discover();
    let after = owned(&mut second).await;
    assert!(!before.may_finish() && after.is_live());
    assert!(write(after.token(), "written by the second"));
    // As if its process had been suspended just before.
    assert!(!write(before.token(), "late"), "{} after {}", before.token(), after.token());
    assert!(write(after.token(), "written last"));
}

async fn owned(peers: &mut Peers) -> Lease {
    loop {
        let change = peers.next().await.expect("the worker goes on");
        if let Some(lease) = change.lease().filter(|lease| lease.owns(0)) {
            return lease.clone();
        }
    }
}

#[tokio::test]
async fn redis_refuses_a_late_writer() {
    let server = RedisServer::start();
    let mut connection = server.client().get_connection().unwrap();
    let script = redis::Script::new(block("lua"));
    let mut write = |token: u64, value: &str| {
        let mut invocation = script.key("task:0");
        let written: i64 = invocation.arg(token).arg(value).invoke(&mut connection).unwrap();
        written == 1
    };
    late_writer("fenced-redis", &mut write).await;
    let value: String = server.command(&["HGET", "task:0", "value"]);
    assert_eq!(value, "written last");
}

#[tokio::test]
async fn a_database_refuses_a_late_writer() {
    let database = Connection::open_in_memory().unwrap();
    let (table, statement) = block("sql").split_once("\n\n").expect("a table, then a statement");
    database.execute_batch(table).unwrap();
    let mut write = |token: u64, value: &str| {
        let token = i64::try_from(token).unwrap();
        let values = named_params! { ":id": 0, ":token": token, ":value": value };
        database.execute(statement, values).unwrap() == 1
    };
    late_writer("fenced-sql", &mut write).await;
    let value: String =
        database.query_row("SELECT value FROM results WHERE id = 0", [], |row| row.get(0)).unwrap();
    assert_eq!(value, "written last");
}
