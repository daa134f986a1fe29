//! Servers that run and refuse.

use std::fmt::Write as _;
use std::time::Duration;
use std::{fs, thread};

use n_and_i::{Layout, scripts};
use n_and_i_test_support::eventually;

use super::{KEPT_INTERVAL, MISCONFIGURED, REFUSED, UNHARMED, disconnects, plain};
use crate::one_server::{OneServer, admin};
use crate::row::Row;
use crate::site::Site;

pub(super) fn rows() -> Vec<Row<OneServer>> {
    vec![
        Row::new(
            "SCRIPT FLUSH",
            "before every call",
            plain,
            |site| {
                site.admin::<String>(&["SCRIPT", "FLUSH"]);
                site.meanwhile(Duration::from_millis(3), |port| {
                    // Tried again at once if it fails.
                    let flush = |mut server| redis::cmd("SCRIPT").arg("FLUSH").exec(&mut server);
                    drop(admin(port).and_then(flush));
                });
            },
            |site| {
                site.background = None;
                let sent = site.server.calls("eval");
                assert!(sent >= 2, "the script was sent {sent} times");
            },
            UNHARMED,
        )
        .interval(KEPT_INTERVAL),
        Row::new(
            "READONLY",
            "made a replica of nobody; promoted again",
            plain,
            |site| {
                site.admin::<String>(&["REPLICAOF", "127.0.0.1", "1"]);
            },
            |site| {
                site.admin::<String>(&["REPLICAOF", "NO", "ONE"]);
            },
            REFUSED,
        ),
        disconnects(Row::new(
            "LOADING",
            "restarted with a file that takes seconds to load",
            plain,
            load,
            |site| eventually("the server has loaded", || loaded(site).then_some(())),
            REFUSED,
        )),
        Row::new(
            "BUSY",
            "a script of another client runs for ever; SCRIPT KILL",
            || OneServer::new(&["--lua-time-limit", "10"]),
            occupy,
            |site| {
                let script = site.background.take().expect("a script that runs");
                // An error if it has ended.
                script.end(|| drop(site.try_admin::<String>(&["SCRIPT", "KILL"])));
            },
            REFUSED,
        ),
        Row::new(
            "OOM",
            "maxmemory 1",
            || OneServer::new(&["--maxmemory-policy", "noeviction"]),
            |site| site.set("maxmemory", "1"),
            |site| site.set("maxmemory", "0"),
            REFUSED,
        ),
        Row::new(
            "NOREPLICAS",
            "min-replicas-to-write 1, without a replica",
            plain,
            |site| site.set("min-replicas-to-write", "1"),
            |site| site.set("min-replicas-to-write", "0"),
            REFUSED,
        ),
        disconnects(Row::new(
            "maxclients",
            "every connection is closed, and another client's is the last that is accepted",
            plain,
            |site| {
                site.keep_admin();
                site.set("maxclients", "1");
                site.kill_clients();
                thread::sleep(Duration::from_millis(100));
            },
            |site| site.set("maxclients", "1000"),
            REFUSED,
        )),
        Row::new(
            "WRONGTYPE",
            "the next intervals' counters, or the key that has the slots, are lists; deleted",
            plain,
            |site| {
                for key in next_keys(site) {
                    site.admin::<u64>(&["DEL", &key]);
                    site.admin::<u64>(&["RPUSH", &key, "x"]);
                }
            },
            |site| {
                for key in site.admin::<Vec<String>>(&["KEYS", "*"]) {
                    if site.admin::<String>(&["TYPE", &key]) == "list" {
                        site.admin::<u64>(&["DEL", &key]);
                    }
                }
            },
            MISCONFIGURED,
        ),
    ]
}

fn next_keys(site: &mut OneServer) -> Vec<String> {
    if site.group.layout() == Layout::Slots {
        return vec![scripts::guard_key(&site.group)];
    }
    let present = site.present_interval();
    (present..present + 40).map(|n| n_and_i::counters::counter_key(&site.group, n)).collect()
}

/// Commands in the file. The server answers after every 1024 of them.
const COMMANDS: usize = 50_000;

fn load(site: &mut OneServer) {
    site.server.kill();
    let mut file = String::new();
    for _ in 0..COMMANDS {
        // Writing to a string cannot fail.
        let _ = write!(file, "*3\r\n$3\r\nSET\r\n$7\r\nballast\r\n$1\r\nx\r\n");
    }
    fs::write(site.server.directory().join("appendonly.aof"), file).expect("a file");
    site.server.restart_loading(&["--appendonly", "yes", "--key-load-delay", "50"]);
}

fn loaded(site: &mut OneServer) -> bool {
    // Redis 6.2 takes its time.
    let _ = site.try_admin::<String>(&["CONFIG", "SET", "key-load-delay", "0"]);
    site.try_admin::<String>(&["PING"]).is_ok()
}

fn occupy(site: &mut OneServer) {
    site.meanwhile(Duration::from_millis(1), |port| {
        let mut script = redis::cmd("EVAL");
        script.arg("while true do end").arg(0);
        // Ends with an error when it is killed.
        drop(admin(port).and_then(|mut server| {
            server.set_read_timeout(None)?;
            script.exec(&mut server)
        }));
    });
    eventually("the server is busy", || {
        let answer = site.try_admin::<String>(&["PING"]);
        answer.err().filter(|error| error.code() == Some("BUSY")).map(drop)
    });
}
