//! What is seen of a group.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use n_and_i_test_support::{RedisServer, eventually};
use serde_json::{Value, json};

use super::{Look, SILENT, settles, worker};

const LAYOUTS: [&str; 2] = ["counters", "slots"];

#[test]
fn a_settled_group_is_told_from_one_that_flaps() {
    std::thread::scope(|scope| {
        for layout in LAYOUTS {
            scope.spawn(move || settled_and_flapping(layout));
        }
    });
}

fn settled_and_flapping(layout: &str) {
    let server = RedisServer::start();
    let look = || Look::json(&server.url(), &["--intervals", "8"]);
    let _stay = [worker(&server, layout), worker(&server, layout)];
    settles(&server, 2);
    // Unless the machine was so busy that a registration was missed.
    let settled = eventually("eight intervals agree", || {
        let look = look();
        (look.object()["state"] == "settled").then_some(look)
    });
    assert_eq!(settled.problems(), [""; 0]);
    let object = settled.object();
    assert_eq!((&object["layout"], &object["interval_ms"]), (&json!(layout), &json!(500)));
    let intervals = numbers(&object, "interval");
    assert!(intervals.len() >= 9, "{object}");
    assert!(intervals.windows(2).all(|two| two[0] + 1 == two[1]), "{object}");
    assert_eq!(object["open"]["interval"], json!(intervals.last().unwrap() + 1));
    assert!(numbers(&object, "count").ends_with(&[2, 2]), "{object}");

    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                let unsteady = worker(&server, layout);
                closes_with(&server, 3);
                drop(unsteady);
                closes_with(&server, 2);
            }
        });
        // Also if that takes too long.
        let _over = Over(&over);
        let flapping = eventually("the group is seen to flap", || {
            let look = look();
            (look.object()["state"] == "flapping").then_some(look)
        });
        flapping.has_problem("keeps going up and down");
        let counts = numbers(&flapping.object(), "count");
        assert!(counts.contains(&2) && counts.contains(&3), "{counts:?}");
    });
}

/// Sets this when it is dropped.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// So many registered in an interval that has closed.
fn closes_with(server: &RedisServer, count: u64) {
    eventually("an interval with so many closes", || {
        let closed = numbers(&Look::json(&server.url(), &[]).object(), "count");
        closed.ends_with(&[count]).then_some(())
    });
}

/// Of the closed intervals.
fn numbers(object: &Value, field: &str) -> Vec<u64> {
    let closed = object["closed"].as_array().expect("there is a list").iter();
    closed.map(|closed| closed[field].as_u64().expect("a number")).collect()
}

#[test]
fn a_group_that_nobody_joined_is_absent() {
    let server = RedisServer::start();
    let look = Look::json(&server.url(), &[]);
    assert_eq!(look.problems(), [""; 0]);
    let mut object = look.object();
    assert_eq!(object["server"]["role"], "primary");
    assert!(look.unchecked().iter().all(|note| note.starts_with(SILENT)), "{object}");
    for field in ["t_ms", "server", "unchecked"] {
        object[field].take();
    }
    let expected = json!({
        "t_ms": null, "prefix": "", "group": "x", "layout": null, "interval_ms": null, "state": "absent",
        "open": null, "closed": [], "keys": [], "server": null, "findings": [], "unchecked": null,
        "error": null,
    });
    assert_eq!(object, expected);
    let text = Look::at(&server.url(), &["--intervals", "5"]).text();
    assert!(text.contains("absent: no worker has registered under this name"), "{text}");
    assert!(text.contains("findings   none"), "{text}");
}

#[test]
fn keys_have_their_type_and_time_to_live() {
    let server = RedisServer::start();
    for (layout, count) in [("counters", 2..=4), ("slots", 1..=1)] {
        server.command::<String>(&["FLUSHALL"]);
        let _worker = worker(&server, layout);
        settles(&server, 1);
        let look = Look::json(&server.url(), &[]);
        assert_eq!(look.problems(), [""; 0]);
        let object = look.object();
        let keys = object["keys"].as_array().unwrap();
        assert!(count.contains(&keys.len()), "{object}");
        assert_eq!(keys[0]["name"], "{x}:guard");
        for key in keys {
            let ttl = key["ttl_ms"].as_u64().unwrap();
            assert!(ttl <= 3 * 500, "{object}");
            let (kind, fields) = if layout == "slots" {
                ("hash", key["fields"].as_u64().is_some_and(|fields| fields >= 2))
            } else {
                ("string", key["fields"].is_null())
            };
            assert!(key["type"] == kind && fields, "{object}");
        }
        let text = Look::at(&server.url(), &[]).text();
        for words in
            [&*format!("group      x, layout {layout}, interval 500ms"), "{x}:guard", " s left"]
        {
            assert!(text.contains(words), "{words}: {text}");
        }
    }
}

#[test]
fn another_prefix_is_another_group() {
    let server = RedisServer::start();
    let _worker = worker(&server, "counters");
    settles(&server, 1);
    let look = Look::json(&server.url(), &["--prefix", "prod:"]);
    assert_eq!(look.object()["state"], "absent");
    let text = Look::at(&server.url(), &["--prefix", "prod:"]).text();
    assert!(text.contains("group      x, prefix prod:"), "{text}");
}

#[test]
fn a_group_of_slots_that_has_settled_is_seen_so_at_once() {
    let server = RedisServer::start();
    let _workers = [worker(&server, "slots"), worker(&server, "slots")];
    settles(&server, 2);
    // Whenever in an interval it is looked at: Redis knows of one that has closed, or two.
    for part in 0..5 {
        std::thread::sleep(Duration::from_millis(100 * part));
        let object = Look::json(&server.url(), &[]).object();
        assert_ne!(object["state"], "starting", "{object}");
    }
}

#[test]
fn nothing_is_written() {
    let server = RedisServer::start();
    let rules = ["on", ">secret", "~*", "+@all", "-@write", "-@dangerous", "+info", "+client"];
    server.command::<String>(&[&["ACL", "SETUSER", "onlooker"], &rules[..]].concat());
    let url = format!("redis://onlooker:secret@127.0.0.1:{}", server.port());
    for layout in LAYOUTS {
        server.command::<String>(&["FLUSHALL"]);
        let _workers = worker(&server, layout);
        settles(&server, 1);
        let look = Look::json(&url, &["--intervals", "2"]);
        // For a worker that would be too little.
        look.has_refused("");
        let object = look.object();
        assert_eq!(object["state"], "settled");
        assert!(look.unchecked().iter().all(|note| note.starts_with(SILENT)), "{object}");
    }
    // It has an entry for whatever was tried and not allowed, in a script too.
    let log: redis::Value = server.command(&["ACL", "LOG"]);
    assert_eq!(log, redis::Value::Array(vec![]));
}
