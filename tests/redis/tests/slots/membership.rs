//! Workers come and go, and the others keep their indices.

use n_and_i::{
    Config, Layout, Pair, Reason, Registered, RegistrationError, Registry, Request, WorkerId,
};
use n_and_i_redis::RedisRegistry;
use n_and_i_test_support::{FaultProxy, Group, Log, RedisServer, eventually_async};

use super::{config, present};

/// A registry whose workers may vanish without a word, as a process does that is killed.
#[derive(Clone)]
struct Workers {
    registry: RedisRegistry,
    say_goodbye: bool,
}

impl Registry for Workers {
    async fn register(&self, request: Request<'_>) -> Result<Registered, RegistrationError> {
        self.registry.register(request).await
    }

    fn kind(&self) -> &'static str {
        self.registry.kind()
    }

    fn supports(&self, layout: Layout) -> bool {
        self.registry.supports(layout)
    }

    async fn release(&self, config: &Config, worker: WorkerId) {
        if self.say_goodbye {
            self.registry.release(config, worker).await;
        }
    }
}

fn workers(server: &RedisServer) -> Workers {
    Workers { registry: RedisRegistry::from_client(server.client()), say_goodbye: true }
}

async fn settled(registry: &Workers, config: &Config, workers: usize) -> Group {
    let mut group = Group::new();
    for _ in 0..workers {
        group.join(registry.clone(), config);
    }
    group.settled().await;
    group
}

/// Waits until that part of an interval has passed, and returns the interval's number.
async fn reaches(server: &RedisServer, config: &Config, part: f64) -> u64 {
    eventually_async("the interval reaches that point", || {
        let (number, passed) = present(server, config);
        (part..part + 0.1).contains(&passed).then_some(number)
    })
    .await
}

/// The present workers with their pairs.
async fn pairs(group: &Group) -> Vec<(usize, Pair)> {
    let pairs = group.settled().await;
    group.workers().into_iter().zip(pairs).collect()
}

fn changes(group: &Group) -> Vec<(usize, usize)> {
    group.workers().into_iter().map(|worker| (worker, group.seen(worker).len())).collect()
}

