//! A TCP proxy that loses answers and goes silent.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

/// Stands between a client and a server on the loopback interface.
///
/// Its threads end with the process; its connections with their ends.
#[derive(Debug)]
pub struct FaultProxy {
    port: u16,
    to_lose: Arc<AtomicU32>,
    lost: Arc<AtomicU32>,
    /// Connections of earlier ages are silent.
    age: Arc<AtomicU32>,
}

impl FaultProxy {
    /// Starts to forward to this port of 127.0.0.1.
    ///
    /// # Panics
    /// If no port is free.
    pub fn start(server: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("the port").port();
        let proxy =
            Self { port, to_lose: Arc::default(), lost: Arc::default(), age: Arc::default() };
        let (to_lose, lost) = (Arc::clone(&proxy.to_lose), Arc::clone(&proxy.lost));
        let age = Arc::clone(&proxy.age);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { continue };
                forward(client, server, Arc::clone(&to_lose), Arc::clone(&lost), &age);
            }
        });
        proxy
    }

    /// The port on 127.0.0.1 to connect to.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Loses the next answers that contain a registration that was counted: each time the
    /// request was executed and the client's connection is closed instead of answered.
    pub fn lose_replies(&self, count: u32) {
        self.to_lose.store(count, Ordering::SeqCst);
    }

    /// From now on the connections that are open stay so and carry nothing, as if the other end
    /// had gone without a word. New ones work.
    pub fn silence(&self) {
        self.age.fetch_add(1, Ordering::SeqCst);
    }

    /// How many were lost so far.
    pub fn lost(&self) -> u32 {
        self.lost.load(Ordering::SeqCst)
    }
}

/// What becomes of bytes on their way.
enum Fate {
    Passed,
    Swallowed,
    /// And both ends are closed.
    Lost,
}

fn forward(
    client: TcpStream,
    server: TcpStream,
    to_lose: Arc<AtomicU32>,
    lost: Arc<AtomicU32>,
    age: &Arc<AtomicU32>,
) {
    let (Ok(from_client), Ok(from_server)) = (client.try_clone(), server.try_clone()) else {
        return;
    };
    let opened = age.load(Ordering::SeqCst);
    let age_there = Arc::clone(age);
    let age_back = Arc::clone(age);
    thread::spawn(move || {
        pump(from_client, server, |_| {
            let silent = age_there.load(Ordering::SeqCst) != opened;
            if silent { Fate::Swallowed } else { Fate::Passed }
        });
    });
    thread::spawn(move || {
        pump(from_server, client, |answer| {
            if age_back.load(Ordering::SeqCst) != opened {
                return Fate::Swallowed;
            }
            let counted = answer.windows(3).any(|bytes| bytes == b"ok ");
            let take = |left: u32| left.checked_sub(1);
            let lose_it =
                counted && to_lose.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_ok();
            if lose_it {
                lost.fetch_add(1, Ordering::SeqCst);
                return Fate::Lost;
            }
            Fate::Passed
        });
    });
}

/// Copies until either end closes or bytes are lost, then closes both.
fn pump(mut from: TcpStream, mut to: TcpStream, mut fate: impl FnMut(&[u8]) -> Fate) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        match fate(&buffer[..count]) {
            Fate::Passed if to.write_all(&buffer[..count]).is_ok() => {}
            Fate::Swallowed => {}
            Fate::Passed | Fate::Lost => break,
        }
    }
    // They may be closed already.
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
