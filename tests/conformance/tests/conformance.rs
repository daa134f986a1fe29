//! Each row with each subject is a test of its own, named after both.

use std::path::Path;
use std::{env, fs};

use libtest_mimic::{Arguments, Failed, Trial};
use n_and_i::Layout;
use n_and_i_conformance::row::Row;
use n_and_i_conformance::site::Site;
use n_and_i_conformance::subject::{
    Client, OF_A_CLUSTER, OF_ONE_SERVER, OF_SENTINELS, Subject, each_once,
};
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
    trials.extend(of_rows("", rows::of_one_server, &OF_ONE_SERVER));
    trials.extend(of_rows("cluster, ", rows::of_a_cluster, &OF_A_CLUSTER));
    trials.extend(of_rows("sentinels, ", rows::of_sentinels, &OF_SENTINELS));
    trials.extend(of_membership());
    trials.push(Trial::test("docs/conformance.md says what is asserted", page_is_current));
    libtest_mimic::run(&arguments, trials).exit();
}

/// One half of a row.
type Part<S> = fn(&Row<S>, &Subject) -> Result<(), String>;

fn of_rows<S: Site + 'static>(
    of: &str,
    rows: fn() -> Vec<Row<S>>,
    subjects: &[Subject],
) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (index, row) in rows().iter().enumerate() {
        for &subject in subjects {
            let parts: [(_, Part<S>); 2] = [("calls", probe::probe), ("workers", workers::workers)];
            for (part, run) in parts {
                let name = format!("{of}{}, {part}: {}", row.name, subject.name);
                let run = {
                    let name = name.clone();
                    move || tried(&name, || run(&rows()[index], &subject))
                };
                trials.push(Trial::test(name, run));
            }
        }
    }
    trials
}

fn of_membership() -> Vec<Trial> {
    let mut trials = Vec::new();
    for &layout in Layout::ALL {
        let each = move || each_once().map(move |subject| subject.with_layout(layout));
        for row in membership::ALL {
            for subject in each() {
                let run = move || {
                    row.run(&subject);
                    Ok(())
                };
                trials.push(Trial::test(format!("{layout}, {}: {}", row.name, subject.name), run));
            }
        }
        let together = move || {
            let of_servers = each().filter(|subject| subject.client != Client::Memory);
            membership::together(&of_servers.collect::<Vec<_>>());
            Ok(())
        };
        let name = format!("{layout}, all clients and runtimes in one group");
        trials.push(Trial::test(name, together));
    }
    trials
}

fn tried(name: &str, run: impl Fn() -> Result<(), String>) -> Result<(), Failed> {
    let mut failures = Vec::new();
    for _ in 0..TRIES {
        match run() {
            Ok(()) => return Ok(()),
            Err(failure) => {
                eprintln!("{name}: tried again, since {failure}");
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
