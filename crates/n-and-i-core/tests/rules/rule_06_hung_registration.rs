use n_and_i_core::{Diagnostic, Failure, Output, Rejected, ServerTime};

use crate::support::{Counted, INTERVAL, Worker, at, counted, just_before, millis, server};

#[test]
fn a_registration_is_given_up_after_exactly_one_interval() {
    let mut worker = Worker::start(400);
    worker.take();
    let hung = worker.request;
    assert_eq!(worker.machine.poll_timeout(), Some(at(400 + INTERVAL)));

    let before = worker.machine.clone();
    worker.wake(just_before(at(400 + INTERVAL)));
    assert_eq!((worker.take(), &worker.machine), (vec![], &before));

    worker.wake(at(400 + INTERVAL));
    let next = worker.request.attempt;
    let gave_up = Diagnostic::RegistrationFailed { gave_up: true, attempt: 1, delay: millis(0) };
    assert_eq!(
        worker.take(),
        [
            Output::Report(gave_up),
            Output::Register { attempt: next, not_after: None },
            Output::ScheduleAt(at(1_600)),
        ]
    );
    assert_ne!(next, hung.attempt);
    assert_eq!(worker.machine.in_flight(), Some(next));
}

#[test]
fn a_registration_is_never_waited_for_for_good() {
    let mut worker = Worker::start(400);
    let mut attempts = vec![worker.request.attempt];
    for round in 1..=20 {
        worker.sleep_until(400 + round * INTERVAL);
        assert_eq!(worker.request.sent, at(400 + round * INTERVAL));
        attempts.push(worker.request.attempt);
    }
    assert!(attempts.is_sorted_by(|earlier, later| earlier < later), "{attempts:?}");
    worker.register_all([counted(0, None), counted(0, 1), counted(0, 1)]);
    assert!(worker.machine.lease().is_some());
}

#[test]
fn answers_to_an_attempt_that_is_over_are_refused() {
    let reply = counted(0, 1).reply(server(450));
    let given_up = Worker::start(400);

    let mut handled = given_up.clone();
    handled.sleep_until(400 + INTERVAL);
    let mut answered = given_up.clone();
    answered.register(counted(0, None));
    let mut failed = given_up.clone();
    failed.fail(10, Failure::NotExecuted);
    let mut stopped = given_up.clone();
    stopped.stop(at(410));

    let cases = [
        // The answer is the first thing that the worker sees after its deadline.
        ("due to be given up", given_up.clone(), at(400 + INTERVAL)),
        ("given up", handled, at(401 + INTERVAL)),
        ("answered", answered, at(410)),
        ("failed", failed, at(420)),
        ("stopped", stopped, at(420)),
    ];
    let attempt = given_up.request.attempt;
    for (name, mut worker, now) in cases {
        worker.take();
        let expected = Rejected::NotInFlight { attempt };
        let rejected = worker.reject(|machine| machine.handle_reply(now, attempt, reply));
        assert_eq!(rejected, expected, "{name}");
        let rejected =
            worker.reject(|machine| machine.handle_failure(now, attempt, Failure::Unknown));
        assert_eq!(rejected, expected, "{name}");
    }

    let mut in_time = given_up;
    in_time.reply(just_before(at(400 + INTERVAL)), reply);
}

#[test]
fn a_request_carries_the_server_time_at_which_it_is_given_up_estimated_low() {
    let cases: [(&str, Counted, u64); 4] = [
        ("at once", counted(1, 3), 1_500 + INTERVAL),
        ("slow there", counted(1, 3).outward(100), 1_500 + INTERVAL),
        // Sent at 1,600; as far as the worker knows the server may have counted just when the
        // reply arrived, so that its time may be as low as 1,500 then.
        ("slow back", counted(1, 3).inward(100), 1_600 + INTERVAL - 100),
        ("slow both ways", counted(1, 3).outward(30).inward(70), 1_570 + INTERVAL - 70),
    ];
    for (name, reply, not_after) in cases {
        let mut worker = Worker::start(400);
        assert_eq!(worker.request.not_after, None, "{name}: nothing known of the server yet");
        worker.register(reply);
        assert_eq!(worker.await_request().not_after, Some(server(not_after)), "{name}");

        // The estimate holds for the next attempts, too.
        worker.fail(10, Failure::NotExecuted);
        let retry = server(not_after).as_micros() + (10 + INTERVAL / 8) * 1_000;
        let retry = Some(ServerTime::from_micros(retry));
        assert_eq!(worker.await_request().not_after, retry, "{name}");
    }
}

#[test]
fn a_failure_tells_nothing_of_the_server_time() {
    let mut worker = Worker::start(400);
    worker.fail(10, Failure::Unknown);
    worker.fail(10, Failure::NotExecuted);
    assert_eq!(worker.await_request().not_after, None);
}
