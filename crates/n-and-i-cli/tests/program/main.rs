//! The program as a user runs it: child processes, real servers, a pseudo-terminal.

mod arguments;
mod child;
mod demo;
#[cfg(unix)]
mod exec;
#[cfg(unix)]
mod inspect;
mod layout;
mod log;
mod pages;
mod picture;
mod planned;
mod simulate;
#[cfg(unix)]
mod terminal;
mod tls;
#[cfg(unix)]
mod view;
#[cfg(unix)]
mod watch;
