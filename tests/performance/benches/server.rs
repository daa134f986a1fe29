//! What a registration costs the server, against the least that any such scheme needs and against a bare
//! `INCR`, on one server in one run.
//!
//! `cargo bench -p n-and-i-performance --bench server`, with `-- --rounds 20` for more than 8.
//!
//! Every figure is the median over the rounds. In each round, which is one interval, every settled group
//! registers once, so that each way of asking runs next to all others; a ratio is the median of those within
//! one round.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use n_and_i::scripts::{Call, parse};
use n_and_i::{Config, Layout, Request, ServerTime, Stamp, WorkerId};
use n_and_i_performance::median;
use n_and_i_test_support::RedisServer;

/// Registrations in each measurement: these in groups of each size.
const CALLS: usize = 10_000;
const SIZES: [usize; 3] = [10, 1_000, 10_000];
const DEPTHS: [usize; 2] = [1, 16];
const INTERVAL: Duration = Duration::from_secs(12);

/// What any scheme needs that counts in Redis: the time, a count that expires, and a second key to read.
const LEAST: &str = "local time = redis.call('TIME')
local count = redis.call('INCR', KEYS[1])
redis.call('PEXPIRE', KEYS[1], ARGV[1])
redis.call('GET', KEYS[2])
return count .. ' ' .. time[1] .. ' ' .. time[2]";

/// One way of asking.
struct Way {
    name: String,
    /// What `INFO commandstats` calls it.
    command: &'static str,
    groups: Vec<(Config, Vec<WorkerId>)>,
    stamp: u128,
}

/// The costs of one call.
#[derive(Clone, Copy)]
struct Cost {
    /// In µs, as the server's own statistics have it.
    script: f64,
    /// In µs of the server's processor time, with all that reading and answering takes.
    processor: f64,
    received: f64,
    sent: f64,
}

fn main() {
    let rounds = rounds();
    let server = RedisServer::start();
    let mut ways =
        vec![Way::new("INCR", "incr", Vec::new()), Way::new("least script", "evalsha", Vec::new())];
    for layout in Layout::ALL {
        for size in SIZES {
            let name = format!("{layout}, groups of {size}");
            ways.push(Way::new(&name, "evalsha", groups(*layout, size)));
        }
    }
    let mut connection = server.client().get_connection().expect("the server is there");
    let least: String = redis::cmd("SCRIPT").arg("LOAD").arg(LEAST).query(&mut connection).unwrap();
    let guard = "x".repeat(150);
    redis::cmd("SET").arg("least:guard").arg(guard).exec(&mut connection).unwrap();
    for layout in Layout::ALL {
        let config = config("load", *layout);
        let script = Call::register(&Request::new(&config, Stamp::from_u128(1), None)).script;
        redis::cmd("SCRIPT").arg("LOAD").arg(script.text).exec(&mut connection).unwrap();
    }

    let mut costs: BTreeMap<(usize, usize), Vec<Cost>> = BTreeMap::new();
    // Two intervals to settle in.
    for round in 0..rounds + 2 {
        next_interval(&server);
        let began = interval(&server);
        for depth in DEPTHS {
            if depth == 16 && round < 2 {
                continue;
            }
            for number in 0..ways.len() {
                // Another order in each round.
                let number = (number + round) % ways.len();
                let way = &mut ways[number];
                let cost = way.measure(&server, &mut connection, depth, &least, round);
                if round >= 2 {
                    costs.entry((number, depth)).or_default().push(cost);
                }
            }
            // Asked a second time in the same interval, workers of the counters would be new ones, and
            // those of the slots not be counted: a second depth needs an interval of its own.
            if depth == 1 && round >= 2 {
                assert_eq!(interval(&server), began, "a round took longer than an interval");
                next_interval(&server);
            }
        }
    }
    report(&ways, &costs);
}

fn rounds() -> usize {
    let words: Vec<_> = std::env::args().collect();
    let given = words.iter().position(|word| word == "--rounds").map(|at| &words[at + 1]);
    given.map_or(8, |count| count.parse().expect("--rounds takes a number of rounds"))
}

fn config(name: &str, layout: Layout) -> Config {
    Config::new(name, INTERVAL).expect("a name that will do").with_layout(layout)
}

fn groups(layout: Layout, size: usize) -> Vec<(Config, Vec<WorkerId>)> {
    let group = |number: usize| {
        let config = config(&format!("{layout}-{size}-{number}"), layout);
        let workers =
            (0..size).map(|worker| WorkerId::from_u128((number * size + worker + 1) as u128));
        (config, workers.collect())
    };
    (0..CALLS / size).map(group).collect()
}

fn now(server: &RedisServer) -> ServerTime {
    let (seconds, micros): (u64, u64) = server.command(&["TIME"]);
    ServerTime::from_micros(seconds * 1_000_000 + micros)
}

fn interval(server: &RedisServer) -> u64 {
    config("clock", Layout::Counters).timing().interval_at(now(server))
}

