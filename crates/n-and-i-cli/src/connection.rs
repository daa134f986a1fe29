//! Redis, from its address.

use redis::Client;

const FORMS: &str = "\
must be like
  redis://127.0.0.1:6379
  redis://user:password@host:6379/0
  rediss://host:6379          (TLS)
  redis+unix:///path/to/socket";

/// A client of the Redis at this address. Nothing is sent yet.
///
/// # Errors
/// A message that says what an address looks like. It does not repeat this one, which may
/// hold a password.
pub(crate) fn client(url: &str) -> Result<Client, String> {
    Client::open(url).map_err(|error| {
        // Its first part is a description. What follows may hold a piece of the address.
        let error = error.to_string();
        let description = error.split(['-', ':']).next().unwrap_or_default().trim();
        format!(
            "redis, or the environment variable REDIS_URL, is no valid URL ({description}), {FORMS}"
        )
    })
}

/// Makes `rediss://` work: rustls leaves the choice of its cryptography to the program.
pub(crate) fn install_crypto_provider() {
    // Fails only if there is one already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_kinds_of_address_are_taken() {
        for url in [
            "redis://127.0.0.1:6379",
            "redis://user:password@localhost:6379/1?protocol=resp3",
            "rediss://localhost",
            #[cfg(unix)]
            "redis+unix:///run/redis.sock",
        ] {
            assert!(client(url).is_ok(), "{url}");
        }
    }

    #[test]
    fn a_refusal_shows_the_forms_and_no_password() {
        for url in [
            "",
            "localhost:6379",
            "http://:hunter2@localhost",
            "redis://:hunter2@",
            "redis://:hunter2@localhost/x",
            "redis://:hunter2@localhost:port",
            "rediss://:hunter2@localhost#hunter2",
            "redis://localhost?protocol=hunter2",
        ] {
            let message = client(url).unwrap_err();
            assert!(message.contains("redis://127.0.0.1:6379"), "{message}");
            assert!(!message.contains("hunter2"), "{message}");
        }
    }
}
