//! TLS in front of a server that need not know of it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// Ends TLS and forwards to a server on the loopback interface. Its thread ends with the process.
#[derive(Debug)]
pub struct TlsProxy {
    port: u16,
    authority: String,
    foreign: Arc<AtomicBool>,
}

impl TlsProxy {
    /// Starts to forward to this port of 127.0.0.1.
    ///
    /// # Panics
    /// If no port is free.
    pub fn start(server: u16) -> Self {
        let (authority, own) = identity();
        let (_, other) = identity();
        let foreign = Arc::new(AtomicBool::new(false));
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        listener.set_nonblocking(true).expect("a socket");
        let port = listener.local_addr().expect("the port").port();
        let is_foreign = Arc::clone(&foreign);
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
            runtime.expect("a Tokio runtime").block_on(async move {
                let listener = TcpListener::from_std(listener).expect("a socket");
                while let Ok((client, _)) = listener.accept().await {
                    let identity = if is_foreign.load(Ordering::SeqCst) { &other } else { &own };
                    let acceptor = TlsAcceptor::from(Arc::clone(identity));
                    tokio::spawn(async move {
                        // An error is an end of the connection: both ends see that.
                        drop(forward(acceptor, client, server).await);
                    });
                }
            });
        });
        Self { port, authority, foreign }
    }

    /// The port on 127.0.0.1 to connect to.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The certificate of the authority to trust, in PEM.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// Whether new connections are shown a certificate of another authority.
    pub fn be_foreign(&self, foreign: bool) {
        self.foreign.store(foreign, Ordering::SeqCst);
    }
}

async fn forward(acceptor: TlsAcceptor, client: TcpStream, server: u16) -> io::Result<()> {
    let mut server = TcpStream::connect(("127.0.0.1", server)).await?;
    let mut client = acceptor.accept(client).await?;
    copy_bidirectional(&mut client, &mut server).await?;
    Ok(())
}

/// An authority and a server with a certificate of it.
fn identity() -> (String, Arc<ServerConfig>) {
    let key = || KeyPair::generate().expect("a key");
    let mut parameters = CertificateParams::new([]).expect("no names");
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(parameters, key()).expect("a certificate");
    let server_key = key();
    let names = ["127.0.0.1".to_owned(), "localhost".to_owned()];
    let parameters = CertificateParams::new(names).expect("good names");
    let certificate = parameters.signed_by(&server_key, &authority).expect("a certificate");
    let secret = PrivateKeyDer::Pkcs8(server_key.serialize_der().into());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("what ring supports")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], secret)
        .expect("a certificate and its key");
    (authority.pem(), Arc::new(config))
}
