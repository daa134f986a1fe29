//! The scripts answer as the store in memory does. `SEED=n` repeats one run, as far as a clock can
//! be repeated.

use std::time::Duration;
use std::{env, thread};

use n_and_i::counters::Refusal;
use n_and_i::scripts::{self, Call};
use n_and_i::slots::Store;
use n_and_i::{Config, Layout, RegistrationError, Reply, Request, ServerTime, Stamp, WorkerId};
use n_and_i_test_support::RedisServer;
use redis::Connection;

const INTERVAL: Duration = Duration::from_millis(25);
/// How far the clocks of TIME and of expiry may be apart.
const SLACK: u64 = 5_000;

/// The `SplitMix64` of Steele, Lea and Flood.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % limit
    }

    fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }
}

/// A group on a server, and the same in memory.
struct Both {
    connection: Connection,
    config: Config,
    store: Store,
    /// Rises when the server takes another identity.
    server: u64,
    /// The latest worker and the latest stamp.
    numbers: u128,
    registered: u32,
    /// How often what happened fell on the edge of an interval and was not compared.
    blurred: u32,
}

impl Both {
    fn new(server: &RedisServer, name: &str, interval: Duration) -> Self {
        Self {
            connection: server.client().get_connection().unwrap(),
            config: Config::new(name, interval).unwrap().with_layout(Layout::Slots),
            store: Store::new(),
            server: 1,
            numbers: 0,
            registered: 0,
            blurred: 0,
        }
    }

    fn newcomer(&mut self) -> WorkerId {
        self.numbers += 1;
        WorkerId::from_u128(self.numbers)
    }

    /// Runs a script. Its answer, the server's time before and after, and how many fields there are then.
    fn run(&mut self, call: &Call) -> (String, [u64; 2], usize) {
        let mut pipeline = redis::pipe();
        pipeline.atomic().cmd("TIME").cmd("EVAL").arg(call.script.text).arg(1).arg(&call.key);
        pipeline.arg(&call.arguments).cmd("TIME").cmd("HLEN").arg(&call.key);
        let (before, answer, after, fields): ((u64, u64), String, (u64, u64), usize) =
            pipeline.query(&mut self.connection).unwrap();
        let micros = |(seconds, micros): (u64, u64)| seconds * 1_000_000 + micros;
        (answer, [micros(before), micros(after)], fields)
    }

    /// Whether the times are too close to the group's end to tell what the server made of it.
    fn is_blurred(&self, [before, after]: [u64; 2]) -> bool {
        let expired = |at| self.store.is_expired(ServerTime::from_micros(at));
        expired(before - SLACK) != expired(after + SLACK)
    }

    fn start_over(&mut self) {
        self.blurred += 1;
        self.store.clear();
        let key = scripts::guard_key(&self.config);
        redis::cmd("DEL").arg(key).exec(&mut self.connection).unwrap();
    }

    fn register(&mut self, worker: WorkerId, limit: Option<ServerTime>) -> Option<Reply> {
        self.register_at(&self.config.clone(), worker, limit)
    }

    /// The reply; none if it was refused.
    fn register_at(
        &mut self,
        config: &Config,
        worker: WorkerId,
        limit: Option<ServerTime>,
    ) -> Option<Reply> {
        self.numbers += 1;
        let stamp = Stamp::from_u128(self.numbers);
        let request = Request::new(config, stamp, limit).with_worker(worker);
        let (answer, times, fields) = self.run(&Call::register(&request));
        if self.is_blurred(times) {
            self.start_over();
            return None;
        }
        let result = scripts::parse(config, &answer);
        let at = match &result {
            Ok(registered) => registered.reply.at,
            Err(RegistrationError::TooLate { at }) => *at,
            Err(_) => ServerTime::from_micros(times[0]),
        };
        let before = self.store.clone();
        let expected = self.store.register(at, self.server, config.timing(), worker, stamp, limit);
        let found = match &result {
            Ok(registered) => Ok(registered.reply),
            Err(RegistrationError::TooLate { .. }) => Err(Refusal::TooLate),
            Err(RegistrationError::IntervalMismatch { group, .. }) => {
                Err(Refusal::Interval(u64::try_from(group.as_millis()).unwrap()))
            }
            Err(RegistrationError::NotExecuted(_)) => Err(Refusal::Gone),
            Err(error) => panic!("{worker}: {error}: {error:?}"),
        };
        assert_eq!(found, expected, "{worker} at {at}, {before:#?}");
        self.registered += u32::from(found.is_ok());
        self.has_fields(fields);
        found.ok()
    }

    fn release(&mut self, worker: WorkerId) {
        let call = Call::release(&self.config, worker).expect("wants to know");
        let (_, times, fields) = self.run(&call);
        let [before, after] =
            times.map(|at| self.config.timing().interval_at(ServerTime::from_micros(at)));
        if before != after || self.is_blurred(times) {
            self.start_over();
            return;
        }
        self.store.release(ServerTime::from_micros(times[0]), self.config.timing(), worker);
        self.has_fields(fields);
    }

