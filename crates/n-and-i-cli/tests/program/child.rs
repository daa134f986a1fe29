//! The program as a child process that is gone when the test is over.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use n_and_i_test_support::eventually;
use serde_json::Value;

/// The program with these arguments and an environment without anything that concerns it.
pub(crate) fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_n-and-i"));
    command.args(arguments).stdin(Stdio::null());
    for variable in ["REDIS_URL", "RUST_LOG", "NO_COLOR"] {
        command.env_remove(variable);
    }
    command
}

/// A running program whose output is collected line by line.
#[derive(Debug)]
pub(crate) struct Program {
    child: Child,
    stdout: Lines,
    stderr: Lines,
}

#[derive(Debug)]
struct Lines {
    lines: Arc<Mutex<Vec<String>>>,
    reader: Option<JoinHandle<()>>,
}

impl Program {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::run(&mut program(arguments))
    }

    pub(crate) fn run(command: &mut Command) -> Self {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.expect("the program starts");
        let stdout = Lines::of(child.stdout.take().expect("it is piped"));
        let stderr = Lines::of(child.stderr.take().expect("it is piped"));
        Self { child, stdout, stderr }
    }

    /// What it wrote to standard output so far.
    pub(crate) fn stdout(&self) -> Vec<String> {
        self.stdout.get()
    }

    /// What it wrote to standard error so far.
    pub(crate) fn stderr(&self) -> Vec<String> {
        self.stderr.get()
    }

    /// Waits for a line on standard output that contains this.
    pub(crate) fn wait_for(&self, text: &str) -> String {
        eventually(text, || self.stdout().into_iter().find(|line| line.contains(text)))
    }

    /// Waits for a line on standard error that contains this.
    pub(crate) fn wait_for_error(&self, text: &str) -> String {
        eventually(text, || self.stderr().into_iter().find(|line| line.contains(text)))
    }

    pub(crate) fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    #[cfg(unix)]
    pub(crate) fn pid(&self) -> rustix::process::Pid {
        rustix::process::Pid::from_child(&self.child)
    }

    #[cfg(unix)]
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(self.pid(), signal).expect("the program takes signals");
    }

    /// Waits for its end and for all that it wrote.
    pub(crate) fn end(&mut self) -> ExitStatus {
        let status =
            eventually("the program ends", || self.child.try_wait().expect("it can be waited for"));
        self.stdout.finish();
        self.stderr.finish();
        status
    }

    /// Its JSON lines, after a successful end.
    pub(crate) fn json(mut self) -> Vec<Value> {
        let status = self.end();
        assert!(status.success(), "{status}: {:?}", self.stderr());
        self.stdout().iter().map(|line| json(line)).collect()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Fails only if it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Lines {
    fn of(pipe: impl Read + Send + 'static) -> Self {
        let lines = Arc::<Mutex<Vec<String>>>::default();
        let collected = Arc::clone(&lines);
        let reader = std::thread::spawn(move || {
            for line in BufReader::new(pipe).lines().map_while(Result::ok) {
                collected.lock().expect("no reader panicked").push(line);
            }
        });
        Self { lines, reader: Some(reader) }
    }

    fn get(&self) -> Vec<String> {
        self.lines.lock().expect("no reader panicked").clone()
    }

    fn finish(&mut self) {
        if let Some(reader) = self.reader.take() {
            // Something that the program has left running may hold its output open.
            eventually("the program's output ends", || reader.is_finished().then_some(()));
            reader.join().expect("no reader panicked");
        }
    }
}

pub(crate) fn json(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"))
}
