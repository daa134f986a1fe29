//! What an error means for a registration.

use fred::error::{Error, ErrorKind};
use n_and_i::{RegistrationError, scripts};

/// How fred words that it did not send a command, or that a node of a cluster sent it away, and
/// that it will not send it either. Whatever else it says, the command may have been sent.
const NOT_EXECUTED: [(ErrorKind, &str); 6] = [
    (ErrorKind::Canceled, "Connection closed unexpectedly."),
    (ErrorKind::Unknown, "Failed to route command."),
    (ErrorKind::Unknown, "Failed to send command to router."),
    (ErrorKind::Routing, "Too many redirections."),
    (ErrorKind::Backpressure, "Max in-flight commands reached."),
    (ErrorKind::InvalidCommand, "Error sending command while connection is blocked."),
];

/// The client answered and not the server. `disconnected` is why the client is not connected, if
/// it said so.
///
/// An error that fred read from a server is among these only if it made fred drop the
/// connection. It need not be the answer to this command then, so nothing is concluded from it.
pub(crate) fn from_client(error: Error, disconnected: Option<Error>) -> RegistrationError {
    let is =
        |(kind, details): &(ErrorKind, &str)| error.kind() == kind && error.details() == *details;
    if !NOT_EXECUTED.iter().any(is) {
        return RegistrationError::Unknown(error.into());
    }
    match (error.kind(), disconnected) {
        (ErrorKind::Canceled | ErrorKind::Unknown, Some(reason)) => while_connecting(reason),
        _ => RegistrationError::NotExecuted(error.into()),
    }
}

/// The client is not connected, so nothing was sent.
fn while_connecting(reason: Error) -> RegistrationError {
    let lasting = match reason.kind() {
        ErrorKind::Auth | ErrorKind::Config | ErrorKind::Url => true,
        _ => matches!(
            scripts::server_error(reason.details().to_owned()),
            RegistrationError::Configuration(_)
        ),
    };
    if lasting {
        RegistrationError::Configuration(reason.into())
    } else {
        RegistrationError::NotExecuted(reason.into())
    }
}

/// What a server says that is not, or no longer, the one to register in, or that does not know the
/// user: behind the same address there may be another by now.
const OF_ANOTHER_SERVER: [&str; 4] = ["READONLY", "MASTERDOWN", "NOREPLICAS", "NOAUTH"];

/// Whether to look for another server after this answer.
pub(crate) fn is_of_another_server(message: &str) -> bool {
    // Redis 6.2 puts the code of what a script ran into behind words of its own.
    let is = |code: &&str| message.starts_with(*code) || message.contains(&format!(": -{code}"));
    OF_ANOTHER_SERVER.iter().any(is)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classified(kind: ErrorKind, details: &'static str, reason: Option<Error>) -> &'static str {
        match from_client(Error::new(kind, details), reason) {
            RegistrationError::NotExecuted(_) => "not executed",
            RegistrationError::Configuration(_) => "configuration",
            RegistrationError::Unknown(_) => "unknown",
            other => panic!("{other}"),
        }
    }

    #[test]
    fn only_what_was_certainly_not_sent_is_tried_again() {
        for (kind, details) in NOT_EXECUTED {
            assert_eq!(classified(kind, details, None), "not executed", "{details}");
        }
        for (kind, details) in [
            (ErrorKind::Timeout, "Request timed out."),
            (ErrorKind::IO, "Connection closed."),
            (ErrorKind::Unknown, "Too many failed write attempts."),
            (ErrorKind::Canceled, "Canceled."),
            // Given to whatever was in flight when one command was answered so.
            (ErrorKind::Cluster, "CLUSTERDOWN The cluster is down"),
            (ErrorKind::Auth, "NOAUTH Authentication required."),
            (ErrorKind::Unknown, "LOADING Redis is loading the dataset in memory"),
        ] {
            assert_eq!(classified(kind, details, None), "unknown", "{details}");
        }
    }

    #[test]
    fn the_reason_for_being_disconnected_is_told() {
        let cases = [
            (ErrorKind::IO, "Os { code: 111 }", "not executed"),
            (ErrorKind::Timeout, "Request timed out.", "not executed"),
            (ErrorKind::Unknown, "LOADING Redis is loading the dataset", "not executed"),
            (ErrorKind::Auth, "WRONGPASS invalid username-password pair", "configuration"),
            (ErrorKind::Unknown, "ERR invalid password", "configuration"),
            (ErrorKind::Unknown, "NOPERM User x has no permissions", "configuration"),
            (ErrorKind::Config, "ERR This instance has cluster support disabled", "configuration"),
        ];
        for (kind, details, expected) in cases {
            let reason = Some(Error::new(kind, details));
            let error = from_client(
                Error::new(ErrorKind::Canceled, "Connection closed unexpectedly."),
                reason.clone(),
            );
            let (found, source) = match error {
                RegistrationError::NotExecuted(source) => ("not executed", source),
                RegistrationError::Configuration(source) => ("configuration", source),
                other => panic!("{other}"),
            };
            assert_eq!(found, expected, "{details}");
            assert!(source.to_string().contains(details), "{source}");
            // An error of another connection does not make this command's fate known.
            assert_eq!(classified(ErrorKind::IO, "Connection closed.", reason), "unknown");
        }
    }

    #[test]
    fn another_server_is_recognized() {
        for message in [
            "READONLY You can't write against a read only replica.",
            "ERR Error running script (call to f_1): @user_script:9: -READONLY You can't write",
            "NOAUTH Authentication required.",
        ] {
            assert!(is_of_another_server(message), "{message}");
        }
        for message in ["OOM command not allowed", "BADGUARD {READONLY}:guard holds something else"]
        {
            assert!(!is_of_another_server(message), "{message}");
        }
    }
}
