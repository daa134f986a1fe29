use n_and_i_core::Output;

use crate::support::{Counted, Worker, at, counted};

#[test]
fn the_next_registration_is_at_the_slot_in_the_next_interval() {
    // Sent at 400; the next interval starts at 1,000.
    let cases = [
        ("slot of 1 of 3", counted(1, 3), 1_000 + 500),
        ("slot of 0 of 3", counted(0, 3), 1_000 + 300),
        ("slot of 2 of 3", counted(2, 3), 1_000 + 700),
        ("slot of 0 of 1", counted(0, 1), 1_000 + 500),
        // Three came after two: the slot is that of 2 of 3.
        ("beyond the count", counted(2, 2), 1_000 + 700),
        ("slow there", counted(1, 3).outward(100), 1_000 + 500),
        // The worker cannot tell that the reply was slow, only that it must not be early.
        ("slow back", counted(1, 3).inward(100), 1_000 + 500 + 100),
        ("slow both ways", counted(1, 3).outward(30).inward(70), 1_000 + 500 + 70),
        ("counted in the next interval", counted(1, 3).outward(610), 2_000 + 500),
        ("count unknown", counted(1, None), 1_400),
        ("count unknown, slow there", counted(1, None).outward(100), 1_500),
        ("count unknown, slow back", counted(1, None).inward(100), 1_500),
        ("count zero", counted(1, 0), 1_400),
    ];
    for (name, reply, next) in cases {
        assert_eq!(next_request_after(reply), at(next), "{name}");
    }
}

fn next_request_after(reply: Counted) -> n_and_i_core::Instant {
    let mut worker = Worker::start(400);
    worker.register(reply);
    assert_eq!(worker.machine.in_flight(), None);
    worker.take();
    let request = worker.await_request();
    let registrations =
        worker.take().into_iter().filter(|output| matches!(output, Output::Register { .. }));
    assert_eq!(registrations.count(), 1);
    request.sent
}