    fn has_fields(&self, fields: usize) {
        let (workers, indices) = self.store.size();
        let expected = if fields == 0 { 0 } else { 1 + workers + indices };
        assert_eq!(fields, expected, "{:#?}", self.store);
    }

    fn now(&mut self) -> u64 {
        let (seconds, micros): (u64, u64) = redis::cmd("TIME").query(&mut self.connection).unwrap();
        seconds * 1_000_000 + micros
    }

    fn next_interval(&mut self) {
        let length = u64::try_from(self.config.interval().as_micros()).unwrap();
        let now = self.now();
        thread::sleep(Duration::from_micros(length - now % length));
    }
}

/// Workers that come and go in a hurry for so many intervals.
fn same_answers(server: &RedisServer, seed: u64, intervals: u32) {
    let random = &mut Random(seed);
    let mut both = Both::new(server, &format!("seed-{seed}"), INTERVAL);
    let other = Config::new(both.config.name(), INTERVAL * 2).unwrap().with_layout(Layout::Slots);
    let mut present: Vec<WorkerId> = Vec::new();
    let mut gone: Vec<WorkerId> = Vec::new();
    let size = 3 + random.below(60);
    for _ in 0..intervals {
        for _ in 0..random.below(4) {
            present.push(both.newcomer());
        }
        if present.len() as u64 > size || random.percent(3) {
            // Some vanish without a word.
            let left = random.below(size).try_into().unwrap();
            present.truncate(left);
        }
        // In another order every time.
        for last in (1..present.len()).rev() {
            let chosen = random.below(last as u64 + 1);
            present.swap(last, chosen.try_into().unwrap());
        }
        for worker in present.clone() {
            // Some are late for the whole interval.
            if random.percent(4) {
                continue;
            }
            let limit = random.percent(30).then(|| both.now() + random.below(2_000));
            both.register(worker, limit.map(ServerTime::from_micros));
            if random.percent(8) {
                both.register(worker, None);
            }
            if random.percent(5) {
                both.release(worker);
                present.retain(|other| *other != worker);
                gone.push(worker);
            }
        }
        if random.percent(10) {
            let newcomer = both.newcomer();
            both.register_at(&other, newcomer, None);
        }
        if let Some(worker) = gone.pop().filter(|_| random.percent(50)) {
            both.register(worker, None);
            both.release(worker);
        }
        if random.percent(85) {
            both.next_interval();
        }
        if random.percent(4) {
            thread::sleep(INTERVAL * u32::try_from(random.below(5)).unwrap());
        }
    }
    println!("SEED={seed}: {} registrations, {} blurred", both.registered, both.blurred);
    assert!(both.registered > 10 * both.blurred, "SEED={seed}: hardly anything was compared");
}

#[test]
fn registrations_and_releases_come_to_the_same() {
    let chosen = env::var("SEED").ok().map(|seed| seed.parse().expect("SEED is a number"));
    let seeds = chosen.map_or(1..=4, |seed: u64| seed..=seed);
    let server = RedisServer::start();
    for seed in seeds {
        println!("SEED={seed}");
        same_answers(&server, seed, 60);
    }
}

#[test]
fn a_server_that_takes_another_identity_is_noticed() {
    let server = RedisServer::start();
    let mut both = Both::new(&server, "identity", INTERVAL);
    let workers: Vec<_> = (0..5).map(|_| both.newcomer()).collect();
    for round in 0..40 {
        for &worker in &workers {
            both.register(worker, None);
        }
        if round % 4 == 3 {
            server.command::<String>(&["REPLICAOF", "127.0.0.1", "1"]);
            server.command::<String>(&["REPLICAOF", "NO", "ONE"]);
            both.server += 1;
        }
        both.next_interval();
    }
}

#[test]
fn the_hash_is_bounded_however_workers_come_and_go() {
    const WORKERS: usize = 50;
    let server = RedisServer::start();
    let mut both = Both::new(&server, "churn", Duration::from_millis(100));
    let key = scripts::guard_key(&both.config);
    for _ in 0..12 {
        // Everybody is somebody else in every interval.
        for _ in 0..WORKERS {
            let newcomer = both.newcomer();
            both.register(newcomer, None);
            let fields: usize = redis::cmd("HLEN").arg(&key).query(&mut both.connection).unwrap();
            assert!(fields <= 1 + 2 * 3 * WORKERS, "{fields} fields for {WORKERS} workers");
        }
        both.next_interval();
    }
    // Two are left, and what the crowd left behind goes.
    let two = [both.newcomer(), both.newcomer()];
    for _ in 0..100 {
        for worker in two {
            both.register(worker, None);
        }
        let fields: usize = redis::cmd("HLEN").arg(&key).query(&mut both.connection).unwrap();
        if fields == 5 {
            return;
        }
        both.next_interval();
    }
    panic!("the hash does not shrink to two workers");
}
