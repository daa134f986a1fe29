//! The counter layout in Redis, for every client: keys, script, answer.
//!
//! A group's counters are plain integers under `<prefix>{<name>}:<N>`, made by `INCR` and kept
//! for three intervals, so that workers which know nothing but the counters take part. What
//! else the protocol needs is in one more key, the guard, `<prefix>{<name>}:guard`.
//!
//! An adapter runs [`SCRIPT`] with `EVALSHA`, with `EVAL` if the server does not know it, passing
//! [`guard_key`] as the only key and [`arguments`] as arguments. It hands the answer, one string, to
//! [`parse`], and an error that the *server* answered with to [`server_error`]. Any other error
//! after sending is [`RegistrationError::Unknown`].

mod store;

use std::time::Duration;

use n_and_i_core::{Reply, ServerTime, Stamp};

use crate::config::Config;
use crate::registry::{Registered, RegistrationError, Request};

pub use store::{Refusal, Store};

/// The script that registers, in Lua, for Redis 6.2 or later. One key, three arguments, the
/// answer is a string. It needs the commands TIME, GET, SET, INCR, PEXPIRE and INFO.
pub const SCRIPT: &str = include_str!("counters/register.lua");

/// The SHA-1 of [`SCRIPT`] in hexadecimal, for `EVALSHA`.
pub const SCRIPT_SHA1: &str = "d32d670da997bf60362672b37fbcef3f86a7beef";

/// The one key that is passed to the script.
pub fn guard_key(config: &Config) -> String {
    format!("{}guard", config.tag())
}

/// The counter of an interval.
pub fn counter_key(config: &Config, interval: u64) -> String {
    format!("{}{interval}", config.tag())
}

/// What is passed to the script after the key.
pub fn arguments(request: &Request<'_>) -> [String; 3] {
    [
        request.config().interval().as_millis().to_string(),
        request.not_after().map_or_else(String::new, |limit| limit.as_micros().to_string()),
        request.stamp().to_string(),
    ]
}

/// Reads the script's answer.
///
/// # Errors
/// If the script refused to register, or if the answer is not one of the script's.
pub fn parse(config: &Config, answer: &str) -> Result<Registered, RegistrationError> {
    let mut words = answer.split(' ');
    let parsed = match words.next() {
        Some("ok") => parse_reply(&mut words).map(Ok),
        Some("late") => parse_micros(&mut words).map(|at| Err(RegistrationError::TooLate { at })),
        Some("interval") => parse_number(&mut words).map(|millis| {
            Err(RegistrationError::IntervalMismatch {
                name: config.name().to_owned(),
                own: config.interval(),
                group: Duration::from_millis(millis),
            })
        }),
        _ => None,
    };
    match parsed {
        Some(result) if words.next().is_none() => result.map(Registered::from),
        _ => Err(RegistrationError::Unknown(
            format!("answer is {answer:?}, must be one of the script's").into(),
        )),
    }
}

fn parse_reply<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<Reply> {
    Some(Reply {
        interval: parse_number(words)?,
        index: parse_number(words)?.try_into().ok()?,
        replicas: match words.next()? {
            "-1" => None,
            count => Some(count.parse().ok()?),
        },
        at: parse_micros(words)?,
        stamp: parse_stamp(words.next()?)?,
        previous_stamp: match words.next()? {
            "-" => None,
            stamp => Some(parse_stamp(stamp)?),
        },
    })
}

fn parse_number<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<u64> {
    words.next()?.parse().ok()
}

fn parse_micros<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<ServerTime> {
    parse_number(words).map(ServerTime::from_micros)
}

fn parse_stamp(word: &str) -> Option<Stamp> {
    u128::from_str_radix(word, 16).ok().map(Stamp::from_u128)
}

/// The error that a server answered with. `message` is the whole error line, the code first.
///
/// The script changes nothing before it counts, so an error means that nothing was counted, with one
/// exception that the script marks itself: `COUNTED`, when something after counting was refused.
pub fn server_error(message: String) -> RegistrationError {
    /// Errors that last until somebody changes something.
    const CONFIGURATION: [&str; 9] = [
        "NOAUTH",
        "WRONGPASS",
        "NOPERM",
        "WRONGTYPE",
        "BADGUARD",
        "ERR unknown command",
        "ERR value is not an integer",
        "ERR invalid password",
        "ERR AUTH",
    ];
    // Redis before 7 wraps what a command in a script raises: "ERR Error running script (call to
    // f_…): @user_script:9: -WRONGTYPE Operation …" or "… @user_script: 9: Unknown Redis command".
    let wrapped = message.contains("Error running script");
    let is = |code: &str| {
        message.starts_with(code) || (wrapped && message.contains(code.trim_start_matches("ERR ")))
    };
    if is("COUNTED") {
        RegistrationError::Unknown(message.into())
    } else if CONFIGURATION.iter().any(|code| is(code)) || lacks_permission(&message) {
        RegistrationError::Configuration(message.into())
    } else {
        RegistrationError::NotExecuted(message.into())
    }
}

