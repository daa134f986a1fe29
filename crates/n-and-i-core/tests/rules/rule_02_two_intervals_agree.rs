use crate::support::{Counted, Worker, counted};

#[test]
fn a_pair_is_owned_while_each_reply_implies_the_same_as_the_one_before() {
    let cases: [(&str, &[Counted], &[&str]); 8] = [
        ("agreement", &[counted(1, None), counted(1, 3), counted(1, 3)], &["1 of 3 since 102"]),
        ("two replies are too few", &[counted(1, None), counted(1, 3)], &[]),
        (
            "a renewal is no change and keeps the stage",
            &[counted(1, None), counted(1, 3), counted(1, 3), counted(1, 3), counted(1, 3)],
            &["1 of 3 since 102"],
        ),
        (
            "another count",
            &[counted(1, None), counted(1, 3), counted(1, 3), counted(1, 4), counted(1, 4)],
            &["1 of 3 since 102", "idle: rebalancing", "1 of 4 since 104"],
        ),
        (
            "another index",
            &[counted(1, None), counted(1, 3), counted(0, 3), counted(0, 3), counted(0, 3)],
            &["1 of 3 since 102", "idle: rebalancing", "0 of 3 since 104"],
        ),
        (
            "no pair in between",
            &[
                counted(1, None),
                counted(1, 3),
                counted(1, 3),
                counted(1, None),
                counted(1, 3),
                counted(1, 3),
            ],
            &["1 of 3 since 102", "idle: rebalancing", "1 of 3 since 105"],
        ),
        (
            "there and back",
            &[
                counted(1, None),
                counted(1, 3),
                counted(1, 3),
                counted(1, 2),
                counted(1, 3),
                counted(1, 3),
            ],
            &["1 of 3 since 102", "idle: rebalancing", "1 of 3 since 105"],
        ),
        (
            "never the same twice",
            &[counted(0, None), counted(0, 1), counted(0, 2), counted(0, 1), counted(0, 2)],
            &[],
        ),
    ];
    for (name, replies, changes) in cases {
        let mut worker = Worker::start(400);
        assert_eq!(worker.take_changes_in_words(), ["idle: starting"]);
        worker.register_all(replies.iter().copied());
        assert_eq!(worker.take_changes_in_words(), changes, "{name}");
    }
}
