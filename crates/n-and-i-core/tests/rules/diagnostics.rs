use n_and_i_core::{
    Change,
    Diagnostic::{
        self, ClockStepped, LeaseExpired, LeaseGranted, LeaseReleased, NoPairImplied, PairAgreed,
        PairDisagreed, RegistrationCompleted, RegistrationFailed, RegistrationScheduled,
    },
    Failure, Output, Pair, Reason,
};

use crate::support::{Worker, at, change, counted, millis, pair, server};

type MakeWorker = dyn Fn() -> Worker;

/// What happens to the worker is reported like this and no more.
fn check(
    name: &str,
    mut worker: Worker,
    happens: impl FnOnce(&mut Worker),
    reports: impl AsRef<[Diagnostic]>,
) {
    worker.take();
    happens(&mut worker);
    assert_eq!(worker.take_reports(), reports.as_ref(), "{name}");
}

/// Nothing answered yet.
fn started() -> Worker {
    Worker::start(400)
}

/// An index is held, from interval 100; the next registration is due at 1,400.
fn holder() -> Worker {
    let mut worker = started();
    worker.register(counted(1, None));
    worker
}

/// The pair is implied once, in interval 101; the next registration is due at 2,500.
fn aspirant() -> Worker {
    let mut worker = holder();
    worker.register(counted(1, 3));
    worker
}

fn ours() -> Pair {
    pair(1, 3)
}

fn completed(interval: u64, replicas: impl Into<Option<u32>>, skew: i64) -> Diagnostic {
    RegistrationCompleted { interval, index: 1, replicas: replicas.into(), skew: Some(skew) }
}

fn scheduled(delay: u64, expires: u64) -> Diagnostic {
    RegistrationScheduled { delay: millis(delay), expires: Some(millis(expires)) }
}

fn scheduled_with_nothing_held(delay: u64) -> Diagnostic {
    RegistrationScheduled { delay: millis(delay), expires: None }
}

fn failed(attempt: u32, delay: u64) -> Diagnostic {
    RegistrationFailed { gave_up: false, attempt, delay: millis(delay) }
}

fn gave_up(attempt: u32) -> Diagnostic {
    RegistrationFailed { gave_up: true, attempt, delay: millis(0) }
}

fn expired(interval: u64, after: u64) -> Diagnostic {
    LeaseExpired { interval, after: millis(after) }
}

#[test]
fn replies() {
    check(
        "first reply",
        started(),
        |worker| worker.register(counted(1, None).inward(50)),
        [
            RegistrationCompleted { interval: 100, index: 1, replicas: None, skew: None },
            NoPairImplied { previous: None },
            scheduled(1_000, 1_150),
        ],
    );
    check(
        "first pair implied",
        holder(),
        |worker| worker.register(counted(1, 3).outward(100).inward(50)),
        [
            // 1,100 ms of the server's clock in 1,150 ms of the worker's.
            completed(101, 3, -50_000),
            PairDisagreed { pair: ours(), previous: None },
            scheduled(1_000, 1_050),
        ],
    );
    check(
        "granted",
        aspirant(),
        |worker| worker.register(counted(1, 3)),
        [
            completed(102, 3, 0),
            PairAgreed(ours()),
            LeaseGranted(ours().into()),
            scheduled(1_000, 1_200),
        ],
    );
    check(
        "renewed",
        Worker::settled(),
        |worker| worker.register(counted(1, 3)),
        [completed(103, 3, 0), PairAgreed(ours()), scheduled(1_000, 1_200)],
    );
    check(
        "another pair",
        Worker::settled(),
        |worker| worker.register(counted(1, 2)),
        [
            completed(103, 2, 0),
            PairDisagreed { pair: pair(1, 2), previous: Some(ours()) },
            LeaseReleased(ours().into()),
            scheduled(1_150, 1_350),
        ],
    );
    check(
        "no pair any more",
        Worker::settled(),
        |worker| worker.register(counted(1, None)),
        [
            completed(103, None, 0),
            NoPairImplied { previous: Some(ours()) },
            LeaseReleased(ours().into()),
            scheduled(1_000, 1_200),
        ],
    );
}

#[test]
fn expiries() {
    check(
        "before the first reply nothing is held",
        started(),
        |worker| worker.wake(at(400 + 1_200)),
        [gave_up(1)],
    );
    check(
        "lease",
        Worker::settled(),
        |worker| worker.sleep_until(3_700),
        [expired(102, 1_200), LeaseReleased(ours().into())],
    );
    check(
        "lease, while the process was stopped",
        Worker::settled(),
        |worker| worker.wake(at(5_000)),
        [expired(102, 2_500), LeaseReleased(ours().into())],
    );
    check(
        "what could have become a lease",
        aspirant(),
        |worker| worker.sleep_until(2_700),
        [expired(101, 1_300)],
    );
    check(
        "capped lease before its slot came: others joined, nothing is wrong",
        aspirant(),
        |worker| {
            worker.register(counted(5, 3));
            worker.take();
            worker.sleep_until(3_749);
        },
        [LeaseReleased(ours().into())],
    );
    check(
        "capped lease while registering, and later what was held: one report",
        aspirant(),
        |worker| {
            worker.step_server(-40);
            worker.register(counted(1, 3));
            worker.take();
            worker.sleep_until(3_740);
        },
        [expired(102, 1_200), LeaseReleased(ours().into())],
    );
    check(
        "counted from the last answer, be it a refusal",
        Worker::settled(),
        |worker| {
            worker.fail(10, Failure::TooLate { at: server(3_510) });
            worker.take();
            worker.sleep_until(3_700);
        },
        [expired(102, 200), LeaseReleased(ours().into())],
    );
    check(
        "again, after another registration",
        Worker::settled(),
        |worker| {
            // Given up and sent again.
            worker.sleep_until(4_500);
            worker.register(counted(1, 3));
            worker.take();
            worker.sleep_until(6_000);
        },
        [expired(104, 1_200)],
    );
}

