//! A computer that is busy with something else. By itself, as it would disturb other tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use n_and_i::{Config, RegistrationError, Registry, Request, Stamp};
use n_and_i_redis::RedisRegistry;
use n_and_i_test_support::{FaultProxy, RedisServer};

/// A thread may be stopped between sending a request and looking for its answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_lost_reply_is_never_taken_for_a_request_that_was_not_sent() {
    let server = RedisServer::start();
    let proxy = FaultProxy::start(server.port());
    let url = format!("redis://127.0.0.1:{}", proxy.port());
    let registry = RedisRegistry::from_client(redis::Client::open(url).unwrap());
    let config = Config::new("busy", Duration::from_secs(600)).unwrap();
    let register = || registry.register(Request::new(&config, Stamp::from_u128(1), None));
    let busy = Arc::new(AtomicBool::new(true));
    for _ in 0..4 {
        let busy = Arc::clone(&busy);
        std::thread::spawn(move || {
            while busy.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
    }
    for round in 0..150 {
        // Opens a connection.
        register().await.unwrap();
        let before = server.calls("incr");
        proxy.lose_replies(u32::MAX);
        let result = register().await;
        proxy.lose_replies(0);
        assert!(matches!(result, Err(RegistrationError::Unknown(_))), "{round}: {result:?}");
        assert_eq!(server.calls("incr"), before + 1, "{round}");
    }
    busy.store(false, Ordering::Relaxed);
}