/// One of the middle goes, in order or not.
async fn only_the_last_moves(name: &str, say_goodbye: bool) {
    let server = RedisServer::start();
    let config = config(name, 600);
    let mut group = settled(&Workers { say_goodbye, ..workers(&server) }, &config, 6).await;
    let before = pairs(&group).await;
    let with = |index: u32| before.iter().find(|(_, pair)| pair.i() == index).unwrap().0;
    let (middle, last) = (with(2), with(5));
    let seen = changes(&group);

    group.leave(middle).await;
    let after = pairs(&group).await;
    for &(worker, pair) in &after {
        assert_eq!(pair.n(), 5);
        let (_, was) = before.iter().find(|(other, _)| *other == worker).unwrap();
        let expected = if worker == last { 2 } else { was.i() };
        assert_eq!(pair.i(), expected, "worker {worker} had {was}");
        // Nor was it told anything else on the way.
        let (_, known) = seen.iter().find(|(other, _)| *other == worker).unwrap();
        for change in &group.seen(worker)[*known..] {
            let index = change.share().map(|share| share.pair().i());
            let expected = [was.i(), expected];
            assert!(index.is_none_or(|index| expected.contains(&index)), "{worker}: {change:?}");
        }
    }
    group.check();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_last_moves_when_one_leaves() {
    only_the_last_moves("leave", true).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_last_moves_when_one_vanishes() {
    only_the_last_moves("vanish", false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_newcomer_takes_over_from_who_leaves_and_nobody_else_notices() {
    let server = RedisServer::start();
    let config = config("successor", 800);
    let registry = workers(&server);
    let mut group = settled(&registry, &config, 5).await;
    // Before anybody has registered in the interval, among them, and after all.
    for part in [0.02, 0.4, 0.75] {
        let before = pairs(&group).await;
        let &(leaver, given_back) = before.iter().find(|(_, pair)| pair.i() == 2).unwrap();
        let interval = reaches(&server, &config, part).await;
        group.leave(leaver).await;
        let seen = changes(&group);
        let newcomer = group.join(registry.clone(), &config);
        let registered = || {
            let last: Option<String> =
                server.command(&["HGET", "{successor}:guard", &format!("i{}", given_back.i())]);
            last.filter(|holder| holder.contains('+'))
        };
        eventually_async("the newcomer is counted", registered).await;
        assert_eq!(present(&server, &config).0, interval, "the test was too slow");

        let after = pairs(&group).await;
        assert_eq!(after.last(), Some(&(newcomer, given_back)), "{after:?}");
        let told = changes(&group);
        assert_eq!(told[..told.len() - 1], seen, "{part}: somebody else was told something");
    }
    group.check();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_that_join_at_once_settle_within_four_intervals() {
    let server = RedisServer::start();
    let config = config("twenty", 1_000);
    let registry = workers(&server);
    let mut group = settled(&registry, &config, 5).await;
    let before = pairs(&group).await;
    let joined = reaches(&server, &config, 0.02).await;
    for _ in 0..20 {
        group.join(registry.clone(), &config);
    }
    let after = pairs(&group).await;
    let took = present(&server, &config).0 - joined;
    assert!(took <= 4, "{took} intervals");
    println!("20 joins settled within {took} intervals");
    for (worker, pair) in before {
        let (_, now) = after.iter().find(|(other, _)| *other == worker).unwrap();
        assert_eq!((now.i(), now.n()), (pair.i(), 25), "worker {worker}");
    }
    // Each was told once that it starts, and once what it owns.
    for worker in 5..25 {
        let seen = group.seen(worker);
        assert_eq!(seen.len(), 2, "worker {worker}: {seen:?}");
        assert_eq!(seen[0].owned.as_ref().err(), Some(&Reason::Starting));
    }
    group.check();
}

#[tokio::test]
async fn a_reply_that_is_lost_costs_nobody_anything() {
    let server = RedisServer::start();
    let proxy = FaultProxy::start(server.port());
    let log = Log::default();
    let _logging = tracing::subscriber::set_default(log.clone());
    let url = format!("redis://127.0.0.1:{}", proxy.port());
    // It is asked again after an eighth of the interval, well within the gap.
    let config = config("asked-again", 800).with_gap(0.3).unwrap();
    let mut group = Group::new();
    for _ in 0..2 {
        group.join(RedisRegistry::from_client(redis::Client::open(&*url).unwrap()), &config);
    }
    group.join(RedisRegistry::from_client(server.client()), &config);
    group.settled().await;
    let seen = changes(&group);
    for round in 1..=4 {
        let completed = log.count("registration completed");
        proxy.lose_replies(1);
        eventually_async("a reply is lost", || (proxy.lost() == round).then_some(())).await;
        let went_on = || (log.count("registration completed") >= completed + 6).then_some(());
        eventually_async("all register twice more", went_on).await;
        assert_eq!(changes(&group), seen, "somebody was told something");
        assert!(group.workers().into_iter().all(|worker| group.lease(worker).is_some()));
    }
    let failed: Vec<_> =
        log.events().into_iter().filter(|event| event.message == "registration failed").collect();
    assert_eq!(failed.len(), 4, "{failed:#?}");
    for failure in failed {
        assert!(failure.fields["error"].contains("may have been counted"), "{failure:?}");
        assert_eq!(failure.fields["delay"], "100ms", "{failure:?}");
    }
    // Nobody was ever counted twice.
    let group_line: String = server.command(&["HGET", "{asked-again}:guard", "group"]);
    let closing = group_line.split(' ').nth(10).unwrap();
    assert_eq!(closing, "3", "{group_line}");
    group.check();
}
