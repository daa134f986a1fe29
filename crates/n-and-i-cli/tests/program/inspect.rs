//! Looking at groups and servers.

mod group;
mod preflight;
mod views;

use n_and_i_test_support::{RedisServer, eventually};
use serde_json::Value;

use crate::child::{Program, json};

/// How a server that does not tell which commands a user may use is said to be one.
const SILENT: &str = "commands: before 7.0";

/// What one look said.
struct Look {
    code: Option<i32>,
    stdout: Vec<String>,
}

impl Look {
    /// At the group x.
    fn at(url: &str, more: &[&str]) -> Self {
        let mut program =
            Program::start(&[&["inspect", "--name", "x", "--redis", url][..], more].concat());
        let code = program.end().code();
        assert_eq!(program.stderr(), [""; 0]);
        Self { code, stdout: program.stdout() }
    }

    fn json(url: &str, more: &[&str]) -> Self {
        let look = Self::at(url, &[&["--json"], more].concat());
        assert_eq!(look.stdout.len(), 1, "{:?}", look.stdout);
        look
    }

    fn object(&self) -> Value {
        json(&self.stdout[0])
    }

    fn text(&self) -> String {
        self.stdout.join("\n")
    }

    /// What is wrong.
    fn problems(&self) -> Vec<String> {
        let object = self.object();
        let findings = object["findings"].as_array().expect("there is a list").iter();
        let problem = |finding: &Value| {
            assert!(!finding["remedy"].as_str().unwrap().is_empty(), "{finding}");
            finding["problem"].as_str().unwrap().to_owned()
        };
        let problems: Vec<_> = findings.map(problem).collect();
        assert_eq!(self.code, Some(i32::from(!problems.is_empty())), "{object}");
        problems
    }

    /// What could not be looked at.
    fn unchecked(&self) -> Vec<String> {
        let object = self.object();
        let notes = object["unchecked"].as_array().expect("there is a list").iter();
        notes.map(|note| note.as_str().unwrap().to_owned()).collect()
    }

    /// The commands that workers are refused are named, or that the server cannot tell.
    fn has_refused(&self, words: &str) {
        if self.unchecked().iter().any(|note| note.starts_with(SILENT)) {
            assert_eq!(self.problems(), [""; 0]);
            assert!(self.version().is_none_or(|version| version < 7), "{}", self.object());
        } else {
            self.has_problem(&format!("workers cannot register: {words}"));
            assert!(self.version().is_none_or(|version| version >= 7), "{}", self.object());
        }
    }

    /// The major version of the server, if it tells.
    fn version(&self) -> Option<u32> {
        let object = self.object();
        object["server"]["version"].as_str()?.split('.').next()?.parse().ok()
    }

    /// The only problem, which has these words.
    fn has_problem(&self, words: &str) {
        let problems = self.problems();
        let [problem] = &*problems else { panic!("{words:?}: {problems:#?}") };
        assert!(problem.contains(words), "{words:?}: {problem}");
    }
}

fn worker(server: &RedisServer, layout: &str) -> Program {
    let group = ["watch", "--name", "x", "--interval", "500ms", "--layout", layout];
    Program::start(&[&group[..], &["--redis", &server.url()]].concat())
}

/// The group x settles with so many.
fn settles(server: &RedisServer, count: u64) {
    eventually("the group is seen to have settled", || {
        let object = Look::json(&server.url(), &[]).object();
        let last = object["closed"].as_array()?.last()?.clone();
        (object["state"] == "settled" && last["count"] == count).then_some(())
    });
}