fn next_interval(server: &RedisServer) {
    let before = interval(server);
    while interval(server) == before {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A number of `INFO`.
fn info(server: &RedisServer, section: &str, field: &str) -> f64 {
    let text: String = server.command(&["INFO", section]);
    let start = format!("{field}:");
    let line = text.lines().find_map(|line| line.strip_prefix(start.as_str()));
    line.and_then(|value| value.trim().parse().ok()).unwrap_or(0.0)
}

impl Way {
    fn new(name: &str, command: &'static str, groups: Vec<(Config, Vec<WorkerId>)>) -> Self {
        Self { name: name.to_owned(), command, groups, stamp: 0 }
    }

    /// The calls of all workers, those of a group one after the other.
    fn calls(&mut self, least: &str) -> Vec<redis::Cmd> {
        let mut calls = Vec::with_capacity(CALLS);
        if self.groups.is_empty() {
            for _ in 0..CALLS {
                let mut call = redis::Cmd::new();
                match self.command {
                    "incr" => call.arg("INCR").arg("incr:count"),
                    _ => call
                        .arg("EVALSHA")
                        .arg(least)
                        .arg(2)
                        .arg("least:count")
                        .arg("least:guard")
                        .arg("60000"),
                };
                calls.push(call);
            }
        }
        for (config, workers) in &self.groups {
            for worker in workers {
                self.stamp += 1;
                let request = Request::new(config, Stamp::from_u128(self.stamp), None);
                let register = Call::register(&request.with_worker(*worker));
                let mut call = redis::cmd("EVALSHA");
                call.arg(register.script.sha1).arg(1).arg(register.key).arg(register.arguments);
                calls.push(call);
            }
        }
        calls
    }

    fn measure(
        &mut self,
        server: &RedisServer,
        connection: &mut redis::Connection,
        depth: usize,
        least: &str,
        round: usize,
    ) -> Cost {
        let calls = self.calls(least);
        server.command::<String>(&["CONFIG", "RESETSTAT"]);
        let processor =
            |server| info(server, "cpu", "used_cpu_user") + info(server, "cpu", "used_cpu_sys");
        let before = processor(server);
        let mut answers: Vec<redis::Value> = Vec::with_capacity(CALLS);
        for some in calls.chunks(depth) {
            let mut pipeline = redis::pipe();
            for call in some {
                pipeline.add_command(call.clone());
            }
            answers
                .extend(pipeline.query::<Vec<redis::Value>>(connection).expect("it is answered"));
        }
        let processor = processor(server) - before;
        self.check(&answers, round);
        let stats: String = server.command(&["INFO", "commandstats"]);
        let start = format!("cmdstat_{}:", self.command);
        let line = stats
            .lines()
            .find_map(|line| line.strip_prefix(start.as_str()))
            .expect("it was called");
        let script = line.split(',').find_map(|field| field.strip_prefix("usec_per_call="));
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let each = |total: f64| total / CALLS as f64;
        Cost {
            script: script.and_then(|value| value.parse().ok()).expect("a number"),
            processor: each(processor * 1e6),
            received: each(info(server, "stats", "total_net_input_bytes")),
            sent: each(info(server, "stats", "total_net_output_bytes")),
        }
    }

    /// Each registration was counted, in a group that has settled after two rounds.
    fn check(&self, answers: &[redis::Value], round: usize) {
        let mut answers = answers.iter();
        for (config, workers) in &self.groups {
            let size = u32::try_from(workers.len()).expect("a small number");
            for (index, answer) in (0..).zip(answers.by_ref().take(workers.len())) {
                let text: String = redis::from_redis_value(answer.clone()).expect("a text");
                let reply = parse(config, &text).expect("a registration").reply;
                let settled = round < 2 || reply.replicas == Some(size);
                assert!(reply.index == index && settled, "{}: {text}", self.name);
            }
        }
    }
}

fn report(ways: &[Way], costs: &BTreeMap<(usize, usize), Vec<Cost>>) {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    println!("measured at {} s since 1970\n", since.map_or(0, |since| since.as_secs()));
    println!(
        "| depth | what | script µs | to the least | processor µs | to INCR | registrations/s of one core | bytes in | bytes out |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for depth in DEPTHS {
        for (number, way) in ways.iter().enumerate() {
            let own = &costs[&(number, depth)];
            let of = |cost: fn(&Cost) -> f64| median(own.iter().map(cost));
            let ratio = |to: usize, cost: fn(&Cost) -> f64| {
                let pairs = own.iter().zip(&costs[&(to, depth)]);
                median(pairs.map(|(own, other)| cost(own) / cost(other)))
            };
            println!(
                "| {depth} | {} | {:.2} | {:.2} | {:.1} | {:.2} | {:.0} | {:.0} | {:.0} |",
                way.name,
                of(|cost| cost.script),
                ratio(1, |cost| cost.script),
                of(|cost| cost.processor),
                ratio(0, |cost| cost.processor),
                1e6 / of(|cost| cost.processor),
                of(|cost| cost.received),
                of(|cost| cost.sent),
            );
        }
    }
}
