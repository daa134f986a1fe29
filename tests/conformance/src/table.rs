//! `docs/conformance.md`, made from what the tests assert.

use std::fmt::{self, Write};

use crate::membership;
use crate::row::{Back, Class, Expected, Leases, Row};
use crate::rows;
use crate::subject::{OF_A_CLUSTER, OF_ONE_SERVER, OF_SENTINELS, Subject, each_once};

const HEAD: &str = "\
# Conformance

What becomes of registrations and of workers when a server fails, for every client on every runtime. Each cell of
each table is a test that passes on Redis 6.2, 7.0 and 8.2:

```sh
tests/run --servers all                   # with all three
cargo test -p n-and-i-conformance         # with the redis-server that is installed
```

This page is made from the expectations in `tests/conformance/src/rows`. After changing them:

```sh
UPDATE_DOCS=1 cargo test -p n-and-i-conformance -- docs/conformance.md
```
";

const LEGEND: &str = "\
A cell has four parts:

1. What becomes of a call made during the fault. *Succeeds*. *Not executed*, *unknown* and *configuration*: the
   error says that it was not counted, that it may have been, or that it was not and that somebody must change
   something. *Given up*: no answer within the interval, at the end of which the worker drops the call.
2. How many registrations that comes to, by the server's own counter, after the repair and after the client
   was used again. With three calls, which are made at once, the number is for all of them.
3. Whether the workers' leases are *kept* without a change, *may end*, or *end* as they must when there is no server.
4. Within how many intervals after the repair the whole group owns everything again, by the server's clock.

Whatever happens no two workers own the same at the same time, and no interval after that of the repair counts more
registrations than there are workers; both are checked in every test. Groups are of two workers, and kept as
counters unless the column says *slots*.
";

const CLUSTER: &str = "\
Three primaries, in one row with a replica each. Counted from when the nodes agree on who serves the group.
";

const SENTINELS: &str = "\
A primary that refuses to write without a replica, two replicas, three sentinels. Counted from when the
sentinels agree and the new primary has a replica.
";

/// The page.
///
/// # Panics
/// Never: writing to a string does not fail.
pub fn page() -> String {
    let mut page = HEAD.to_owned();
    write(&mut page).expect("a string takes everything");
    page
}

fn write(page: &mut String) -> fmt::Result {
    writeln!(page, "\n## Faults of one server\n\n{LEGEND}")?;
    let mut deviations = Vec::new();
    one_list(page, &rows::of_one_server(), &OF_ONE_SERVER, &mut deviations)?;
    writeln!(page, "\n## Faults of a cluster\n\n{CLUSTER}")?;
    one_list(page, &rows::of_a_cluster(), &OF_A_CLUSTER, &mut deviations)?;
    writeln!(page, "\n## Faults of a primary that sentinels watch\n\n{SENTINELS}")?;
    one_list(page, &rows::of_sentinels(), &OF_SENTINELS, &mut deviations)?;
    writeln!(page, "\n## Workers that come and go\n")?;
    membership_table(page)?;
    writeln!(page, "\n## Deviations\n")?;
    for (number, reason) in deviations.iter().enumerate() {
        writeln!(page, "{}. {reason}", number + 1)?;
    }
    Ok(())
}

fn one_list<S>(
    page: &mut String,
    rows: &[Row<S>],
    subjects: &[Subject],
    deviations: &mut Vec<&'static str>,
) -> fmt::Result {
    writeln!(page, "| fault | what is done | interval |\n|---|---|---|")?;
    for row in rows {
        writeln!(page, "| {} | {} | {:?} |", row.name, row.fault, row.interval)?;
    }
    write!(page, "\n| fault |")?;
    for subject in subjects {
        write!(page, " {} |", subject.name)?;
    }
    writeln!(page, "\n|{}", "---|".repeat(subjects.len() + 1))?;
    for row in rows {
        write!(page, "| {} |", row.name)?;
        for subject in subjects {
            let (expected, reason) = row.expected_of(subject);
            write!(page, " {expected}")?;
            if let Some(reason) = reason {
                let known = deviations.iter().position(|known| *known == reason);
                let number = known.unwrap_or_else(|| {
                    deviations.push(reason);
                    deviations.len() - 1
                });
                write!(page, " [({})](#deviations)", number + 1)?;
            }
            write!(page, " |")?;
        }
        writeln!(page)?;
    }
    Ok(())
}

fn membership_table(page: &mut String) -> fmt::Result {
    writeln!(
        page,
        "After each the group settles again: every share has one owner, and never had two.\n"
    )?;
    writeln!(page, "| | what happens to three workers |\n|---|---|")?;
    for row in membership::ALL {
        writeln!(page, "| {} | {} |", row.name, row.what)?;
    }
    writeln!(page, "\nAsserted in both [layouts](layouts.md) for:\n")?;
    for subject in each_once() {
        writeln!(page, "- {}", subject.name)?;
    }
    writeln!(
        page,
        "\nWorkers of all clients and runtimes that need a server also form one group in each layout, \
         which settles\nand stays exclusive through a join, a crash and a restart of the server."
    )
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (class, executions)) in self.outcomes.iter().enumerate() {
            let or = if position > 0 { " or " } else { "" };
            write!(f, "{or}{class}, {executions}")?;
        }
        write!(f, "; {}; {}", self.leases, self.back)
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Succeeds => "succeeds",
            Self::NotExecuted => "not executed",
            Self::Unknown => "unknown",
            Self::Configuration => "configuration",
            Self::GivenUp => "given up",
        })
    }
}

impl fmt::Display for Leases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kept => "kept",
            Self::MayEnd => "may end",
            Self::End => "end",
        })
    }
}

impl fmt::Display for Back {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Within(intervals) => write!(f, "within {intervals}"),
            Self::Never => f.write_str("**never**"),
        }
    }
}
