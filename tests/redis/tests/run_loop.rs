//! `Peers::run` through a rolling restart, by a log of every task that ran.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use n_and_i::{BootClock, Clock, Config, Finished, Instant, Lease, Rebalance, StopHandle};
use n_and_i_redis::RedisRegistry;
use n_and_i_test_support::{RedisServer, eventually_async};
use tokio::task::JoinHandle;

const INTERVAL: Duration = Duration::from_millis(400);
const WORKERS: usize = 5;
const TASKS: u64 = 40;

/// One run of one task.
#[derive(Clone, Debug)]
struct Run {
    task: u64,
    worker: usize,
    token: u64,
    start: Instant,
    /// When it finished, or was polled last.
    end: Instant,
    finished: bool,
    /// Whether the lease was over when it ended.
    drained: bool,
    /// Until when its lease let it run.
    deadline: Instant,
}

/// Every run that has ended.
#[derive(Clone, Default)]
struct TaskLog(Arc<Mutex<Vec<Run>>>);

impl TaskLog {
    fn runs(&self) -> Vec<Run> {
        self.0.lock().unwrap().clone()
    }

    /// Runs a task under a lease, and logs it when it has finished or was dropped.
    async fn run(&self, task: u64, worker: usize, lease: &Lease) {
        let start = BootClock.now();
        let (polled, finished) = (start, false);
        let mut running = Running { task, worker, lease, start, polled, finished, log: self };
        let mut work = pin!(tokio::time::sleep(length(task)));
        std::future::poll_fn(|cx| {
            running.polled = BootClock.now();
            work.as_mut().poll(cx)
        })
        .await;
        running.finished = true;
    }
}

/// One task in eight takes longer than any time to drain.
fn length(task: u64) -> Duration {
    if task.is_multiple_of(8) { 3 * INTERVAL } else { INTERVAL / 40 }
}

struct Running<'a> {
    task: u64,
    worker: usize,
    lease: &'a Lease,
    start: Instant,
    polled: Instant,
    finished: bool,
    log: &'a TaskLog,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.log.0.lock().unwrap().push(Run {
            task: self.task,
            worker: self.worker,
            token: self.lease.token(),
            start: self.start,
            end: self.polled,
            finished: self.finished,
            drained: !self.lease.is_live(),
            deadline: self.lease.drain_window().deadline(),
        });
    }
}

/// Runs the tasks it owns, one after the other, again and again.
async fn work(worker: usize, lease: Lease, log: TaskLog) -> Result<(), Infallible> {
    while lease.is_live() {
        for task in (0..TASKS).filter(|task| lease.owns_key(task.to_be_bytes())) {
            if lease.is_live() {
                log.run(task, worker, &lease).await;
            }
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    Ok(())
}

struct Worker {
    stop: StopHandle,
    running: JoinHandle<Result<Finished, Infallible>>,
}

fn start(number: usize, registry: &RedisRegistry, config: &Config, log: &TaskLog) -> Worker {
    let peers = n_and_i_tokio::discover(registry.clone(), config.clone()).unwrap();
    let (stop, log) = (peers.stop_handle(), log.clone());
    let running = tokio::spawn(peers.run(move |lease| work(number, lease, log.clone())));
    Worker { stop, running }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn through_a_rolling_restart_each_task_runs_once_at_a_time_standing_down() {
    rolling_restart(Rebalance::StandDown).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn through_a_rolling_restart_each_task_runs_once_at_a_time_serving_on() {
    rolling_restart(Rebalance::KeepServing).await;
}

async fn rolling_restart(rebalance: Rebalance) {
    let server = RedisServer::start();
    let registry = RedisRegistry::from_client(server.client());
    let config = Config::new("restarted", INTERVAL).unwrap().with_rebalance(rebalance);
    let log = TaskLog::default();
    let mut workers: BTreeMap<usize, Worker> =
        (0..WORKERS).map(|number| (number, start(number, &registry, &config, &log))).collect();
    all_finish(&log, BootClock.now()).await;

    for old in 0..WORKERS {
        let worker = workers.remove(&old).unwrap();
        worker.stop.stop();
        let new = old + WORKERS;
        workers.insert(new, start(new, &registry, &config, &log));
        stopped(worker).await;
        let runs = || log.runs().iter().any(|run| run.worker == new).then_some(());
        eventually_async("the new worker runs tasks", runs).await;
    }
    // None is lost for good.
    all_finish(&log, BootClock.now()).await;
    for (_, worker) in workers {
        worker.stop.stop();
        stopped(worker).await;
    }
    check(log.runs());
}

async fn stopped(worker: Worker) {
    let finished = worker.running.await.expect("the work does not panic");
    assert_eq!(finished, Ok(Finished::Stopped));
}

/// Waits until every task has been started after this time and finished.
async fn all_finish(log: &TaskLog, since: Instant) {
    eventually_async("every task finishes", || {
        let runs = log.runs();
        let finished = |task: u64| {
            runs.iter().any(|run| run.task == task && run.finished && run.start >= since)
        };
        (0..TASKS).all(finished).then_some(())
    })
    .await;
}

fn check(mut runs: Vec<Run>) {
    runs.sort_by_key(|run| (run.task, run.start));
    for two in runs.windows(2) {
        let [before, after] = two else { unreachable!("windows of two") };
        if before.task == after.task {
            assert!(before.end <= after.start, "one task twice at a time: {before:?}, {after:?}");
            let rises = before.token < after.token;
            let same = before.token == after.token && before.worker == after.worker;
            assert!(rises || same, "tokens do not rise: {before:?}, {after:?}");
        }
    }
    // A thread may be held up between asking for the time and doing what it had time for.
    let grace = INTERVAL.mul_f64(0.15);
    for run in &runs {
        assert!(run.end <= run.deadline.saturating_add(grace), "ran on after its window: {run:?}");
    }
    let count = |which: fn(&Run) -> bool| runs.iter().filter(|run| which(run)).count();
    assert!(count(|run| run.finished && !run.drained) > WORKERS, "work is done");
    assert!(count(|run| run.finished && run.drained) > 0, "some work is finished in a drain");
    assert!(count(|run| !run.finished) > 0, "some work is dropped");
}
