use crate::support::{Counted, Worker, counted, implied, pair};

struct Case {
    name: &'static str,
    /// When the worker starts and is counted for the first time.
    start: u64,
    first: Counted,
    /// The drift of the server's clock before the second reply, too small to be a step.
    drift: i64,
    second: Counted,
    implied: Option<(u32, u32)>,
}

#[test]
fn a_pair_is_the_held_index_and_the_count_of_the_interval_it_is_from() {
    let normal = Case {
        name: "",
        start: 400,
        first: counted(1, None),
        drift: 0,
        second: counted(1, 3),
        implied: None,
    };
    let cases = [
        Case {
            name: "the index is the held one",
            second: counted(2, 3),
            implied: Some((1, 3)),
            ..normal
        },
        Case {
            name: "the count is the new one",
            first: counted(1, 9),
            implied: Some((1, 3)),
            ..normal
        },
        Case { name: "the last index", first: counted(2, None), implied: Some((2, 3)), ..normal },
        Case { name: "an index equal to the count", first: counted(3, None), ..normal },
        Case { name: "an index beyond the count", first: counted(u32::MAX - 1, None), ..normal },
        Case { name: "count unknown", first: counted(1, 3), second: counted(1, None), ..normal },
        Case { name: "count zero", second: counted(0, 0), ..normal },
        // The last two name the stamp of the held index, so that only the interval speaks
        // against it. This one is sent in interval 101, counted in 102.
        Case {
            name: "an interval skipped",
            start: 990,
            second: counted(1, 3).outward(20).previous_stamp(100),
            ..normal
        },
        // Sent an interval later, but counted at phase 965 of the same one.
        Case {
            name: "the same interval twice",
            start: 5,
            drift: -40,
            second: counted(1, 3).previous_stamp(100),
            ..normal
        },
    ];
    for case in cases {
        let mut worker = Worker::start(case.start);
        worker.register(case.first);
        assert_eq!(implied(&worker.take()), None, "{}: nothing held yet", case.name);

        worker.step_server(case.drift);
        worker.register(case.second);
        let expected = case.implied.map(|(i, n)| pair(i, n));
        assert_eq!(implied(&worker.take()), expected, "{}", case.name);
        assert_eq!(worker.machine.lease(), None, "{}: one implied pair is not owned", case.name);
    }
}
