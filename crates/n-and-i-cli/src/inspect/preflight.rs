//! What is wrong with a server or a group, and what to do about it.

use n_and_i::Layout;
use serde::Serialize;

use crate::inspect::counts::State;
use crate::inspect::guard::Guard;
use crate::inspect::server::Server;
use crate::inspect::source::Reading;

/// Since this version scripts may do what those of the workers do.
const OLDEST: (u32, u32) = (6, 2);

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(super) struct Finding {
    pub(super) problem: String,
    pub(super) remedy: String,
}

fn finding(problem: impl Into<String>, remedy: impl Into<String>) -> Finding {
    Finding { problem: problem.into(), remedy: remedy.into() }
}

/// Everything that is wrong, the worst first.
pub(super) fn findings(reading: &Reading, state: State, wanted: Option<Layout>) -> Vec<Finding> {
    let refused = reading.refused.as_ref().and_then(|refused| commands(refused, reading));
    let server = reading.server.iter().flat_map(of_server);
    let group = of_group(reading, wanted).into_iter().chain(of_state(state));
    refused.into_iter().chain(server).chain(group).collect()
}

fn commands(refused: &[String], reading: &Reading) -> Option<Finding> {
    let names = refused.join(", ");
    let remedy = format!(
        "allow this user what a worker needs, ACL SETUSER with {}, or take a Redis that has it; commands must \
         keep their names",
        reading.permissions
    );
    let problem = || format!("workers cannot register: {names} is refused or not there");
    (!refused.is_empty()).then(|| finding(problem(), remedy))
}

fn of_server(server: &Server) -> Vec<Finding> {
    let mut found = Vec::new();
    if server.role.as_deref() == Some("replica") {
        let primary = server.primary.as_deref().unwrap_or("its primary");
        found.push(finding(
            "this is a replica: nobody can register here",
            format!("use the address of the primary, {primary}"),
        ));
    }
    if let Some(version) = server.version.as_deref().filter(|version| is_too_old(version)) {
        found.push(finding(
            format!("version {version} is too old"),
            format!("use Redis {}.{} or later, or Valkey", OLDEST.0, OLDEST.1),
        ));
    }
    if let Some(policy) =
        server.maxmemory_policy.as_deref().filter(|policy| *policy != "noeviction")
    {
        let when = match server.maxmemory {
            Some(0) => "should maxmemory be set (there is no limit now)",
            _ => "when maxmemory is reached",
        };
        found.push(finding(
            format!("maxmemory-policy is {policy}: it evicts keys with a time to live, such as all of a group, {when}"),
            "CONFIG SET maxmemory-policy noeviction, also in the configuration file; or a Redis for \
             groups alone",
        ));
    }
    if let (Some(limit @ 1..), Some(used)) = (server.maxmemory, server.used_memory)
        && used >= limit
    {
        found.push(finding(
            format!("the memory is full, {used} of {limit} bytes: registrations are refused, or keys evicted"),
            "raise maxmemory, or take away what is not needed",
        ));
    }
    if let Some(what) = server.unsaved {
        found.push(finding(
            format!("the last {what} failed: registrations are refused (MISCONF), unless the server is told not to"),
            "make room on its disk; its log has the reason",
        ));
    }
    found.extend(of_replicas(server));
    found
}

fn of_replicas(server: &Server) -> Option<Finding> {
    let replicas = server.replicas.filter(|_| server.role.as_deref() == Some("primary"))?;
    match server.good_replicas {
        // Redis tells how many keep up only if it wants some.
        Some(good) if good < server.wanted_replicas.unwrap_or(1) => Some(finding(
            format!(
                "only {good} of {replicas} replicas keep up, fewer than min-replicas-to-write wants: registrations \
                 are refused (NOREPLICAS)"
            ),
            "see to the replicas",
        )),
        Some(_) => None,
        None if replicas == 0 => None,
        None => {
            let replicas =
                if replicas == 1 { "1 replica".to_owned() } else { format!("{replicas} replicas") };
            Some(finding(
                format!(
                    "{replicas} and no min-replicas-to-write: cut off, this server goes on accepting registrations \
                     while a replica is promoted, and the group becomes two that both own everything"
                ),
                "CONFIG SET min-replicas-to-write 1, also in the configuration file; min-replicas-max-lag says after how \
                 many seconds a replica does not count",
            ))
        }
    }
}

