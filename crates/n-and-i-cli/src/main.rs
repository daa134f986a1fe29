//! The `n-and-i` program: `demo` shows what the library does, `watch` is one worker of a real
//! group.

mod arguments;
mod connection;
mod demo;
mod logging;
mod record;
mod signals;
mod throttle;
mod watch;

use std::io::{self, Write};
use std::process::ExitCode;

use crate::arguments::Task;
use crate::logging::LogSink;

fn main() -> ExitCode {
    let (task, verbosity) = arguments::parse();
    let log = LogSink::default();
    logging::start(verbosity, &log);
    connection::install_crypto_provider();
    match run(task, &log) {
        Ok(code) => code,
        // Whoever read the output has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            // With standard error gone too there is nobody to tell.
            let _ = writeln!(io::stderr(), "n-and-i: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task, log: &LogSink) -> io::Result<ExitCode> {
    // One thread for the workers. The loop that prints has this one, so that a reader who
    // stops reading delays no registration.
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let result = runtime.block_on(async {
        match task {
            Task::Demo(demo) => demo::run(demo, log).await,
            Task::Watch(watch) => watch::run(watch).await.map(|()| ExitCode::SUCCESS),
        }
    });
    // Workers that still wait for an answer are not waited for.
    runtime.shutdown_background();
    result
}
