//! What an error of the client means for a registration.

use std::error::Error;
use std::sync::Arc;

use n_and_i::{BoxError, RegistrationError, scripts};
use redis::{ErrorKind, RedisError};

/// Why there is no connection. All who waited for it get the same.
#[derive(Clone)]
pub(crate) enum NotOpened {
    Client(RedisError),
    /// The client's error with the server's address.
    At(Arc<str>, RedisError),
    Application(Arc<dyn Error + Send + Sync>),
}

impl NotOpened {
    pub(crate) fn at(address: &redis::ConnectionAddr, error: RedisError) -> Self {
        Self::At(address.to_string().into(), error)
    }
}

impl From<RedisError> for NotOpened {
    fn from(error: RedisError) -> Self {
        Self::Client(error)
    }
}

impl From<BoxError> for NotOpened {
    fn from(error: BoxError) -> Self {
        match error.downcast::<RedisError>() {
            Ok(error) => Self::Client(*error),
            Err(error) => Self::Application(error.into()),
        }
    }
}

impl From<NotOpened> for RegistrationError {
    fn from(error: NotOpened) -> Self {
        match error {
            NotOpened::Client(error) => while_connecting(error),
            NotOpened::At(address, error) => {
                let located = BoxError::from(format!("{address}: {error}"));
                match while_connecting(error) {
                    Self::Configuration(_) => Self::Configuration(located),
                    _ => Self::NotExecuted(located),
                }
            }
            NotOpened::Application(error) => Self::NotExecuted(error.into()),
        }
    }
}

/// The connection could not be opened, so nothing was sent.
fn while_connecting(error: RedisError) -> RegistrationError {
    match error.kind() {
        ErrorKind::AuthenticationFailed
        | ErrorKind::InvalidClientConfig
        | ErrorKind::RESP3NotSupported => RegistrationError::Configuration(error.into()),
        ErrorKind::Server(_) | ErrorKind::Extension => from_server(&error),
        // So a cluster's client words that every node refused it.
        _ if error.detail().is_some_and(|detail| detail.contains("AuthenticationFailed")) => {
            RegistrationError::Configuration(error.into())
        }
        _ => RegistrationError::NotExecuted(error.into()),
    }
}

/// The registration was sent, or may have been.
pub(crate) fn after_sending(error: RedisError) -> RegistrationError {
    match error.kind() {
        ErrorKind::Server(_) | ErrorKind::Extension => from_server(&error),
        // There was nobody to send it to.
        ErrorKind::ClusterConnectionNotFound => RegistrationError::NotExecuted(error.into()),
        // A connection that opens itself anew was refused.
        ErrorKind::AuthenticationFailed => RegistrationError::Configuration(error.into()),
        _ => RegistrationError::Unknown(error.into()),
    }
}

/// What a server says that is not, or no longer, the one to register in, or that does not know
/// the user: behind the same address there may be another by now.
const OF_ANOTHER_SERVER: [&str; 10] = [
    "READONLY",
    "MASTERDOWN",
    "NOREPLICAS",
    "MISCONF",
    "LOADING",
    "CLUSTERDOWN",
    "MOVED",
    "ASK",
    "NOAUTH",
    "WRONGPASS",
];

/// Whether the server answered, as the right server, to a user that it knows.
pub(crate) fn leaves_connection_usable(error: &RedisError) -> bool {
    match error.kind() {
        ErrorKind::Server(_) | ErrorKind::Extension => {
            let message = line(error);
            // Redis 6.2 puts the code of what a script ran into behind words of its own.
            let wrapped = message.contains("Error running script");
            let is =
                |code: &&str| message.starts_with(*code) || (wrapped && message.contains(*code));
            !OF_ANOTHER_SERVER.iter().any(is)
        }
        _ => false,
    }
}

fn from_server(error: &RedisError) -> RegistrationError {
    scripts::server_error(line(error))
}

/// The line as the server sent it, which the client took apart.
fn line(error: &RedisError) -> String {
    let mut message = error.code().unwrap_or_default().to_owned();
    if let Some(detail) = error.detail() {
        message.push(' ');
        message.push_str(detail);
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(line: &str) -> RedisError {
        let value = redis::parse_redis_value(format!("-{line}\r\n").as_bytes()).unwrap();
        value.extract_error().unwrap_err()
    }

    #[test]
    fn what_a_cluster_answers_was_not_executed() {
        for (line, usable) in [
            ("MOVED 5061 127.0.0.1:7001", false),
            ("ASK 5061 127.0.0.1:7001", false),
            ("CLUSTERDOWN The cluster is down", false),
            ("CLUSTERDOWN Hash slot not served", false),
            ("READONLY You can't write against a read only replica.", false),
            ("MASTERDOWN Link with MASTER is down", false),
            ("LOADING Redis is loading the dataset in memory", false),
            ("TRYAGAIN Multiple keys request during rehashing of slot", true),
            ("CROSSSLOT Keys in request don't hash to the same slot", true),
            ("ERR Script attempted to access a non local key in a cluster node", true),
            ("NOSCRIPT No matching script. Please use EVAL.", true),
        ] {
            let error = answer(line);
            assert_eq!(leaves_connection_usable(&error), usable, "{line}");
            let error = after_sending(error);
            assert!(matches!(error, RegistrationError::NotExecuted(_)), "{error:?}");
        }
    }

    #[test]
    fn nobody_to_send_it_to_means_not_executed() {
        let error = RedisError::from((ErrorKind::ClusterConnectionNotFound, "none"));
        assert!(!leaves_connection_usable(&error));
        let error = after_sending(error);
        assert!(matches!(error, RegistrationError::NotExecuted(_)), "{error:?}");
    }

    #[test]
    fn an_answer_that_did_not_come_is_unknown() {
        for kind in [std::io::ErrorKind::BrokenPipe, std::io::ErrorKind::TimedOut] {
            let error = RedisError::from(std::io::Error::from(kind));
            assert!(!leaves_connection_usable(&error));
            let after = after_sending(error.clone());
            assert!(matches!(after, RegistrationError::Unknown(_)), "{after:?}");
            let connecting = while_connecting(error);
            assert!(matches!(connecting, RegistrationError::NotExecuted(_)), "{connecting:?}");
        }
    }

    #[test]
    fn the_applications_own_error_is_handed_on() {
        let shared = NotOpened::from(BoxError::from("no password today"));
        for error in [shared.clone(), shared].map(RegistrationError::from) {
            let RegistrationError::NotExecuted(cause) = error else { panic!("{error:?}") };
            assert_eq!(cause.to_string(), "no password today");
        }
        let client = (ErrorKind::AuthenticationFailed, "refused");
        let boxed = BoxError::from(RedisError::from(client));
        let error = RegistrationError::from(NotOpened::from(boxed));
        assert!(matches!(error, RegistrationError::Configuration(_)), "{error:?}");
    }
}
