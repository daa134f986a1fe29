//! A member's line to the simulated server.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use n_and_i::{Config, Layout, Registered, RegistrationError, Registry, Request, WorkerId};
use n_and_i_core::{AttemptId, Failure, Output, Reply, ServerTime};

type Answer = Result<Reply, Failure>;

/// Hands requests to the world and waits for what comes back.
#[derive(Clone, Default)]
pub(super) struct SimulatedRegistry(Arc<Mutex<Line>>);

#[derive(Default)]
struct Line {
    sent: u64,
    /// The request that the world has not taken yet.
    outgoing: Option<(u64, Option<ServerTime>)>,
    waiting: BTreeMap<u64, (Option<Answer>, Waker)>,
    /// Whether the worker gives its index back, as the world does not know yet.
    leaves: bool,
}

impl SimulatedRegistry {
    pub(super) fn next_request(&self) -> Option<Output> {
        let (number, not_after) = self.line().outgoing.take()?;
        Some(Output::Register { attempt: AttemptId::new(number), not_after })
    }

    /// Whether the worker gives its index back; true once.
    pub(super) fn takes_leave(&self) -> bool {
        std::mem::take(&mut self.line().leaves)
    }

    /// An answer has come. Nobody may wait for it any more.
    pub(super) fn answer(&self, attempt: AttemptId, answer: Answer) {
        let mut line = self.line();
        if let Some((slot, waker)) = line.waiting.get_mut(&attempt.get()) {
            // A request that was executed twice is answered twice: the first counts.
            slot.get_or_insert(answer);
            let waker = waker.clone();
            drop(line);
            waker.wake();
        }
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One registration; dropped, it is not waited for any more.
struct Attempt {
    registry: SimulatedRegistry,
    number: u64,
}

impl Attempt {
    fn poll(&self, cx: &mut Context<'_>) -> Poll<Answer> {
        let mut line = self.registry.line();
        let waiting = line.waiting.entry(self.number).or_insert_with(|| (None, cx.waker().clone()));
        match waiting {
            (Some(answer), _) => Poll::Ready(*answer),
            (None, waker) => {
                waker.clone_from(cx.waker());
                Poll::Pending
            }
        }
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        self.registry.line().waiting.remove(&self.number);
    }
}

impl Registry for SimulatedRegistry {
    async fn register(&self, request: Request<'_>) -> Result<Registered, RegistrationError> {
        let number = {
            let mut line = self.line();
            line.sent += 1;
            line.outgoing = Some((line.sent, request.not_after()));
            line.sent
        };
        let attempt = Attempt { registry: self.clone(), number };
        let answer = poll_fn(|cx| attempt.poll(cx)).await;
        answer.map(Registered::from).map_err(|failure| match failure {
            Failure::NotExecuted => RegistrationError::NotExecuted("simulated".into()),
            Failure::TooLate { at } => RegistrationError::TooLate { at },
            Failure::IntervalMismatch { group } => RegistrationError::IntervalMismatch {
                name: request.config().name().to_owned(),
                own: request.config().interval(),
                group,
            },
            _ => RegistrationError::Unknown("simulated".into()),
        })
    }

    fn kind(&self) -> &'static str {
        "simulation"
    }

    fn supports(&self, _: Layout) -> bool {
        true
    }

    async fn release(&self, _: &Config, _: WorkerId) {
        self.line().leaves = true;
    }
}
