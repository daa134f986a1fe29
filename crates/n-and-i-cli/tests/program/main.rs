//! The program as a user runs it: child processes, real servers, a pseudo-terminal.

mod arguments;
mod child;
mod demo;
#[cfg(unix)]
mod exec;
mod layout;
mod log;
mod planned;
mod simulate;
mod tls;
#[cfg(unix)]
mod view;
#[cfg(unix)]
mod watch;
