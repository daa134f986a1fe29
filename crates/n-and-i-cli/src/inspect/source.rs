//! Asking Redis. Nothing that is sent here writes.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use n_and_i::{Config, Layout, counters, scripts, slots};
use redis::aio::MultiplexedConnection;
use redis::{Arg, AsyncConnectionConfig, Client, Cmd, ErrorKind, FromRedisValue, RedisError};
use redis::{RedisResult, ServerErrorKind, cmd};
use serde::Serialize;

use crate::inspect::counts::{Closed, Open};
use crate::inspect::guard::{Guard, Line};
use crate::inspect::server::Server;

/// How long Redis has to accept a connection and to answer.
const PATIENCE: Duration = Duration::from_secs(5);
const ALLOWED: &str = include_str!("allowed.lua");

/// A group in a Redis.
#[derive(Debug)]
pub(super) struct Source {
    client: Client,
    config: Config,
    connection: Option<MultiplexedConnection>,
}

/// What is known at one moment.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) guard: Guard,
    /// None without a group.
    pub(super) open: Option<Open>,
    /// What is known of the intervals before, in no order.
    pub(super) closed: Vec<Closed>,
    pub(super) keys: Vec<Key>,
    pub(super) server: Option<Server>,
    /// Which commands workers are refused; none if that could not be found out.
    pub(super) refused: Option<Vec<String>>,
    pub(super) unchecked: Vec<String>,
    /// What a worker needs, as `ACL SETUSER` takes it.
    pub(super) permissions: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(super) struct Key {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    /// In ms. None if it is not known, or if there is no end to it.
    pub(super) ttl_ms: Option<u64>,
    /// Whether it stays for ever.
    #[serde(skip)]
    pub(super) stays: bool,
    /// Of a hash.
    pub(super) fields: Option<u64>,
}

/// Why Redis could not be asked.
#[derive(Debug)]
pub(super) struct Unanswered {
    error: RedisError,
    address: String,
    permissions: String,
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { error, address, permissions } = self;
        if let Some((node, _)) = error.redirect_node() {
            return write!(
                f,
                "this node of a cluster does not keep the group, {node} does: use --redis redis://{node}"
            );
        }
        write!(f, "Redis at {address} cannot be asked: {error}")?;
        if error.kind() == ErrorKind::Server(ServerErrorKind::NoPerm) {
            write!(f, "; what a worker needs is enough: ACL SETUSER with {permissions}")?;
        }
        Ok(())
    }
}

impl Source {
    pub(super) fn new(client: Client, config: Config) -> Self {
        Self { client, config, connection: None }
    }

    /// Looks at everything. With a layout if the group has to have it.
    pub(super) async fn read(&mut self, layout: Option<Layout>) -> Result<Reading, Unanswered> {
        let reading = self.try_to_read(layout).await;
        if reading.is_err() {
            // The next time anew.
            self.connection = None;
        }
        reading.map_err(|error| Unanswered {
            error,
            address: self.client.get_connection_info().addr().to_string(),
            permissions: permissions(&self.config, layout.unwrap_or_default()),
        })
    }

    async fn try_to_read(&mut self, layout: Option<Layout>) -> RedisResult<Reading> {
        let mut unchecked = Vec::new();
        let key = scripts::guard_key(&self.config);
        // Before all else, so that what is counted as closed has closed.
        let (seconds, micros): (u64, u64) = self.ask(&cmd("TIME")).await?;
        let now = seconds * 1_000_000 + micros;
        let guard = self.guard(&key).await?;
        let (mut open, mut closed, mut counters) = (None, Vec::new(), Vec::new());
        if let Guard::Group(layout, line) = guard {
            let length = line.length.saturating_mul(1000);
            let interval = now / length;
            if layout == Layout::Counters {
                counters = self.counters(interval).await?;
            }
            closed = closed_before(interval, &line, layout, &counters);
            open = Some(Open {
                interval,
                count: match layout {
                    Layout::Counters => count_of(interval, &counters).unwrap_or(0),
                    _ if line.interval == interval => line.count,
                    _ => 0,
                },
                #[expect(clippy::cast_precision_loss, reason = "it is for people")]
                passed: (now % length) as f64 / length as f64,
                rests: (line.interval == interval).then_some(line.rests),
            });
        }
        let keys = self.keys(&key, guard, &counters, &mut unchecked).await?;
        let needs = match (layout, guard) {
            (Some(layout), _) | (None, Guard::Group(layout, _)) => layout,
            (None, _) => Layout::default(),
        };
        let server = self.server(&mut unchecked).await?;
        let refused = self.refused(&key, needs, &mut unchecked).await?;
        let permissions = permissions(&self.config, needs);
        Ok(Reading { guard, open, closed, keys, server, refused, unchecked, permissions })
    }

