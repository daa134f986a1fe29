//! The runtimes, as values.

use std::fmt;
use std::pin::Pin;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use n_and_i::{Config, Peers};
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

use crate::registry::AnyRegistry;

/// So long that only a real failure reaches it.
const LIMIT: Duration = Duration::from_secs(60);

/// Which runtime.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Runtime {
    /// Tokio, with threads of the test's own.
    Tokio,
    /// Tokio, with a single thread for everything.
    TokioCurrentThread,
    /// smol's global executor.
    Smol,
    /// async-std's executor.
    AsyncStd,
}

impl Runtime {
    /// Completes after this time. To be polled on this runtime.
    pub fn sleep(self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        match self {
            Self::Tokio | Self::TokioCurrentThread => {
                Box::pin(async move { tokio::time::sleep(duration).await })
            }
            Self::Smol => Box::pin(async move {
                smol::Timer::after(duration).await;
            }),
            Self::AsyncStd => Box::pin(async_std::task::sleep(duration)),
        }
    }
}

/// A runtime at work on threads other than the test's.
pub struct Executor {
    runtime: Runtime,
    /// What is on Tokio ends with this; the others are global.
    tokio: Option<(Handle, Token)>,
}

impl Executor {
    /// Starts it.
    ///
    /// # Panics
    /// If no thread can be started.
    pub fn start(runtime: Runtime) -> Self {
        let builder = match runtime {
            Runtime::Tokio => Some(Builder::new_multi_thread()),
            Runtime::TokioCurrentThread => Some(Builder::new_current_thread()),
            Runtime::Smol | Runtime::AsyncStd => None,
        };
        let tokio = builder.map(|mut builder| {
            let tokio = builder.worker_threads(2).enable_all().build().expect("a Tokio runtime");
            let handle = tokio.handle().clone();
            let (token, dropped) = oneshot::channel();
            thread::spawn(move || {
                // An error is what dropping the token gives.
                drop(tokio.block_on(dropped));
                tokio.shutdown_background();
            });
            (handle, Token { _token: token })
        });
        Self { runtime, tokio }
    }

    /// Which it is.
    pub fn runtime(&self) -> Runtime {
        self.runtime
    }

    /// Runs the future to its end, or for as long as the returned token is kept.
    #[must_use]
    pub fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) -> Token {
        let (token, dropped) = oneshot::channel();
        let until_dropped = async { drop(dropped.await) };
        self.detach(futures_lite::future::or(until_dropped, future));
        Token { _token: token }
    }

    fn detach(&self, future: impl Future<Output = ()> + Send + 'static) {
        match (self.runtime, &self.tokio) {
            (_, Some((tokio, _))) => drop(tokio.spawn(future)),
            (Runtime::Smol, _) => smol::spawn(future).detach(),
            (_, None) => drop(async_std::task::spawn(future)),
        }
    }

    /// Runs the future and waits for what it gives.
    ///
    /// # Panics
    /// If that takes longer than a minute, or if the future panics.
    pub fn run<T: Send + 'static>(&self, future: impl Future<Output = T> + Send + 'static) -> T {
        self.begin(future).wait()
    }

    /// Begins to run the future.
    pub fn begin<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Begun<T> {
        let (sender, receiver) = mpsc::channel();
        // Nobody listens any more after the limit.
        self.detach(async move { drop(sender.send(future.await)) });
        Begun(receiver)
    }

    /// A worker joins, as the runtime's adapter has it.
    ///
    /// # Panics
    /// If the adapter refuses.
    pub fn discover(&self, registry: AnyRegistry, config: Config) -> Peers {
        match (self.runtime, &self.tokio) {
            (_, Some((tokio, _))) => {
                let _entered = tokio.enter();
                n_and_i_tokio::discover(registry, config).expect("a Tokio runtime")
            }
            (Runtime::Smol, _) => n_and_i_smol::discover(registry, config),
            (_, None) => n_and_i_async_std::discover(registry, config),
        }
    }
}

/// What will be the result of a future.
#[derive(Debug)]
pub struct Begun<T>(mpsc::Receiver<T>);

impl<T> Begun<T> {
    /// Waits for it.
    ///
    /// # Panics
    /// If that takes longer than a minute, or if the future panicked.
    pub fn wait(self) -> T {
        self.0.recv_timeout(LIMIT).expect("the future completes")
    }
}

/// What was spawned is dropped with this.
#[derive(Debug)]
pub struct Token {
    _token: oneshot::Sender<()>,
}

impl fmt::Debug for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executor").field("runtime", &self.runtime).finish_non_exhaustive()
    }
}