#[test]
fn failures() {
    check(
        "not executed",
        Worker::settled(),
        |worker| worker.fail(10, Failure::NotExecuted),
        [failed(1, 125), scheduled(125, 190)],
    );
    check(
        "unknown outcome",
        Worker::settled(),
        |worker| worker.fail(10, Failure::Unknown),
        [failed(1, 990), scheduled(990, 190)],
    );
    check(
        "refused for its interval",
        Worker::settled(),
        |worker| worker.fail(10, Failure::IntervalMismatch { group: millis(2_000) }),
        [failed(1, 125), scheduled(125, 190)],
    );
    check(
        "before the first reply",
        started(),
        |worker| worker.fail(10, Failure::NotExecuted),
        [failed(1, 125), scheduled(125, 1_190)],
    );
    check(
        "the second, at the end of the lease",
        Worker::settled(),
        |worker| {
            worker.fail(10, Failure::NotExecuted);
            worker.take();
            worker.fail(65, Failure::NotExecuted);
        },
        [
            expired(102, 1_200),
            LeaseReleased(ours().into()),
            failed(2, 250),
            scheduled_with_nothing_held(250),
        ],
    );
    check("given up", started(), |worker| worker.sleep_until(1_400), [gave_up(1)]);
    check(
        "given up twice, then not executed",
        started(),
        |worker| {
            worker.sleep_until(2_399);
            worker.take();
            worker.sleep_until(2_400);
            worker.fail(10, Failure::NotExecuted);
        },
        [gave_up(2), failed(3, 500), scheduled_with_nothing_held(500)],
    );
}

#[test]
fn steps_of_the_server_clock() {
    check(
        "forwards",
        Worker::settled(),
        |worker| {
            worker.step_server(5_000);
            worker.register(counted(1, 3).inward(50));
        },
        [
            // The round trip hides some of it.
            ClockStepped { by: 4_950_000 },
            completed(108, 3, 4_950_000),
            NoPairImplied { previous: None },
            LeaseReleased(ours().into()),
            scheduled(1_000, 1_150),
        ],
    );
    check(
        "backwards",
        Worker::settled(),
        |worker| {
            worker.step_server(-3_000);
            worker.register(counted(1, 3));
        },
        [
            ClockStepped { by: -3_000_000 },
            completed(100, 3, -3_000_000),
            NoPairImplied { previous: None },
            LeaseReleased(ours().into()),
            scheduled(1_000, 1_200),
        ],
    );
    check(
        "seen by a refusal",
        Worker::settled(),
        |worker| worker.fail(10, Failure::TooLate { at: server(9_000) }),
        [
            ClockStepped { by: 5_490_000 },
            LeaseReleased(ours().into()),
            failed(1, 125),
            scheduled_with_nothing_held(125),
        ],
    );
}

#[test]
fn stopping() {
    let stop = |worker: &mut Worker| worker.stop(at(2_600));
    check("with a lease", Worker::settled(), stop, [LeaseReleased(ours().into())]);
    check("without a lease", aspirant(), stop, []);
}

#[test]
fn every_idle_change_has_a_reason() {
    let drain_until = Some(at(3_925));
    let lost = |reason, stage| Change { owned: Err(reason), stage: Some(stage), drain_until };
    let cases: [(&str, &MakeWorker, Change); 5] = [
        (
            "starting",
            &|| Worker::start(400),
            Change { owned: Err(Reason::Starting), stage: None, drain_until: None },
        ),
        (
            "rebalancing",
            &|| {
                let mut worker = Worker::settled();
                worker.register(counted(1, 4));
                worker
            },
            lost(Reason::Rebalancing, 103),
        ),
        (
            "expired",
            &|| {
                let mut worker = Worker::settled();
                worker.sleep_until(3_700);
                worker
            },
            lost(Reason::Expired, 102),
        ),
        (
            "clock-stepped",
            &|| {
                let mut worker = Worker::settled();
                worker.step_server(5_000);
                worker.register(counted(1, 3));
                worker
            },
            lost(Reason::ClockStepped, 108),
        ),
        (
            "stopped",
            &|| {
                let mut worker = Worker::settled();
                worker.stop(at(2_600));
                worker
            },
            lost(Reason::Stopped, 102),
        ),
    ];
    for (word, worker, idle) in cases {
        assert_eq!(idle.owned.unwrap_err().as_str(), word);
        assert_eq!(idle.owned.unwrap_err().to_string(), word);
        let changes: Vec<_> = worker().take().into_iter().filter_map(change).collect();
        assert_eq!(changes, [idle], "{word}");
    }
}

#[test]
fn outputs_come_in_the_order_that_is_documented() {
    let mut worker = Worker::settled();
    worker.await_request();
    worker.take();
    // Expired and given up in one.
    worker.wake(at(5_000));
    let kinds: Vec<_> = worker.take().into_iter().map(kind).collect();
    assert_eq!(kinds, ["expire", "report", "report", "report", "yield", "register", "schedule"]);
}

fn kind(output: Output) -> &'static str {
    match output {
        Output::Expire => "expire",
        Output::Report(_) => "report",
        Output::Yield(_) => "yield",
        Output::Register { .. } => "register",
        Output::ScheduleAt(_) => "schedule",
        _ => "unknown",
    }
}
