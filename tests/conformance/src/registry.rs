//! Any registry, as a value.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use n_and_i::{Registered, RegistrationError, Registry, Request};

/// What a registration came to.
pub type Outcome = Result<Registered, RegistrationError>;

type Registering<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

/// A registry whose kind is known only when the test runs, so that a fault is written down once.
#[derive(Clone)]
pub struct AnyRegistry(Arc<dyn Erased>);

trait Erased: Send + Sync {
    fn register<'a>(&'a self, request: Request<'a>) -> Registering<'a>;
    fn kind(&self) -> &'static str;
}

impl<R: Registry> Erased for R {
    fn register<'a>(&'a self, request: Request<'a>) -> Registering<'a> {
        Box::pin(Registry::register(self, request))
    }

    fn kind(&self) -> &'static str {
        Registry::kind(self)
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
}

impl fmt::Debug for AnyRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyRegistry").field("kind", &self.0.kind()).finish()
    }
}
