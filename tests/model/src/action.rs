//! What can happen next.

use std::fmt;

/// One step of the model. Workers are named by their place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Action {
    /// Time passes to the next event.
    Wait,
    /// A worker starts, in a place where none is.
    Start(usize),
    /// A worker vanishes.
    Crash(usize),
    /// A worker is stopped in order.
    Leave(usize),
    /// A worker handles its deadline.
    Wake(usize),
    /// A worker handles the answer that has arrived first.
    Hear(usize),
    /// A worker with something to handle does not, for this many milliseconds.
    Stall(usize, u64),
    /// What becomes of the request that a worker has just made.
    Send(usize, Fate),
    /// A request that was late is executed: the one at this place in the list of messages. Its
    /// answer takes this many milliseconds.
    Execute(usize, u64),
    /// Something happens to the server just before it executes a request.
    Server(ServerFault),
}

/// What becomes of a request. Times are in milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fate {
    /// Executed and answered at once.
    Prompt,
    /// Lost, and nobody tells.
    Lost,
    /// Lost; the worker is told that it was certainly not counted.
    Refused,
    /// Lost; the worker is told that it may have been counted.
    LostUnknown,
    /// Executed; the answer is lost, and nobody tells.
    ReplyLost,
    /// Executed; the worker is told that it may have been counted.
    ReplyUnknown,
    /// Executed; the answer arrives later.
    ReplyLate(u64),
    /// Executed later.
    RequestLate(u64),
    /// Executed and answered at once, and executed again later.
    Twice(u64),
}

/// What happens to the server.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ServerFault {
    /// Its clock steps by this many milliseconds.
    Step(i64),
    /// The counter of the open interval is lost.
    LoseOpen,
    /// The counter of the interval before is lost.
    LoseClosed,
    /// The guard is lost.
    LoseGuard,
    /// Another server takes over that has not seen this many of the latest writes.
    RollBack(usize),
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wait => f.write_str("time passes"),
            Self::Start(place) => write!(f, "worker {place} starts"),
            Self::Crash(place) => write!(f, "worker {place} crashes"),
            Self::Leave(place) => write!(f, "worker {place} is stopped"),
            Self::Wake(place) => write!(f, "worker {place} handles its deadline"),
            Self::Hear(place) => write!(f, "worker {place} hears its answer"),
            Self::Stall(place, millis) => write!(f, "worker {place} stalls for {millis} ms"),
            Self::Send(place, fate) => write!(f, "worker {place}'s request is {fate}"),
            Self::Execute(_, 0) => f.write_str("a late request is executed"),
            Self::Execute(_, millis) => {
                write!(f, "a late request is executed, the answer takes {millis} ms")
            }
            Self::Server(fault) => write!(f, "the server {fault}"),
        }
    }
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prompt => f.write_str("executed"),
            Self::Lost => f.write_str("lost"),
            Self::Refused => f.write_str("refused"),
            Self::LostUnknown => f.write_str("lost, its fate reported as unknown"),
            Self::ReplyLost => f.write_str("executed, the answer lost"),
            Self::ReplyUnknown => f.write_str("executed, its fate reported as unknown"),
            Self::ReplyLate(millis) => write!(f, "executed, the answer takes {millis} ms"),
            Self::RequestLate(millis) => write!(f, "on its way for {millis} ms"),
            Self::Twice(millis) => write!(f, "executed, and will be again {millis} ms later"),
        }
    }
}

impl fmt::Display for ServerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Step(millis) => write!(f, "steps its clock by {millis} ms"),
            Self::LoseOpen => f.write_str("loses the open counter"),
            Self::LoseClosed => f.write_str("loses the closed counter"),
            Self::LoseGuard => f.write_str("loses the guard"),
            Self::RollBack(writes) => {
                write!(f, "is replaced by one without the last {writes} writes")
            }
        }
    }
}
