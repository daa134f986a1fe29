//! What an error of the client means for a registration.

use n_and_i::{RegistrationError, counters};
use redis::{ErrorKind, RedisError, ServerErrorKind};

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
        _ => RegistrationError::Unknown(error.into()),
    }
}

/// Whether the server answered, as the right server, to a user that it knows.
pub(crate) fn leaves_connection_usable(error: &RedisError) -> bool {
    match error.kind() {
        ErrorKind::Server(ServerErrorKind::ReadOnly | ServerErrorKind::MasterDown) => false,
        ErrorKind::Server(_) | ErrorKind::Extension => {
            !matches!(error.code(), Some("NOAUTH" | "WRONGPASS"))
                // Redis 6.2 puts the code of what a script ran into behind words of its own.
                && !error.detail().is_some_and(|detail| detail.contains("-READONLY"))
        }
        _ => false,
    }
}

fn from_server(error: &RedisError) -> RegistrationError {
    // The line as the server sent it, which the client took apart.
    let mut message = error.code().unwrap_or_default().to_owned();
    if let Some(detail) = error.detail() {
        message.push(' ');
        message.push_str(detail);
    }
    counters::server_error(message)
}