    async fn guard(&mut self, key: &str) -> RedisResult<Guard> {
        let text: RedisResult<Option<String>> = self.ask(cmd("GET").arg(key)).await;
        match text {
            Ok(text) => Ok(Guard::read(Layout::Counters, text.as_deref())),
            // A hash, perhaps. Who may use slots only may not ask for anything else.
            Err(error) if error.code() == Some("WRONGTYPE") || is_refusal(&error) => {
                let text: RedisResult<Option<String>> =
                    self.ask(cmd("HGET").arg(key).arg("group")).await;
                match text {
                    // A hash of others.
                    Ok(None) if error.code() == Some("WRONGTYPE") => Ok(Guard::Foreign),
                    Ok(text) => Ok(Guard::read(Layout::Slots, text.as_deref())),
                    Err(error) if error.code() == Some("WRONGTYPE") => Ok(Guard::Foreign),
                    Err(error) => Err(error),
                }
            }
            Err(error) if error.kind() == ErrorKind::UnexpectedReturnType => Ok(Guard::Foreign),
            Err(error) => Err(error),
        }
    }

    /// The counters that are there, of the open interval and those before that are kept as long.
    async fn counters(&mut self, open: u64) -> RedisResult<Vec<(u64, u64)>> {
        let mut found = Vec::new();
        for interval in open.saturating_sub(3)..=open {
            let key = counters::counter_key(&self.config, interval);
            if let Some(count) = self.ask(cmd("GET").arg(key)).await? {
                found.push((interval, count));
            }
        }
        Ok(found)
    }

    async fn keys(
        &mut self,
        guard_key: &str,
        guard: Guard,
        counters: &[(u64, u64)],
        unchecked: &mut Vec<String>,
    ) -> RedisResult<Vec<Key>> {
        let (kind, is_hash) = match guard {
            Guard::Absent => return Ok(Vec::new()),
            Guard::Group(Layout::Counters, _) => ("string", false),
            Guard::Group(..) => ("hash", true),
            Guard::Foreign => ("unknown", false),
        };
        let counters = counters
            .iter()
            .map(|(interval, _)| (counters::counter_key(&self.config, *interval), "string", false));
        let names: Vec<_> =
            std::iter::once((guard_key.to_owned(), kind, is_hash)).chain(counters).collect();
        let mut keys = Vec::new();
        for (name, kind, is_hash) in names {
            let ttl: Option<i64> = self.allowed(cmd("PTTL").arg(&name), unchecked).await?;
            // It has expired meanwhile.
            if ttl == Some(-2) {
                continue;
            }
            let fields =
                if is_hash { self.allowed(cmd("HLEN").arg(&name), unchecked).await? } else { None };
            let ttl_ms = ttl.and_then(|ttl| u64::try_from(ttl).ok());
            keys.push(Key { name, kind, ttl_ms, stays: ttl == Some(-1), fields });
        }
        Ok(keys)
    }

    async fn server(&mut self, unchecked: &mut Vec<String>) -> RedisResult<Option<Server>> {
        let info: Option<String> = self.allowed(&cmd("INFO"), unchecked).await?;
        let mut server = info.map(|info| Server::read(&info));
        if let Some(server) = server.as_mut().filter(|server| server.good_replicas.is_some()) {
            let mut setting = cmd("CONFIG");
            setting.arg("GET").arg("min-replicas-to-write");
            let setting: Option<HashMap<String, u64>> = self.allowed(&setting, unchecked).await?;
            server.wanted_replicas = setting.and_then(|setting| setting.into_values().next());
        }
        Ok(server)
    }

    /// Which commands that workers need this user is refused.
    async fn refused(
        &mut self,
        key: &str,
        layout: Layout,
        unchecked: &mut Vec<String>,
    ) -> RedisResult<Option<Vec<String>>> {
        let sha1 = match layout {
            Layout::Slots => slots::REGISTER.sha1,
            _ => counters::REGISTER.sha1,
        };
        let mut check = cmd("EVAL");
        check.arg(ALLOWED).arg(1).arg(key).arg(layout.as_str());
        check.arg(counters::counter_key(&self.config, 0)).arg(sha1);
        match self.ask::<Option<Vec<String>>>(&check).await {
            Ok(Some(mut refused)) => {
                refused.dedup();
                Ok(Some(refused))
            }
            Ok(None) => {
                unchecked.push(
                    "commands: before 7.0 Redis does not tell which a user may use".to_owned(),
                );
                Ok(None)
            }
            Err(error) if is_refusal(&error) => Ok(Some(vec!["EVAL".to_owned()])),
            Err(error) => Err(error),
        }
    }

