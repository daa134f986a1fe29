//! Where a server is and how to talk to it, and the clients' words for that.

use std::path::PathBuf;
use std::sync::Arc;

use fred::types::RespVersion;
use fred::types::config::{Config as FredConfig, ServerConfig, TlsConfig};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

/// An address with all that a client needs to know.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Where.
    pub address: Address,
    /// Name and password.
    pub user: Option<(&'static str, &'static str)>,
    /// Whether to speak RESP3.
    pub resp3: bool,
}

/// Where a server listens.
#[derive(Clone, Debug)]
pub enum Address {
    /// A port of 127.0.0.1.
    Tcp(u16),
    /// The same with TLS, with a certificate of this authority, in PEM.
    Tls(u16, String),
    /// A socket in the file system.
    Unix(PathBuf),
    /// The nodes of a cluster: ports of 127.0.0.1.
    Cluster(Vec<u16>),
    /// URLs of sentinels, and what they call the primary.
    Sentinels(Vec<String>, &'static str),
}

impl Endpoint {
    /// A port of 127.0.0.1, with the clients' defaults.
    pub fn tcp(port: u16) -> Self {
        Self::at(Address::Tcp(port))
    }

    /// An address, with the clients' defaults.
    pub fn at(address: Address) -> Self {
        Self { address, user: None, resp3: false }
    }

    /// A client of redis-rs for one server.
    ///
    /// # Panics
    /// If these are several servers.
    pub fn redis(&self) -> redis::Client {
        let user = self.user.map_or_else(String::new, |(name, pass)| format!("{name}:{pass}@"));
        let protocol = if self.resp3 { "resp3" } else { "resp2" };
        let opened = match &self.address {
            Address::Tcp(port) => {
                redis::Client::open(format!("redis://{user}127.0.0.1:{port}/?protocol={protocol}"))
            }
            Address::Tls(port, authority) => redis::Client::build_with_tls(
                format!("rediss://{user}127.0.0.1:{port}/?protocol={protocol}"),
                redis::TlsCertificates {
                    client_tls: None,
                    root_cert: Some(authority.clone().into_bytes()),
                },
            ),
            Address::Cluster(_) | Address::Sentinels(..) => panic!("several servers"),
            Address::Unix(path) => {
                let path = path.display();
                redis::Client::open(format!("redis+unix://{path}?protocol={protocol}"))
            }
        };
        opened.expect("a well-formed address")
    }

    /// What clients of fred are made with.
    ///
    /// # Panics
    /// Never: the certificate is well-formed.
    pub fn fred(&self) -> FredConfig {
        let server = match &self.address {
            Address::Tcp(port) | Address::Tls(port, _) => {
                ServerConfig::new_centralized("127.0.0.1", *port)
            }
            Address::Unix(path) => ServerConfig::new_unix_socket(path),
            Address::Cluster(ports) => {
                ServerConfig::new_clustered(ports.iter().map(|port| ("127.0.0.1", *port)).collect())
            }
            Address::Sentinels(urls, name) => ServerConfig::new_sentinel(
                urls.iter().map(|url| host_and_port(url)).collect(),
                *name,
            ),
        };
        let tls = match &self.address {
            Address::Tls(_, authority) => Some(trusting(authority)),
            _ => None,
        };
        FredConfig {
            server,
            tls,
            username: self.user.map(|(name, _)| name.to_owned()),
            password: self.user.map(|(_, password)| password.to_owned()),
            version: if self.resp3 { RespVersion::RESP3 } else { RespVersion::RESP2 },
            ..FredConfig::default()
        }
    }
}

fn host_and_port(url: &str) -> (&str, u16) {
    let address = url.trim_start_matches("redis://").trim_end_matches('/');
    let (host, port) = address.split_once(':').expect("an address with a port");
    (host, port.parse().expect("a port"))
}

fn trusting(authority: &str) -> TlsConfig {
    let certificate = CertificateDer::from_pem_slice(authority.as_bytes()).expect("a certificate");
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate).expect("a certificate of an authority");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("what ring supports")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.into()
}
