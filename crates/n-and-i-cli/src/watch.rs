//! One worker of a real group: a line per change, or a picture on a terminal.

mod lines;
mod live;

use std::io;
use std::time::{Duration, Instant};

use n_and_i::Change;
use tokio::time::interval;

use crate::arguments::Watch;
use crate::logging::LogSink;
use crate::signals::Signals;
use crate::terminal::screen;
use crate::watch::lines::Lines;
use crate::watch::live::Live;

/// How often a picture is drawn.
const FRAME: Duration = Duration::from_millis(100);

/// Whoever is told.
trait Audience {
    fn tell(&mut self, elapsed: Duration, change: Change) -> io::Result<()>;

    /// Time has passed.
    fn look(&mut self, elapsed: Duration) -> io::Result<()>;

    fn close(&mut self) -> io::Result<()>;
}

/// Tells every change until a signal comes.
pub(crate) async fn run(watch: Watch, log: &LogSink) -> io::Result<()> {
    let mut signals = Signals::listen()?;
    let start = Instant::now();
    let mut audience: Box<dyn Audience> = if !watch.json && screen::is_usable() {
        Box::new(Live::open(log, &watch.config)?)
    } else {
        Box::new(Lines { json: watch.json })
    };
    let peers = n_and_i_tokio::discover(watch.redis, watch.config).map_err(io::Error::other)?;
    let mut peers = peers.with_graceful_shutdown(async move { signals.wait().await });
    let mut frames = interval(FRAME);
    loop {
        tokio::select! {
            change = peers.next() => match change {
                Some(change) => audience.tell(start.elapsed(), change)?,
                None => break,
            },
            _ = frames.tick() => {}
        }
        audience.look(start.elapsed())?;
    }
    audience.close()
}
