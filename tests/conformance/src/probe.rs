//! What becomes of single registrations.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use n_and_i::{BootClock, Clock, Config, Instant, RegistrationError, Registry, Request};
use n_and_i::{Reply, ServerTime, Stamp, WorkerId};
use n_and_i_core::Failure;

use crate::executor::{Begun, Executor};
use crate::registry::{AnyRegistry, Outcome};
use crate::row::{Back, Class, Row, USUAL};
use crate::site::Site;
use crate::subject::Subject;

/// How long a call is waited for, as by a worker of a group with this interval. The server keeps
/// counters three times as long.
const INTERVAL: Duration = Duration::from_secs(2);

/// How often the client is tried after the repair.
const TRIES: u32 = 60;
/// How often a client is tried that is not expected to come back.
const IN_VAIN: u32 = 5;

/// Makes the row's calls and holds what becomes of them against what is expected.
///
/// # Errors
/// If that is something else, with all that was seen.
///
/// # Panics
/// If more was executed than can be, which is never the machine's fault. If a server does not start or a
/// call's task panics.
pub fn probe<S: Site>(row: &Row<S>, subject: &Subject) -> Result<(), String> {
    let (expected, _) = row.expected_of(subject);
    let executor = Executor::start(subject.runtime);
    let config =
        |name| Config::new(name, INTERVAL).expect("a good name").with_layout(subject.layout);
    let mut site = (row.set_up)();
    site.look_at(config("probe"));
    let mut registry = None;
    let mut time = None;
    if !row.made_while_broken {
        let made = subject.connect(site.endpoint(), &executor);
        let reply = first_success(&made, &config("before"), TRIES, &executor);
        time = Some(Time::of(&reply.ok_or("the whole server cannot be registered in")?));
        registry = Some(made);
    }
    (row.break_it)(&mut site);
    let registry = registry.unwrap_or_else(|| subject.connect(site.endpoint(), &executor));

    let broken = BootClock.now();
    let time = time.filter(|_| row.limited);
    let not_after = time.as_ref().map(Time::limit);
    let begin = |worker| call(&registry, site.group(), worker, not_after, &executor);
    let calls: Vec<_> = (0..row.calls).map(begin).collect();
    let seen: Vec<_> = calls.into_iter().map(|call| Seen::of(call.wait().as_ref())).collect();
    if let Some(time) = &time
        && seen.iter().any(|seen| matches!(seen.class, Class::GivenUp | Class::Unknown))
    {
        // What was given up by its worker must be refused by the server, not before.
        let limit = time.limit();
        while time.now() <= limit {
            thread::sleep(Duration::from_millis(20));
        }
    }
    if row.lasts > USUAL {
        let since = BootClock.now().saturating_duration_since(broken);
        thread::sleep((row.lasts * row.interval).saturating_sub(since));
    }
    (row.repair)(&mut site);
    let mut counters = BTreeMap::new();
    site.read_counters(&mut counters);
    // What the client still sends is executed before what it is told to do only now.
    let tries = if expected.back == Back::Never { IN_VAIN } else { TRIES };
    let again = first_success(&registry, &config("after"), tries, &executor);
    site.read_counters(&mut counters);

    let executions: u32 = counters.values().sum();
    let most = expected.outcomes.iter().map(|(_, executions)| *executions).max();
    assert!(Some(executions) <= most, "executed {executions} times: {seen:#?}");
    let outcome = (seen[0].class, executions);
    if !expected.outcomes.contains(&outcome) {
        return Err(format!("{outcome:?} is none of {:?}: {seen:#?}", expected.outcomes));
    }
    if let Some(success) = seen.iter().skip(1).find(|seen| seen.class == Class::Succeeds)
        && expected.outcomes.iter().all(|(class, _)| *class != Class::Succeeds)
    {
        return Err(format!("a later call succeeded: {success:?}, {seen:#?}"));
    }
    let back = again.is_some();
    if back != (expected.back != Back::Never) {
        return Err(format!("back is {back}, expected {:?}: {seen:#?}", expected.back));
    }
    Ok(())
}

#[derive(Debug)]
struct Seen {
    class: Class,
    #[expect(dead_code, reason = "shown if something else was expected")]
    error: String,
}

impl Seen {
    fn of(outcome: Option<&Outcome>) -> Self {
        let class = match outcome {
            None => Class::GivenUp,
            Some(Ok(_)) => Class::Succeeds,
            Some(Err(RegistrationError::Configuration(_))) => Class::Configuration,
            Some(Err(error)) => match error.failure() {
                Failure::Unknown => Class::Unknown,
                _ => Class::NotExecuted,
            },
        };
        let error = match outcome {
            Some(Err(error)) => format!("{error}: {error:?}"),
            _ => String::new(),
        };
        Self { class, error }
    }
}

/// The server's clock, as a worker knows it after a reply.
struct Time {
    at: ServerTime,
    received: Instant,
}

impl Time {
    fn of(reply: &Reply) -> Self {
        Self { at: reply.at, received: BootClock.now() }
    }

    /// When a call made now will be given up.
    fn limit(&self) -> ServerTime {
        self.after(INTERVAL)
    }

    /// At the earliest.
    fn now(&self) -> ServerTime {
        self.after(Duration::ZERO)
    }

    fn after(&self, delay: Duration) -> ServerTime {
        let since = BootClock.now().saturating_duration_since(self.received) + delay;
        let micros = u64::try_from(since.as_micros()).unwrap_or(u64::MAX);
        ServerTime::from_micros(self.at.as_micros().saturating_add(micros))
    }
}

/// One call of this worker, given up after the interval.
fn call(
    registry: &AnyRegistry,
    config: &Config,
    worker: u32,
    not_after: Option<ServerTime>,
    executor: &Executor,
) -> Begun<Option<Outcome>> {
    let (registry, config) = (registry.clone(), config.clone());
    let limit = executor.runtime().sleep(config.interval());
    executor.begin(async move {
        let worker = WorkerId::from_u128(worker.into());
        let request = Request::new(&config, Stamp::from_u128(1), not_after).with_worker(worker);
        let answer = async { Some(registry.register(request).await) };
        let given_up = async {
            limit.await;
            None
        };
        futures_lite::future::or(answer, given_up).await
    })
}

fn first_success(
    registry: &AnyRegistry,
    config: &Config,
    tries: u32,
    executor: &Executor,
) -> Option<Reply> {
    for _ in 0..tries {
        if let Some(Ok(registered)) = call(registry, config, 0, None, executor).wait() {
            return Some(registered.reply);
        }
        thread::sleep(Duration::from_millis(20));
    }
    None
}
