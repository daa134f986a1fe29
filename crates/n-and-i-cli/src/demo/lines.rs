//! The demo as lines, for people and for programs.

use std::io::{self, Write};
use std::time::Duration;

use crate::arguments::Demo;
use crate::demo::audience::{Audience, Scene};
use crate::demo::ledger::{Event, What};
use crate::demo::summary::Summary;
use crate::record::Record;

/// Lines for people.
#[derive(Debug)]
pub(crate) struct Plain;

impl Audience for Plain {
    fn begin(&mut self, demo: &Demo) -> io::Result<()> {
        let (config, third) = (&demo.config, demo.length.as_secs_f64() / 3.0);
        let workers = match demo.workers {
            1 => "1 worker".to_owned(),
            workers => format!("{workers} workers"),
        };
        print(&format!(
            "{workers} in group {:?}, one registration each per {:?}; one more joins after \
             {third:.1} s, one crashes after {:.1} s, end after {:.1} s",
            config.name(),
            config.interval(),
            2.0 * third,
            3.0 * third,
        ))
    }

    fn event(&mut self, event: &Event, worker: &str) -> io::Result<()> {
        let elapsed = event.elapsed.as_secs_f64();
        print(&format!("{elapsed:9.3} s  {worker}{}", plain(event.what)))
    }

    fn look(&mut self, _: &Scene<'_>) -> io::Result<()> {
        Ok(())
    }

    fn close(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn summarize(&mut self, summary: &Summary, _: Duration) -> io::Result<()> {
        summary.lines().iter().try_for_each(|line| print(line))
    }
}

fn plain(what: What) -> String {
    match what {
        What::Joins => " joins".to_owned(),
        What::Crashes => " crashes".to_owned(),
        What::Owns { pair, .. } => {
            format!(": owns {pair} (task % {} == {})", pair.n(), pair.i())
        }
        What::Idles { reason, .. } => format!(": idle ({reason})"),
    }
}

/// JSON lines.
#[derive(Debug)]
pub(crate) struct Json;

impl Audience for Json {
    fn begin(&mut self, _: &Demo) -> io::Result<()> {
        Ok(())
    }

    fn event(&mut self, event: &Event, worker: &str) -> io::Result<()> {
        let record = Record::at(event.elapsed);
        let record = match event.what {
            What::Joins => record.of_demo("join", Some(worker)),
            What::Crashes => record.of_demo("crash", Some(worker)),
            What::Owns { pair, stage } => {
                record.of_demo("change", Some(worker)).with_change(Some(pair), None, stage)
            }
            What::Idles { reason, stage } => {
                record.of_demo("change", Some(worker)).with_change(None, Some(reason), stage)
            }
        };
        print(&serde_json::to_string(&record)?)
    }

    fn look(&mut self, _: &Scene<'_>) -> io::Result<()> {
        Ok(())
    }

    fn close(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn summarize(&mut self, summary: &Summary, elapsed: Duration) -> io::Result<()> {
        print(&summary.json(elapsed)?)
    }
}

fn print(line: &str) -> io::Result<()> {
    writeln!(io::stdout(), "{line}")
}
