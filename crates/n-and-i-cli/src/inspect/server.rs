//! What a server tells of itself.

use std::collections::HashMap;

use serde::Serialize;

/// The answer to `INFO`, as far as it matters. What the server does not tell is none.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub(super) struct Server {
    /// Its name, such as Redis or Valkey.
    pub(super) product: Option<String>,
    pub(super) version: Option<String>,
    pub(super) role: Option<String>,
    pub(super) mode: Option<String>,
    pub(super) replicas: Option<u64>,
    pub(super) maxmemory_policy: Option<String>,
    /// In bytes, 0 if there is no limit.
    pub(super) maxmemory: Option<u64>,
    #[serde(skip)]
    pub(super) used_memory: Option<u64>,
    /// How many replicas keep up; none if the server does not mind.
    #[serde(skip)]
    pub(super) good_replicas: Option<u64>,
    /// How many have to, for it to accept registrations.
    #[serde(skip)]
    pub(super) wanted_replicas: Option<u64>,
    /// Where the primary is, if this is a replica.
    #[serde(skip)]
    pub(super) primary: Option<String>,
    /// What could not be written to disk last time.
    #[serde(skip)]
    pub(super) unsaved: Option<&'static str>,
}

impl Server {
    pub(super) fn read(info: &str) -> Self {
        let fields: HashMap<_, _> = info.lines().filter_map(|line| line.split_once(':')).collect();
        let text = |name: &str| fields.get(name).map(|value| value.trim().to_owned());
        let number = |name: &str| text(name)?.parse().ok();
        let failed = |name: &str| text(name).is_some_and(|status| status != "ok");
        let (product, version) = match (text("valkey_version"), text("redis_version")) {
            (Some(version), _) => (Some("Valkey"), Some(version)),
            (None, Some(version)) => (Some("Redis"), Some(version)),
            (None, None) => (None, None),
        };
        let role = text("role").map(|role| match &*role {
            "master" => "primary".to_owned(),
            "slave" => "replica".to_owned(),
            _ => role,
        });
        let unsaved = match (failed("rdb_last_bgsave_status"), failed("aof_last_write_status")) {
            (_, true) => Some("append to the append-only file"),
            (true, false) => Some("background save"),
            (false, false) => None,
        };
        Self {
            product: product.map(str::to_owned),
            version,
            role,
            mode: text("redis_mode").or_else(|| text("server_mode")),
            replicas: number("connected_slaves"),
            maxmemory_policy: text("maxmemory_policy"),
            maxmemory: number("maxmemory"),
            used_memory: number("used_memory"),
            good_replicas: number("min_slaves_good_slaves"),
            // Not told in this answer.
            wanted_replicas: None,
            primary: text("master_host").zip(text("master_port")).map(|(host, port)| {
                if host.contains(':') {
                    format!("[{host}]:{port}")
                } else {
                    format!("{host}:{port}")
                }
            }),
            unsaved,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_todays() {
        let info = "# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\nrole:slave\r\n\
                    master_host:::1\r\nmaster_port:7000\r\nconnected_slaves:2\r\n\
                    min_slaves_good_slaves:1\r\nrdb_last_bgsave_status:err\r\n";
        let server = Server::read(info);
        assert_eq!(server.product.as_deref(), Some("Redis"));
        assert_eq!(server.version.as_deref(), Some("7.0.15"));
        assert_eq!(server.role.as_deref(), Some("replica"));
        assert_eq!(server.primary.as_deref(), Some("[::1]:7000"));
        assert_eq!((server.replicas, server.good_replicas), (Some(2), Some(1)));
        assert_eq!(server.unsaved, Some("background save"));
        assert_eq!(server.maxmemory_policy, None);
    }

    #[test]
    fn a_server_can_keep_everything_to_itself() {
        assert_eq!(Server::read("nothing\r\n"), Server::default());
    }
}