fn is_too_old(version: &str) -> bool {
    let mut parts = version.split('.').map(str::parse::<u32>);
    match (parts.next(), parts.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) < OLDEST,
        _ => false,
    }
}

fn of_group(reading: &Reading, wanted: Option<Layout>) -> Vec<Finding> {
    let mut found = Vec::new();
    match reading.guard {
        Guard::Foreign => found.push(finding(
            "the key of the guard holds something else: no worker can register",
            "delete it, or take another name or prefix for the group",
        )),
        Guard::Group(layout, _) if wanted.is_some_and(|wanted| wanted != layout) => {
            let wanted = wanted.unwrap_or_default();
            found.push(finding(
                format!("the group has the layout {layout}: workers with {wanted} are refused"),
                "configure all workers alike, or stop those of the other layout: three intervals later it is free",
            ));
        }
        Guard::Group(..) | Guard::Absent => {}
    }
    if let (Guard::Group(_, line), Some(open)) = (reading.guard, reading.open)
        && line.interval > open.interval
    {
        let ahead = line.interval - open.interval;
        found.push(finding(
            format!("the latest registration is {ahead} intervals ahead: the server's clock was set back"),
            "nothing, if that is over: the group settles by itself, some intervals later",
        ));
    }
    let is_ours = matches!(reading.guard, Guard::Group(..));
    for key in reading.keys.iter().filter(|key| is_ours && key.stays) {
        found.push(finding(
            format!(
                "{} has no time to live: workers set one, something has taken it away",
                key.name
            ),
            "find out who does PERSIST or SET on it",
        ));
    }
    found
}

fn of_state(state: State) -> Option<Finding> {
    (state == State::Flapping).then(|| {
        finding(
            "the number of workers keeps going up and down: nobody owns much",
            "look for workers that restart, or whose registrations fail or come late; a longer interval helps \
             against slow answers",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(server: &Server) -> Vec<String> {
        of_server(server).into_iter().map(|finding| finding.problem).collect()
    }

    fn healthy() -> Server {
        Server {
            version: Some("7.0.15".to_owned()),
            role: Some("primary".to_owned()),
            replicas: Some(0),
            maxmemory_policy: Some("noeviction".to_owned()),
            maxmemory: Some(0),
            used_memory: Some(1),
            ..Server::default()
        }
    }

    #[test]
    fn nothing_is_wrong_with_a_healthy_server_or_one_that_tells_nothing() {
        assert_eq!(problems(&healthy()), [""; 0]);
        assert_eq!(problems(&Server::default()), [""; 0]);
        let covered = Server { replicas: Some(2), good_replicas: Some(2), ..healthy() };
        assert_eq!(problems(&covered), [""; 0]);
    }

    #[test]
    fn each_fault_is_named() {
        let text = |text: &str| Some(text.to_owned());
        for (server, words) in [
            (Server { role: text("replica"), replicas: Some(1), ..healthy() }, "is a replica"),
            (Server { version: text("6.0.16"), ..healthy() }, "6.0.16 is too old"),
            (
                Server { maxmemory_policy: text("volatile-ttl"), ..healthy() },
                "is volatile-ttl: it evicts",
            ),
            (Server { maxmemory: Some(10), used_memory: Some(10), ..healthy() }, "10 of 10 bytes"),
            (Server { unsaved: Some("background save"), ..healthy() }, "MISCONF"),
            (Server { replicas: Some(1), ..healthy() }, "1 replica and no min-replicas-to-write"),
            (Server { good_replicas: Some(0), ..healthy() }, "NOREPLICAS"),
            (
                Server { good_replicas: Some(1), wanted_replicas: Some(2), ..healthy() },
                "NOREPLICAS",
            ),
        ] {
            let [problem] = &*problems(&server) else { panic!("one problem: {server:?}") };
            assert!(problem.contains(words), "{problem}");
        }
    }

    #[test]
    fn versions_are_compared_by_number() {
        for (version, too_old) in
            [("5.0", true), ("6.0.9", true), ("6.2.0", false), ("10.0.1", false), ("x", false)]
        {
            assert_eq!(is_too_old(version), too_old, "{version}");
        }
    }
}
