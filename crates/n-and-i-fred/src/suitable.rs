//! Which clients can be relied on to come back.

use fred::clients::Client;
use fred::interfaces::ClientLike;

/// Why a client was refused. Nothing was sent, and the client is as it was.
///
/// What is named is set through fred's `Builder`: the reconnect policy with `set_policy`, the rest
/// with `with_connection_config`.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// Once disconnected the client would stay so, while each call waits for its time limit.
    #[error("reconnect policy is not set, must be one with unlimited attempts")]
    NoReconnectPolicy,
    /// An outage that outlasts the attempts would end the client.
    #[error("max_attempts of the reconnect policy is {max_attempts}, must be 0 (unlimited)")]
    LimitedReconnects {
        /// How many attempts in a row the policy allows.
        max_attempts: u32,
    },
    /// A client that loses its connection while this queue is full cannot queue reconnecting
    /// either, and ends.
    #[error("max_command_buffer_len is {length}, must be 0 (unlimited)")]
    BoundedCommandBuffer {
        /// How many commands may wait.
        length: usize,
    },
    /// A redirection that the client follows costs a second attempt, which a registration does not
    /// have. For want of it an `ASK`, as in every migration of a slot, ends the client.
    #[error("max_redirections of a cluster's client is {max_redirections}, must be 0")]
    ClusterRedirections {
        /// How many redirections the client follows.
        max_redirections: u32,
    },
    /// A node that went silent would be asked for ever: in a cluster the client connects
    /// again only to nodes that it knows to be gone.
    #[error(
        "unresponsive.max_timeout of a cluster's client is not set, must be a time well below the \
         interval of the group"
    )]
    ClusterWithoutTimeout,
}

/// Refuses what cannot be put right for each call.
pub(crate) fn check(client: &Client) -> Result<(), ClientError> {
    let connection = client.connection_config();
    match client.client_reconnect_policy().map(|policy| policy.max_attempts()) {
        None => return Err(ClientError::NoReconnectPolicy),
        Some(0) => {}
        Some(max_attempts) => return Err(ClientError::LimitedReconnects { max_attempts }),
    }
    if connection.max_command_buffer_len != 0 {
        let length = connection.max_command_buffer_len;
        return Err(ClientError::BoundedCommandBuffer { length });
    }
    if client.is_clustered() {
        let max_redirections = connection.max_redirections;
        if max_redirections != 0 {
            return Err(ClientError::ClusterRedirections { max_redirections });
        }
        if connection.unresponsive.max_timeout.is_none() {
            return Err(ClientError::ClusterWithoutTimeout);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use fred::types::Builder;
    use fred::types::config::{ConnectionConfig, ReconnectPolicy};

    use super::*;

    fn checked(
        mut builder: Builder,
        policy: Option<ReconnectPolicy>,
        configure: impl FnOnce(&mut ConnectionConfig),
    ) -> Result<(), String> {
        builder.with_connection_config(configure);
        if let Some(policy) = policy {
            builder.set_policy(policy);
        }
        check(&builder.build().unwrap()).map_err(|error| error.to_string())
    }

    fn refused(result: Result<(), String>, words: &str) {
        let message = result.expect_err(words);
        assert!(message.contains(words), "{message}");
    }

    #[test]
    fn a_client_must_connect_again_for_ever() {
        let one = Builder::default_centralized;
        refused(checked(one(), None, |_| ()), "reconnect policy is not set");
        for policy in [
            ReconnectPolicy::new_constant(7, 1),
            ReconnectPolicy::new_linear(7, 10, 1),
            ReconnectPolicy::new_exponential(7, 1, 10, 2),
        ] {
            refused(
                checked(one(), Some(policy), |_| ()),
                "max_attempts of the reconnect policy is 7",
            );
        }
        assert_eq!(checked(one(), Some(ReconnectPolicy::default()), |_| ()), Ok(()));
    }

    #[test]
    fn the_queue_must_take_a_reconnection() {
        let policy = Some(ReconnectPolicy::default());
        let bounded = |config: &mut ConnectionConfig| config.max_command_buffer_len = 9;
        let result = checked(Builder::default_centralized(), policy, bounded);
        refused(result, "max_command_buffer_len is 9, must be 0");
    }

    #[test]
    fn a_clusters_client_must_bear_redirections_and_silence() {
        let policy = || Some(ReconnectPolicy::default());
        let cluster = Builder::default_clustered;
        refused(
            checked(cluster(), policy(), |_| ()),
            "max_redirections of a cluster's client is 5",
        );
        let unredirected = |config: &mut ConnectionConfig| config.max_redirections = 0;
        refused(checked(cluster(), policy(), unredirected), "unresponsive.max_timeout");
        let suitable = |config: &mut ConnectionConfig| {
            config.max_redirections = 0;
            config.unresponsive.max_timeout = Some(Duration::from_secs(5));
        };
        assert_eq!(checked(cluster(), policy(), suitable), Ok(()));
    }
}
