//! A group under faults in virtual time, once or for several values of one setting.

mod faulty;
mod picture;
mod report;
mod settings;
mod show;
mod sweep;
mod table;

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

pub(crate) use faulty::{Faulty, rates, unit};
use n_and_i_sim::Scenario;
use report::Report;
pub(crate) use settings::{Course, Settings, SettingsError};
pub(crate) use show::Show;
pub(crate) use sweep::Sweep;
use sweep::Value;

/// What to simulate, checked.
#[derive(Debug)]
pub(crate) struct Simulation {
    settings: Settings,
    runs: Vec<Run>,
    trace: Option<PathBuf>,
    drawing: Option<Drawing>,
    json: bool,
}

/// What is written besides the summary.
#[derive(Debug, Default)]
pub(crate) struct Files {
    /// Where what happens is written, line by line.
    pub(crate) trace: Option<PathBuf>,
    /// Where a picture is drawn.
    pub(crate) svg: Option<PathBuf>,
    /// What of the run is drawn, if it was said.
    pub(crate) show: Option<Show>,
}

/// What is drawn, and where.
#[derive(Debug)]
struct Drawing {
    path: PathBuf,
    show: Show,
}

#[derive(Debug)]
struct Run {
    /// The value that distinguishes it from the other runs of a sweep.
    value: Option<Value>,
    settings: Settings,
    scenario: Scenario,
}

impl Run {
    fn new(settings: Settings, value: Option<Value>) -> Result<Self, SettingsError> {
        Ok(Self { value, scenario: settings.scenario()?, settings })
    }

    fn run(&self, trace: bool) -> Report<'_> {
        let start = Instant::now();
        let seed = self.settings.seed;
        let outcome = if trace { self.scenario.trace(seed) } else { self.scenario.run(seed) };
        Report { settings: &self.settings, outcome, took: start.elapsed() }
    }
}

impl Simulation {
    /// # Errors
    /// If one of the runs cannot be simulated.
    pub(crate) fn new(
        settings: Settings,
        sweep: Option<Sweep>,
        files: Files,
        json: bool,
    ) -> Result<Self, SettingsError> {
        let mut runs = match sweep {
            Some(sweep) => sweep
                .into_values()
                .map(|value| Run::new(value.applied_to(&settings), Some(value)))
                .collect::<Result<_, _>>()?,
            None => vec![Run::new(settings.clone(), None)?],
        };
        let drawing = match files.svg {
            Some(path) => Some(Drawing { path, show: settings.shown(files.show)? }),
            None => None,
        };
        if let Some(Drawing { show, .. }) = &drawing {
            for run in &mut runs {
                run.scenario = run.scenario.clone().with_timeline(show.intervals());
            }
        }
        Ok(Self { settings, runs, trace: files.trace, drawing, json })
    }
}

/// Runs the simulation. The exit code tells whether the promise was kept in all runs.
pub(crate) fn run(simulation: &Simulation) -> io::Result<ExitCode> {
    let Simulation { settings, runs, trace, drawing, json } = simulation;
    // Opened first: a file that cannot be written should not cost a long run.
    let open = |path| create(path).map(|file| (path, file));
    let mut file = trace.as_deref().map(open).transpose()?;
    let mut picture = drawing.as_ref().map(|drawing| open(&drawing.path)).transpose()?;
    if let (Some(value), false) = (runs[0].value, json) {
        for line in table::title(settings, value) {
            writeln!(io::stdout(), "{line}")?;
        }
    }
    let mut alarms = Vec::new();
    for run in runs {
        let report = run.run(file.is_some());
        if let Some((path, file)) = &mut file {
            file.write_all(report.outcome.trace.as_bytes()).map_err(|error| name(path, &error))?;
        }
        if let (Some((path, file)), Some(drawing), Some(timeline)) =
            (&mut picture, drawing, &report.outcome.timeline)
        {
            let svg = picture::draw(&report, timeline, &drawing.show)?;
            file.write_all(svg.as_bytes()).map_err(|error| name(path, &error))?;
        }
        let text = match run.value {
            value if *json => report.json(value)?,
            Some(value) => table::row(value, &report),
            None => report.lines().join("\n"),
        };
        writeln!(io::stdout(), "{text}")?;
        alarms.extend(report.alarm(trace.as_deref()));
    }
    // Last, so as not to break up a table.
    for alarm in &alarms {
        writeln!(io::stderr(), "{alarm}")?;
    }
    Ok(if alarms.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn create(path: &Path) -> io::Result<File> {
    File::create(path).map_err(|error| name(path, &error))
}

fn name(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{} cannot be written: {error}", path.display()))
}
