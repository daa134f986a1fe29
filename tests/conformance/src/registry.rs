//! Any registry, as a value.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use n_and_i::{Config, Layout, Registered, RegistrationError, Registry, Request, WorkerId};

/// What a registration came to.
pub type Outcome = Result<Registered, RegistrationError>;

type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A registry whose kind is known only when the test runs, so that a fault is written down once.
#[derive(Clone)]
pub struct AnyRegistry(Arc<dyn Erased>);

trait Erased: Send + Sync {
    fn register<'a>(&'a self, request: Request<'a>) -> Boxed<'a, Outcome>;
    fn kind(&self) -> &'static str;
    fn supports(&self, layout: Layout) -> bool;
    fn release<'a>(&'a self, config: &'a Config, worker: WorkerId) -> Boxed<'a, ()>;
}

impl<R: Registry> Erased for R {
    fn register<'a>(&'a self, request: Request<'a>) -> Boxed<'a, Outcome> {
        Box::pin(Registry::register(self, request))
    }

    fn kind(&self) -> &'static str {
        Registry::kind(self)
    }

    fn supports(&self, layout: Layout) -> bool {
        Registry::supports(self, layout)
    }

    fn release<'a>(&'a self, config: &'a Config, worker: WorkerId) -> Boxed<'a, ()> {
        Box::pin(Registry::release(self, config, worker))
    }
}

impl AnyRegistry {
    /// This one.
    pub fn new<R: Registry>(registry: R) -> Self {
        Self(Arc::new(registry))
    }
}

impl Registry for AnyRegistry {
    async fn register(&self, request: Request<'_>) -> Outcome {
        self.0.register(request).await
    }

    fn kind(&self) -> &'static str {
        self.0.kind()
    }

    fn supports(&self, layout: Layout) -> bool {
        self.0.supports(layout)
    }

    async fn release(&self, config: &Config, worker: WorkerId) {
        self.0.release(config, worker).await;
    }
}

impl fmt::Debug for AnyRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyRegistry").field("kind", &self.0.kind()).finish()
    }
}
