//! Every client on every runtime, held to the same faults on real Redis servers.
//!
//! A [`Subject`](subject::Subject) is a client on a runtime, a [`Row`](row::Row) a fault with what is expected of
//! whoever meets it. Each row is run by each subject, once with [single calls](probe) and once with a
//! [group of workers](workers). `docs/conformance.md` is made from the same expectations.

pub mod endpoint;
pub mod executor;
pub mod membership;
pub mod one_server;
pub mod probe;
pub mod registry;
pub mod row;
pub mod rows;
pub mod several;
pub mod site;
pub mod subject;
pub mod table;
pub mod tls;
pub mod workers;
