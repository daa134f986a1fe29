//! Pictures on a terminal.

pub(crate) mod paint;
pub(crate) mod screen;
pub(crate) mod text;
