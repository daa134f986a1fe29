//! The `n-and-i` program: `demo` shows what the library does, `simulate` puts a group under
//! faults in virtual time, `watch` is one worker of a real group, `exec` makes any program one,
//! `inspect` looks at a group and its server.

mod arguments;
mod connection;
mod demo;
#[cfg(unix)]
mod exec;
mod inspect;
mod logging;
mod pages;
mod record;
mod signals;
mod simulate;
mod terminal;
mod throttle;
mod watch;

use std::io::{self, Write};
use std::process::ExitCode;

use crate::arguments::Task;
use crate::logging::LogSink;

fn main() -> ExitCode {
    #[cfg(unix)]
    if let Some(code) = exec::role() {
        return code;
    }
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
    let done = |result: io::Result<()>| result.map(|()| ExitCode::SUCCESS);
    match task {
        Task::Completions(shell) => done(pages::complete(arguments::definition(), shell)),
        Task::Demo(demo) => on_runtime(demo::run(demo, log)),
        #[cfg(unix)]
        Task::Exec(exec) => on_runtime(exec::run(*exec)),
        Task::Inspect(inspection) => on_runtime(inspect::run(*inspection)),
        Task::Man(directory) => done(pages::manual(arguments::definition(), directory.as_deref())),
        Task::Simulate(simulation) => simulate::run(&simulation),
        Task::Watch(watch) => on_runtime(async { done(watch::run(watch, log).await) }),
    }
}

fn on_runtime(work: impl Future<Output = io::Result<ExitCode>>) -> io::Result<ExitCode> {
    // One thread for the workers. The loop that prints has this one, so that a reader who
    // stops reading delays no registration.
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let result = runtime.block_on(work);
    // Workers that still wait for an answer are not waited for.
    runtime.shutdown_background();
    result
}