/// Redis words a permission that is missing inside a script in several ways, by version.
fn lacks_permission(message: &str) -> bool {
    message.contains("ACL failure in script")
        || message.contains("The user executing the script can't")
        || message.contains("has no permissions to run")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Config {
        Config::new("mail-sender", Duration::from_secs(5)).unwrap().with_prefix("p:").unwrap()
    }

    #[test]
    fn the_constant_is_the_scripts_hash() {
        use sha1::{Digest, Sha1};
        let hash: [u8; 20] = Sha1::digest(SCRIPT).into();
        let mut words = hash.chunks(4).map(|word| u32::from_be_bytes(word.try_into().unwrap()));
        let hex: [String; 5] = std::array::from_fn(|_| format!("{:08x}", words.next().unwrap()));
        assert_eq!(hex.concat(), SCRIPT_SHA1);
    }

    #[test]
    fn keys_share_a_hash_tag() {
        assert_eq!(guard_key(&config()), "p:{mail-sender}:guard");
        assert_eq!(counter_key(&config(), 58_391), "p:{mail-sender}:58391");
    }

    #[test]
    fn arguments_are_plain_text() {
        let config = config();
        let stamp = Stamp::from_u128(0xab);
        let request = Request::new(&config, stamp, None);
        let hex = "000000000000000000000000000000ab";
        assert_eq!(arguments(&request), ["5000", "", hex]);
        let limit = ServerTime::from_micros(1_700_000_000_000_001);
        let request = Request::new(&config, stamp, Some(limit));
        assert_eq!(arguments(&request), ["5000", "1700000000000001", hex]);
    }

    #[test]
    fn answers_are_read() {
        let reply = parse(&config(), "ok 7 2 3 35000001 1f 2e").unwrap().reply;
        let expected = Reply {
            interval: 7,
            index: 2,
            replicas: Some(3),
            at: ServerTime::from_micros(35_000_001),
            stamp: Stamp::from_u128(0x1f),
            previous_stamp: Some(Stamp::from_u128(0x2e)),
        };
        assert_eq!(reply, expected);
        let reply = parse(&config(), "ok 7 0 -1 35000001 1f -").unwrap().reply;
        assert_eq!((reply.replicas, reply.previous_stamp), (None, None));

        let error = parse(&config(), "late 12").unwrap_err();
        assert!(matches!(error, RegistrationError::TooLate { at } if at.as_micros() == 12));
        let error = parse(&config(), "interval 250").unwrap_err().to_string();
        assert!(error.contains("250ms") && error.contains("5s"), "{error}");
    }

    #[test]
    fn other_answers_are_named() {
        for answer in
            ["", "ok", "ok 7 2 3 35000001 1f", "ok 7 2 3 35000001 1f - x", "ok 7 -1 3 1 1f -", "OK"]
        {
            let error = parse(&config(), answer).unwrap_err();
            let RegistrationError::Unknown(cause) = error else { panic!("{error}") };
            assert!(cause.to_string().contains(&format!("{answer:?}")), "{cause}");
        }
    }

    #[test]
    fn server_errors_are_classified() {
        use n_and_i_core::Failure::{NotExecuted, Unknown};
        let cases = [
            ("COUNTED NOPERM this user has no permissions", Unknown, false),
            ("LOADING Redis is loading the dataset in memory", NotExecuted, false),
            ("READONLY You can't write against a read only replica.", NotExecuted, false),
            ("OOM command not allowed when used memory > 'maxmemory'.", NotExecuted, false),
            ("NOPERM User x has no permissions to run the 'evalsha' command", NotExecuted, true),
            ("WRONGTYPE Operation against a key holding the wrong kind", NotExecuted, true),
            (
                "ERR Error running script (call to f_1): @user_script:9: WRONGTYPE Operation",
                NotExecuted,
                true,
            ),
            (
                "ERR Error running script (call to f_1): @user_script: 9: -OOM command not allowed",
                NotExecuted,
                false,
            ),
            ("ERR ACL failure in script: No permissions to access a key", NotExecuted, true),
            (
                "ERR Error running script (call to f_1): @user_script:9: The user executing the \
                 script can't run this command or subcommand",
                NotExecuted,
                true,
            ),
            ("ERR User x has no permissions to run the 'info' command", NotExecuted, true),
        ];
        for (message, failure, configuration) in cases {
            let error = server_error(message.to_owned());
            assert_eq!(error.failure(), failure, "{message}");
            let is_configuration = matches!(error, RegistrationError::Configuration(_));
            assert_eq!(is_configuration, configuration, "{message}");
        }
    }
}
