//! Tests only: see `tests/`. The programs in `src/bin` are what some of them run.
