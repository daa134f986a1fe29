//! Random inputs: mostly such as a healthy group gives, so that leases are granted and lost,
//! and now and then anything at all.

use std::time::Duration;

use n_and_i_core::{Failure, Rebalance, ServerTime, Timing};
use proptest::collection::vec;
use proptest::prelude::*;

/// One input, the time that passes before it, and what happens to the server's clock meanwhile.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Step {
    pub(crate) wait: Wait,
    pub(crate) input: Input,
    /// In thousandths of an interval.
    pub(crate) server_jump: i64,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Wait {
    Nothing,
    Nanos(u64),
    /// The clock goes back, which the embedder must not let happen.
    Back(u64),
    /// Of an interval.
    Thousandths(u32),
    /// Until the machine's deadline, and this many nanoseconds more or less.
    Deadline(i64),
    /// Until a registration is in flight, every deadline handled in time, and then this many
    /// thousandths of an interval and nanoseconds without handling any.
    Request(u32, u64),
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Input {
    Reply(Answer),
    Failure(Failure),
    Timeout,
    Stop,
}

/// A reply, relative to what the server would answer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Answer {
    /// Whether it is to the latest attempt, or to one that many before.
    pub(crate) attempts_ago: usize,
    pub(crate) index: u32,
    pub(crate) replicas: Option<u32>,
    /// When it was counted, in thousandths of the time between sending and arrival.
    pub(crate) counted: u64,
    pub(crate) previous_stamp: PreviousStamp,
    pub(crate) nonsense: Nonsense,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum PreviousStamp {
    Same,
    Another,
    Unknown,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Nonsense {
    None,
    Interval(u64),
    At(ServerTime),
}

/// Several steps, more in a row than a lease takes to be granted and lost.
pub(crate) fn sequence<S: Strategy>(step: S) -> impl Strategy<Value = Vec<S::Value>> {
    vec(step, 0..60)
}

/// A registration that ends somehow, in time or just too late.
pub(crate) fn cycle() -> impl Strategy<Value = Step> {
    let delay = prop_oneof![4 => 0_u32..=10, 2 => 0_u32..300, 1 => 0_u32..=1_000];
    let input =
        prop_oneof![6 => reply().prop_map(Input::Reply), 1 => failure().prop_map(Input::Failure)];
    (delay, 0_u64..2_000, input).prop_map(|(delay, nanos, input)| Step {
        wait: Wait::Request(delay, nanos),
        input,
        server_jump: 0,
    })
}

/// Anything.
pub(crate) fn any_step() -> impl Strategy<Value = Step> {
    let odd = (any_wait(), any_input(), server_jump())
        .prop_map(|(wait, input, server_jump)| Step { wait, input, server_jump });
    prop_oneof![5 => cycle(), 1 => odd]
}

/// Anything, and a clock that goes back.
pub(crate) fn even_worse_step() -> impl Strategy<Value = Step> {
    let back = (1_u64..u64::MAX, 0_u32..64, any_input()).prop_map(|(nanos, shift, input)| Step {
        wait: Wait::Back(nanos >> shift),
        input,
        server_jump: 0,
    });
    prop_oneof![4 => any_step(), 1 => back]
}

fn any_wait() -> impl Strategy<Value = Wait> {
    prop_oneof![
        Just(Wait::Nothing),
        (1_u64..=2_000).prop_map(Wait::Nanos),
        (0_u32..2_000).prop_map(Wait::Thousandths),
        (0_u32..1_000_000).prop_map(Wait::Thousandths),
        (-1_i64..=1).prop_map(Wait::Deadline),
    ]
}

fn any_input() -> impl Strategy<Value = Input> {
    prop_oneof![
        20 => Just(Input::Timeout),
        10 => any_answer().prop_map(Input::Reply),
        5 => failure().prop_map(Input::Failure),
        5 => any_server_time().prop_map(|at| Input::Failure(Failure::TooLate { at })),
        2 => Just(Input::Stop),
    ]
}

fn server_jump() -> impl Strategy<Value = i64> {
    prop_oneof![6 => Just(0_i64), 2 => -30_i64..=30, 1 => -5_000_i64..=5_000]
}

fn reply() -> impl Strategy<Value = Answer> {
    let index = prop_oneof![8 => Just(0), 1 => 0_u32..4];
    let replicas = prop_oneof![8 => Just(Some(2)), 1 => Just(None), 1 => (1_u32..4).prop_map(Some)];
    let previous_stamp = prop_oneof![
        18 => Just(PreviousStamp::Same),
        1 => Just(PreviousStamp::Another),
        1 => Just(PreviousStamp::Unknown),
    ];
    (index, replicas, 0_u64..=1_000, previous_stamp).prop_map(
        |(index, replicas, counted, previous_stamp)| Answer {
            attempts_ago: 0,
            index,
            replicas,
            counted,
            previous_stamp,
            nonsense: Nonsense::None,
        },
    )
}

fn any_answer() -> impl Strategy<Value = Answer> {
    let index = prop_oneof![4 => 0_u32..4, 1 => u32::MAX - 2..=u32::MAX];
    let replicas = prop_oneof![4 => 0_u32..4, 1 => u32::MAX - 1..=u32::MAX];
    let nonsense = prop_oneof![
        4 => Just(Nonsense::None),
        1 => any::<u64>().prop_map(Nonsense::Interval),
        1 => any_server_time().prop_map(Nonsense::At),
    ];
    (reply(), 0_usize..3, index, proptest::option::of(replicas), nonsense).prop_map(
        |(reply, attempts_ago, index, replicas, nonsense)| Answer {
            attempts_ago,
            index,
            replicas,
            nonsense,
            ..reply
        },
    )
}

fn failure() -> impl Strategy<Value = Failure> {
    let group = prop_oneof![
        3 => (0_u64..100_000).prop_map(Duration::from_millis),
        1 => Just(Duration::MAX),
    ];
    prop_oneof![
        3 => Just(Failure::NotExecuted),
        1 => Just(Failure::Repeatable),
        3 => Just(Failure::Unknown),
        1 => group.prop_map(|group| Failure::IntervalMismatch { group }),
    ]
}

/// Also such as no machine accepts.
fn any_server_time() -> impl Strategy<Value = ServerTime> {
    let max = ServerTime::MAX.as_micros();
    prop_oneof![Just(0), 0..=max, Just(max), Just(max + 1), Just(u64::MAX),]
        .prop_map(ServerTime::from_micros)
}

/// An interval and a gap such as a group may have.
pub(crate) fn any_group() -> impl Strategy<Value = (Timing, Rebalance)> {
    (any_timing(), prop_oneof![Just(Rebalance::StandDown), Just(Rebalance::KeepServing)])
}

fn any_timing() -> impl Strategy<Value = Timing> {
    let interval = prop_oneof![Just(1_000_u64), 1_u64..100_000];
    let gap = prop_oneof![Just(Timing::DEFAULT_GAP), 0.01..0.49];
    timing(interval, gap)
}

/// The bounds of what a machine can be made with.
pub(crate) fn extreme_timing() -> impl Strategy<Value = Timing> {
    let longest = u64::try_from(Timing::MAX_INTERVAL.as_millis()).expect("49 days fit");
    let interval = prop_oneof![Just(1), Just(longest)];
    let gap = prop_oneof![Just(0.000_001), Just(0.499_999)];
    timing(interval, gap)
}

fn timing(
    interval: impl Strategy<Value = u64>,
    gap: impl Strategy<Value = f64>,
) -> impl Strategy<Value = Timing> {
    (interval, gap).prop_map(|(interval, gap)| {
        Timing::new(Duration::from_millis(interval), gap).expect("within the bounds")
    })
}
