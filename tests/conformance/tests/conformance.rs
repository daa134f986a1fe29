//! Each row with each subject is a test of its own, named after both.

use std::path::Path;
use std::{env, fs};

use libtest_mimic::{Arguments, Failed, Trial};
use n_and_i_conformance::row::Row;
use n_and_i_conformance::subject::{OF_ONE_SERVER, Subject, WITHOUT_SERVER};
use n_and_i_conformance::{membership, probe, rows, table, workers};

/// How many tests run at once, unless the caller says so: they wait most of the time.
const THREADS: usize = 16;
/// How often a test is tried. A machine that stands still for a while makes a worker late.
const TRIES: usize = 3;

fn main() {
    rustls::crypto::ring::default_provider().install_default().expect("the only provider");
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(THREADS);
    let mut trials = Vec::new();
    trials.extend(of_rows(rows::of_one_server, &OF_ONE_SERVER));
    trials.extend(of_membership());
    trials.push(Trial::test("docs/conformance.md says what is asserted", page_is_current));
    libtest_mimic::run(&arguments, trials).exit();
}

fn of_rows(rows: fn() -> Vec<Row>, subjects: &[Subject]) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (index, row) in rows().iter().enumerate() {
        for &subject in subjects {
            let name = |part| format!("{}, {part}: {}", row.name, subject.name);
            let run = move |part: fn(&Row, &Subject) -> Result<(), String>| {
                move || tried(|| part(&rows()[index], &subject))
            };
            trials.push(Trial::test(name("calls"), run(probe::probe)));
            trials.push(Trial::test(name("workers"), run(workers::workers)));
        }
    }
    trials
}

fn of_membership() -> Vec<Trial> {
    let mut trials = Vec::new();
    for row in membership::ALL {
        for subject in OF_ONE_SERVER.into_iter().chain(WITHOUT_SERVER) {
            let run = move || {
                row.run(&subject);
                Ok(())
            };
            trials.push(Trial::test(format!("{}: {}", row.name, subject.name), run));
        }
    }
    let together = || {
        membership::together(&OF_ONE_SERVER);
        Ok(())
    };
    trials.push(Trial::test("all clients and runtimes in one group", together));
    trials
}

fn tried(run: impl Fn() -> Result<(), String>) -> Result<(), Failed> {
    let mut failures = Vec::new();
    for _ in 0..TRIES {
        match run() {
            Ok(()) => return Ok(()),
            Err(failure) => {
                eprintln!("tried again: {failure}");
                failures.push(failure);
            }
        }
    }
    Err(failures.join("\n").into())
}

fn page_is_current() -> Result<(), Failed> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/conformance.md");
    let page = table::page();
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, page)?;
        return Ok(());
    }
    if fs::read_to_string(&path).unwrap_or_default() == page {
        return Ok(());
    }
    Err("docs/conformance.md differs from what is asserted. To write it anew: \
         UPDATE_DOCS=1 cargo test -p n-and-i-conformance -- docs/conformance.md"
        .into())
}