    /// Asks what need not be answered.
    async fn allowed<T: FromRedisValue>(
        &mut self,
        command: &Cmd,
        unchecked: &mut Vec<String>,
    ) -> RedisResult<Option<T>> {
        match self.ask(command).await {
            Ok(answer) => Ok(Some(answer)),
            Err(error) if is_refusal(&error) => {
                let note = format!("{}: {error}", name_of(command));
                if !unchecked.contains(&note) {
                    unchecked.push(note);
                }
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    async fn ask<T: FromRedisValue>(&mut self, command: &Cmd) -> RedisResult<T> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => {
                let config = AsyncConnectionConfig::new()
                    .set_connection_timeout(Some(PATIENCE))
                    .set_response_timeout(Some(PATIENCE));
                let opened = self.client.get_multiplexed_async_connection_with_config(&config);
                none.insert(opened.await?)
            }
        };
        command.query_async(connection).await
    }
}

/// docs/getting-started.md has them too.
fn permissions(config: &Config, layout: Layout) -> String {
    let commands = match layout {
        Layout::Slots => "+hmget +hset +hdel",
        _ => "+set +incr",
    };
    format!("~{}* +eval +evalsha +time +get +hget {commands} +pexpire +info", config.tag())
}

fn name_of(command: &Cmd) -> Cow<'_, str> {
    match command.args_iter().next() {
        Some(Arg::Simple(name)) => String::from_utf8_lossy(name),
        _ => "a command".into(),
    }
}

/// Whether the user may not use a command, or there is no such command.
fn is_refusal(error: &RedisError) -> bool {
    match error.kind() {
        ErrorKind::Server(ServerErrorKind::NoPerm) => true,
        ErrorKind::Server(ServerErrorKind::ResponseError) => {
            let detail = error.detail().unwrap_or_default().to_ascii_lowercase();
            ["unknown command", "not supported", "unsupported", "not allowed"]
                .iter()
                .any(|words| detail.contains(words))
        }
        _ => false,
    }
}

fn count_of(interval: u64, counters: &[(u64, u64)]) -> Option<u64> {
    counters.iter().find(|(each, _)| *each == interval).map(|(_, count)| *count)
}

/// What is known of the closed intervals.
fn closed_before(open: u64, line: &Line, layout: Layout, counters: &[(u64, u64)]) -> Vec<Closed> {
    let known = |interval: u64| match layout {
        Layout::Counters => count_of(interval, counters),
        _ if interval == line.interval => Some(line.count),
        _ if interval + 1 == line.interval => line.previous,
        _ => None,
    };
    (open.saturating_sub(3)..open)
        .filter_map(|interval| {
            // Nobody came after the last who registered.
            let none_came = (interval > line.interval).then_some(0);
            known(interval).or(none_came).map(|count| Closed { interval, count })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(closed: &[Closed]) -> Vec<(u64, u64)> {
        closed.iter().map(|closed| (closed.interval, closed.count)).collect()
    }

    const LINE: Line = Line { length: 1000, interval: 7, count: 2, previous: Some(3), rests: true };

    #[test]
    fn counters_tell_of_themselves() {
        let counters = [(5, 4), (6, 3), (7, 2)];
        let closed = closed_before(7, &LINE, Layout::Counters, &counters);
        assert_eq!(counts(&closed), [(5, 4), (6, 3)]);
        let closed = closed_before(9, &LINE, Layout::Counters, &counters);
        assert_eq!(counts(&closed), [(6, 3), (7, 2), (8, 0)]);
    }

    #[test]
    fn slots_tell_of_two_intervals() {
        assert_eq!(counts(&closed_before(7, &LINE, Layout::Slots, &[])), [(6, 3)]);
        assert_eq!(counts(&closed_before(8, &LINE, Layout::Slots, &[])), [(6, 3), (7, 2)]);
        assert_eq!(counts(&closed_before(9, &LINE, Layout::Slots, &[])), [(6, 3), (7, 2), (8, 0)]);
        let line = Line { previous: None, ..LINE };
        assert_eq!(counts(&closed_before(7, &line, Layout::Slots, &[])), []);
    }
}
