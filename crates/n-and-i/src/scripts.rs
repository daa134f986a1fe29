//! What a Redis client runs to register, whichever layout the group has: script, key, arguments,
//! answer.
//!
//! An adapter makes the [`Call`] of a request, runs its script with `EVALSHA`, with `EVAL` if the
//! server does not know it, and hands the answer, one string, to [`parse`], and an error that the
//! *server* answered with to [`server_error`]. Any other error after sending is
//! [`RegistrationError::Unknown`].

mod store;

use std::time::Duration;

use n_and_i_core::{Reply, ServerTime, Stamp};

use crate::config::Config;
use crate::layout::Layout;
use crate::registry::{Registered, RegistrationError, Request, WorkerId};
use crate::{counters, slots};

pub use store::Store;

/// A script in Lua, for Redis 6.2 or later.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Script {
    /// For `EVAL`.
    pub text: &'static str,
    /// The SHA-1 of the text in hexadecimal, for `EVALSHA`.
    pub sha1: &'static str,
}

/// A run of a script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// What to run.
    pub script: Script,
    /// The only key.
    pub key: String,
    /// What is passed after the key.
    pub arguments: Vec<String>,
}

impl Call {
    /// Registers.
    pub fn register(request: &Request<'_>) -> Self {
        let config = request.config();
        let mut arguments = vec![
            config.interval().as_millis().to_string(),
            request.not_after().map_or_else(String::new, |limit| limit.as_micros().to_string()),
            request.stamp().to_string(),
        ];
        let script = match config.layout() {
            Layout::Counters => counters::REGISTER,
            Layout::Slots => {
                arguments.push(request.worker().to_string());
                slots::REGISTER
            }
        };
        Self { script, key: guard_key(config), arguments }
    }

    /// Tells that a worker has left; none if its layout does not want to know.
    pub fn release(config: &Config, worker: WorkerId) -> Option<Self> {
        match config.layout() {
            Layout::Counters => None,
            Layout::Slots => Some(Self {
                script: slots::RELEASE,
                key: guard_key(config),
                arguments: vec![config.interval().as_millis().to_string(), worker.to_string()],
            }),
        }
    }
}

/// The one key that is passed to each script. It says which layout and interval the group has.
pub fn guard_key(config: &Config) -> String {
    format!("{}guard", config.tag())
}

/// Reads the answer to a registration.
///
/// # Errors
/// If the script refused to register, or if the answer is not one of a script's.
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
        Some("layout") => parse_layout(&mut words).map(|(group, interval)| {
            Err(RegistrationError::LayoutMismatch {
                name: config.name().to_owned(),
                own: config.layout(),
                group,
                interval,
            })
        }),
        Some("gone") => {
            Some(Err(RegistrationError::NotExecuted("this worker has left its group".into())))
        }
        _ => None,
    };
    match parsed {
        Some(result) if words.next().is_none() => result.map(Registered::from),
        _ => Err(RegistrationError::Unknown(
            format!("answer is {answer:?}, must be one of the script's").into(),
        )),
    }
}

fn parse_layout<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<(Layout, Duration)> {
    let layout = Layout::named(words.next()?)?;
    Some((layout, Duration::from_millis(parse_number(words)?)))
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
    use n_and_i_core::Failure;

    use super::*;

    fn config() -> Config {
        Config::new("mail-sender", Duration::from_secs(5)).unwrap().with_prefix("p:").unwrap()
    }

    #[test]
    fn the_constants_are_the_scripts_hashes() {
        use sha1::{Digest, Sha1};
        for script in [counters::REGISTER, slots::REGISTER, slots::RELEASE] {
            let hash: [u8; 20] = Sha1::digest(script.text).into();
            let mut words = hash.chunks(4).map(|word| u32::from_be_bytes(word.try_into().unwrap()));
            let hex: [String; 5] =
                std::array::from_fn(|_| format!("{:08x}", words.next().unwrap()));
            assert_eq!(hex.concat(), script.sha1);
        }
    }

    #[test]
    fn keys_share_a_hash_tag() {
        assert_eq!(guard_key(&config()), "p:{mail-sender}:guard");
        assert_eq!(counters::counter_key(&config(), 58_391), "p:{mail-sender}:58391");
    }

    #[test]
    fn arguments_are_plain_text() {
        let config = config();
        let stamp = Stamp::from_u128(0xab);
        let request = Request::new(&config, stamp, None);
        let hex = "000000000000000000000000000000ab";
        assert_eq!(Call::register(&request).arguments, ["5000", "", hex]);
        let limit = ServerTime::from_micros(1_700_000_000_000_001);
        let request = Request::new(&config, stamp, Some(limit));
        assert_eq!(Call::register(&request).arguments, ["5000", "1700000000000001", hex]);
        assert_eq!(Call::release(&config, request.worker()), None);

        let config = config.with_layout(Layout::Slots);
        let worker = WorkerId::from_u128(0xcd);
        let request = Request::new(&config, stamp, Some(limit)).with_worker(worker);
        let call = Call::register(&request);
        let id = "000000000000000000000000000000cd";
        assert_eq!(call.arguments, ["5000", "1700000000000001", hex, id]);
        let release = Call::release(&config, worker).expect("wants to know");
        assert_eq!(release.arguments, ["5000", id]);
        assert_eq!((release.key, call.key.as_str()), (call.key.clone(), "p:{mail-sender}:guard"));
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
        let error = parse(&config(), "layout slots 250").unwrap_err();
        assert_eq!(
            error.failure(),
            Failure::IntervalMismatch { group: Duration::from_millis(250) }
        );
        let error = error.to_string();
        assert!(error.contains("layout slots") && error.contains("counters"), "{error}");
        let error = parse(&config(), "gone").unwrap_err();
        assert_eq!(error.failure(), Failure::NotExecuted);
    }

    #[test]
    fn other_answers_are_named() {
        for answer in [
            "",
            "ok",
            "ok 7 2 3 35000001 1f",
            "ok 7 2 3 35000001 1f - x",
            "ok 7 -1 3 1 1f -",
            "OK",
            "layout x 1",
        ] {
            let error = parse(&config(), answer).unwrap_err();
            let RegistrationError::Unknown(cause) = error else { panic!("{error}") };
            assert!(cause.to_string().contains(&format!("{answer:?}")), "{cause}");
        }
    }

    #[test]
    fn server_errors_are_classified() {
        use Failure::{NotExecuted, Unknown};
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
