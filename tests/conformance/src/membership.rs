//! What needs no fault: workers that come and go.

use std::time::Duration;

use n_and_i::Config;
use n_and_i_test_support::Members;

use crate::executor::{Executor, Token};
use crate::one_server::OneServer;
use crate::registry::AnyRegistry;
use crate::subject::{Client, Subject};
use crate::workers::join_one;

/// A change of who is there.
#[derive(Clone, Copy, Debug)]
pub struct Membership {
    /// What it is called.
    pub name: &'static str,
    /// What happens.
    pub what: &'static str,
    /// Makes it happen to a settled group.
    change: fn(&mut Group),
}

/// All of them. After each, those who are there own everything, each a share of its own.
pub const ALL: [Membership; 4] = [
    Membership { name: "settle", what: "three workers start", change: |_| {} },
    Membership { name: "join", what: "a fourth starts", change: Group::join },
    Membership { name: "leave", what: "one is told to stop", change: Group::leave },
    Membership { name: "crash", what: "one vanishes without a word", change: Group::crash },
];

/// How many there are at first.
const WORKERS: usize = 3;

/// Workers of a subject, or of several.
#[derive(Debug)]
pub struct Group {
    /// The workers.
    pub members: Members,
    config: Config,
    subjects: Vec<(Subject, AnyRegistry, Executor)>,
    tokens: Vec<Token>,
}

impl Group {
    /// Without workers. Those that join take the subjects, all of one layout, in turn.
    ///
    /// # Panics
    /// If there are no subjects.
    pub fn new(subjects: &[Subject], site: Option<&OneServer>) -> Self {
        let start = |subject: &Subject| {
            let executor = Executor::start(subject.runtime);
            let registry = match site {
                Some(site) => subject.connect(&site.endpoint, &executor),
                None => AnyRegistry::new(n_and_i::MemoryRegistry::new()),
            };
            (*subject, registry, executor)
        };
        Self {
            members: Members::new(),
            config: Config::new("membership", Duration::from_millis(200))
                .expect("a good name")
                .with_layout(subjects[0].layout),
            subjects: subjects.iter().map(start).collect(),
            tokens: Vec::new(),
        }
    }

    /// One more joins.
    pub fn join(&mut self) {
        let (_, registry, executor) = &self.subjects[self.tokens.len() % self.subjects.len()];
        self.tokens.push(join_one(&mut self.members, registry, &self.config, executor));
    }

    /// The first leaves in order.
    ///
    /// # Panics
    /// If it ends with a lease.
    pub fn leave(&mut self) {
        let seen = self.members.leave(0);
        assert!(seen.last().is_some_and(Result::is_err), "ends with a lease: {seen:?}");
    }

    /// The last vanishes.
    pub fn crash(&mut self) {
        drop(self.tokens.pop());
        self.members.lose(self.tokens.len());
    }

    /// The group settles on what it has, and nobody ever owned what another did.
    pub fn settles(&mut self) {
        self.members.settled();
        self.members.check();
    }
}

impl Membership {
    /// Makes it happen to workers of this subject.
    ///
    /// # Panics
    /// If the group does not settle or was not exclusive.
    pub fn run(&self, subject: &Subject) {
        let site = (subject.client != Client::Memory).then(|| OneServer::new(&[]));
        let mut group = Group::new(&[*subject], site.as_ref());
        for _ in 0..WORKERS {
            group.join();
        }
        group.settles();
        (self.change)(&mut group);
        group.settles();
    }
}

/// Workers of all these subjects are one group: it settles and stays exclusive through a join, a crash
/// and a restart of the server.
///
/// # Panics
/// If it does not.
pub fn together(subjects: &[Subject]) {
    let mut site = OneServer::new(&[]);
    let mut group = Group::new(subjects, Some(&site));
    for _ in subjects {
        group.join();
    }
    group.settles();
    group.join();
    group.settles();
    group.crash();
    group.settles();
    site.server.kill();
    for worker in 0..subjects.len() {
        group.members.idle(worker);
    }
    site.server.restart();
    group.settles();
}
