//! What an error of the client means for a registration.

use n_and_i::{RegistrationError, counters};
use redis::{ErrorKind, RedisError};

/// The connection could not be opened, so nothing was sent.
pub(crate) fn while_connecting(error: RedisError) -> RegistrationError {
    match error.kind() {
        ErrorKind::AuthenticationFailed
        | ErrorKind::InvalidClientConfig
        | ErrorKind::RESP3NotSupported => RegistrationError::Configuration(error.into()),
        ErrorKind::Server(_) | ErrorKind::Extension => from_server(&error),
        _ => RegistrationError::NotExecuted(error.into()),
    }
}

/// The registration was sent, or may have been.
pub(crate) fn after_sending(error: RedisError) -> RegistrationError {
    match error.kind() {
        ErrorKind::Server(_) | ErrorKind::Extension => from_server(&error),
        // There was nobody to send it to.
        ErrorKind::ClusterConnectionNotFound => RegistrationError::NotExecuted(error.into()),
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
    counters::server_error(line(error))
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
