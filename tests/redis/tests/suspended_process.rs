//! A process that is suspended past its lease: no thread of it may take the lease for live.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use n_and_i::{BootClock, Clock};
use n_and_i_test_support::RedisServer;
use rustix::process::{Pid, Signal, kill_process};

/// The interval of the program, and the longest that a lease of it can last.
const INTERVAL: Duration = Duration::from_millis(400);
const LONGEST_LEASE: Duration = Duration::from_millis(460);
const LIMIT: Duration = Duration::from_secs(60);

struct Witness {
    child: Child,
    lines: Receiver<Line>,
}

#[derive(Debug)]
enum Line {
    Owned,
    Said { at: u64, live: bool },
}

impl Witness {
    fn start(url: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lease-witness"));
        let mut child = command.args([url, "witness"]).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let line = match line.split_once(' ') {
                    Some(("owned", _)) => Line::Owned,
                    Some((at, said)) => {
                        Line::Said { at: at.parse().unwrap(), live: said == "live" }
                    }
                    None => panic!("{line}"),
                };
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        Self { child, lines }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    fn next(&self) -> Line {
        self.lines.recv_timeout(LIMIT).expect("the witness goes on")
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        // Also ends a suspended process.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_lease_is_dead_from_the_first_moment_on() {
    let server = RedisServer::start();
    let witness = Witness::start(&server.url());
    while !matches!(witness.next(), Line::Said { live: true, .. }) {}

    witness.signal(Signal::STOP);
    let suspended = BootClock.now();
    std::thread::sleep(3 * INTERVAL);
    witness.signal(Signal::CONT);

    // Whatever it says from then on, until it is handed another lease, is that it is dead.
    let over = suspended.saturating_add(LONGEST_LEASE).as_nanos();
    let mut dead = 0;
    loop {
        match witness.next() {
            Line::Owned => break,
            Line::Said { at, live } if at >= over => {
                assert!(!live, "live {} ms after its end", (at - over) / 1_000_000);
                dead += 1;
            }
            Line::Said { .. } => {}
        }
    }
    assert!(dead > 0, "it took new registrations to own again");
    while !matches!(witness.next(), Line::Said { live: true, .. }) {}
}
