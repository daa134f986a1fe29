//! The demo as lines, for people and for programs.

use std::io::{self, Write};
use std::time::Duration;

use crate::arguments::Demo;
use crate::demo::audience::{Audience, Scene, Told};
use crate::demo::ledger::{MAPPING, What};
use crate::demo::summary::{self, Summary};
use crate::record::Record;

/// Lines for people.
#[derive(Debug)]
pub(crate) struct Plain;

impl Audience for Plain {
    fn begin(&mut self, demo: &Demo) -> io::Result<()> {
        let third = demo.length.as_secs_f64() / 3.0;
        let workers = match demo.workers {
            1 => "1 worker".to_owned(),
            workers => format!("{workers} workers"),
        };
        let names: Vec<_> = demo.groups.iter().map(|group| format!("{:?}", group.name())).collect();
        let (groups, each) = match &*names {
            [one] => (format!("group {one}"), ""),
            several => (format!("each of the groups {}", several.join(" and ")), " in each"),
        };
        let layout = demo.layout_note();
        print(&format!(
            "{workers} in {groups}{layout}, one registration per worker and {:?}; one more joins{each} \
             after {third:.1} s, one crashes after {:.1} s, end after {:.1} s",
            demo.interval,
            2.0 * third,
            3.0 * third,
        ))
    }

    fn tell(&mut self, news: &Told<'_>) -> io::Result<()> {
        let (elapsed, mode) = (news.event.elapsed.as_secs_f64(), news.rebalance.as_str());
        print(&format!("{elapsed:9.3} s  {mode:<12}  {}{}", news.worker, plain(news.event.what)))
    }

    fn look(&mut self, _: &Scene<'_>) -> io::Result<()> {
        Ok(())
    }

    fn close(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn summarize(&mut self, summaries: &[Summary], _: Duration) -> io::Result<()> {
        summary::lines(summaries).iter().try_for_each(|line| print(line))
    }
}

fn plain(what: What) -> String {
    match what {
        What::Joins => " joins".to_owned(),
        What::Crashes => " crashes".to_owned(),
        What::Owns { owned, .. } => {
            let percent = owned.share.fraction(MAPPING) * 100.0;
            format!(": owns {}, {percent:.1} % of the keys", owned.share)
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

    fn tell(&mut self, news: &Told<'_>) -> io::Result<()> {
        let Told { rebalance, worker, event, .. } = *news;
        let record = Record::at(event.elapsed);
        let record = |name| record.of_demo(name, rebalance, Some(worker));
        let record = match event.what {
            What::Joins => record("join"),
            What::Crashes => record("crash"),
            What::Owns { owned, stage } => record("change").with_change(Ok(owned), stage),
            What::Idles { reason, stage } => record("change").with_change(Err(reason), stage),
        };
        print(&serde_json::to_string(&record)?)
    }

    fn look(&mut self, _: &Scene<'_>) -> io::Result<()> {
        Ok(())
    }

    fn close(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn summarize(&mut self, summaries: &[Summary], elapsed: Duration) -> io::Result<()> {
        summaries.iter().try_for_each(|summary| print(&summary.json(elapsed)?))
    }
}

fn print(line: &str) -> io::Result<()> {
    writeln!(io::stdout(), "{line}")
}
