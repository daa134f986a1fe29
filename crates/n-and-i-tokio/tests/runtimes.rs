//! Where a worker may run, and what happens where it may not.

use std::convert::Infallible;
use std::time::Duration;

use n_and_i::{Config, Finished, Lease, MemoryRegistry, Peers, Reason, StopHandle};
use n_and_i_tokio::{NoRuntime, discover};
use tokio::runtime::{Builder, Runtime};

fn config() -> Config {
    Config::new("runtimes", Duration::from_millis(100)).unwrap()
}

async fn until_owned(peers: &mut Peers) {
    while peers.next().await.expect("the worker goes on").lease().is_none() {}
}

#[test]
fn outside_a_runtime_is_an_error_that_says_what_to_do() {
    let error = discover(MemoryRegistry::new(), config()).unwrap_err();
    assert_eq!(error, NoRuntime);
    assert!(error.to_string().contains("Runtime::enter"), "{error}");
}

#[test]
#[should_panic(expected = "time")]
fn without_a_time_driver_the_caller_is_told() {
    let runtime = Builder::new_current_thread().build().unwrap();
    runtime.block_on(async { drop(discover(MemoryRegistry::new(), config())) });
}

#[test]
fn an_entered_runtime_is_enough() {
    let runtime = Runtime::new().unwrap();
    let mut peers = {
        let _entered = runtime.enter();
        discover(MemoryRegistry::new(), config()).unwrap()
    };
    // The consumer may live on any executor.
    futures_lite::future::block_on(until_owned(&mut peers));
}

/// Its drains take their timer from the runtime that the worker is on.
#[test]
fn the_run_loop_may_live_on_any_executor() {
    let runtime = Runtime::new().unwrap();
    let peers = {
        let _entered = runtime.enter();
        discover(MemoryRegistry::new(), config()).unwrap()
    };
    let stop = peers.stop_handle();
    let work = async |lease: Lease| {
        stop.stop();
        lease.ended().await;
        std::future::pending::<Result<(), Infallible>>().await
    };
    assert_eq!(futures_lite::future::block_on(peers.run(work)), Ok(Finished::Stopped));
}

#[test]
fn a_runtime_that_shuts_down_ends_the_stream_in_order() {
    for owning in [true, false] {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let (mut peers, lease) = runtime.block_on(async {
            let mut peers = discover(MemoryRegistry::new(), config()).unwrap();
            let mut lease = None;
            while owning && lease.is_none() {
                lease = peers.next().await.unwrap().lease().cloned();
            }
            (peers, lease)
        });
        drop(runtime);
        assert!(!lease.is_some_and(|lease| lease.is_live()));
        futures_lite::future::block_on(async {
            if owning {
                assert_eq!(peers.next().await.unwrap().reason(), Some(Reason::Stopped));
            }
            assert!(peers.next().await.is_none());
        });
    }
}

#[test]
fn the_stream_is_a_stream() {
    use futures_lite::StreamExt;
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
    runtime.block_on(async {
        let peers = discover(MemoryRegistry::new(), config()).unwrap();
        let changes: Vec<_> = peers.take(2).collect().await;
        assert_eq!(changes[0].reason(), Some(Reason::Starting));
        assert!(changes[1].lease().is_some());
    });
}

#[test]
fn a_signal_that_stops_the_worker_when_dropped_is_no_deadlock() {
    struct StopsWhenDropped(StopHandle);
    impl Drop for StopsWhenDropped {
        fn drop(&mut self) {
            self.0.stop();
        }
    }

    let (done, finished) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let peers = runtime.block_on(async {
            let peers = discover(MemoryRegistry::new(), config()).unwrap();
            let guard = StopsWhenDropped(peers.stop_handle());
            peers.with_graceful_shutdown(async move {
                std::future::pending::<()>().await;
                drop(guard);
            })
        });
        // Ends the driver, which was never polled, and with it the signal.
        drop(runtime);
        drop(peers);
        done.send(()).unwrap();
    });
    finished.recv_timeout(Duration::from_secs(60)).expect("no deadlock");
}
