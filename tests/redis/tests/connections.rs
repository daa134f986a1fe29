//! Every way to reach a server that redis-rs offers.

use std::fs;
use std::time::Duration;

use n_and_i::{Config, RegistrationError, Registry, Request, Stamp};
use n_and_i_redis::RedisRegistry;
use n_and_i_test_support::{Group, RedisServer};

/// A group settles through this client.
async fn works(client: redis::Client) {
    let registry = RedisRegistry::from_client(client);
    let config = Config::new("reached", Duration::from_millis(200)).unwrap();
    let mut group = Group::new();
    group.join(registry.clone(), &config);
    group.join(registry, &config);
    group.settled().await;
    group.check();
}

fn open(url: &str) -> redis::Client {
    redis::Client::open(url).unwrap()
}

#[tokio::test]
async fn by_either_protocol() {
    let server = RedisServer::start();
    works(open(&format!("{}?protocol=resp2", server.url()))).await;
    works(open(&format!("{}?protocol=resp3", server.url()))).await;
}

#[tokio::test]
async fn with_user_password_and_database() {
    let server = RedisServer::start();
    let rules = ["on", ">se:cret", "~*", "+@all"];
    server.command::<String>(&[&["ACL", "SETUSER", "worker"], &rules[..]].concat());
    works(open(&format!("redis://worker:se%3Acret@127.0.0.1:{}/5", server.port()))).await;
    let keyspace: String = server.command(&["INFO", "keyspace"]);
    assert!(keyspace.contains("db5:") && !keyspace.contains("db0:"), "{keyspace}");

    server.command::<String>(&["CONFIG", "SET", "requirepass", "secret"]);
    works(open(&format!("redis://:secret@127.0.0.1:{}/", server.port()))).await;
}

#[tokio::test]
async fn through_a_unix_socket() {
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("redis.sock");
    let path = socket.to_str().unwrap();
    let _server = RedisServer::start_with(&["--unixsocket", path]);
    works(open(&format!("redis+unix://{path}"))).await;
}

#[tokio::test]
async fn over_tls_with_an_authority_of_its_own() {
    let authority_key = rcgen::KeyPair::generate().unwrap();
    let mut parameters = rcgen::CertificateParams::new([]).unwrap();
    parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let authority = rcgen::CertifiedIssuer::self_signed(parameters, authority_key).unwrap();
    let key = rcgen::KeyPair::generate().unwrap();
    let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
    let parameters = rcgen::CertificateParams::new(names).unwrap();
    let certificate = parameters.signed_by(&key, &authority).unwrap();

    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| {
        let path = directory.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let authority_file = write("authority.pem", authority.pem());
    let certificate_file = write("server.pem", certificate.pem());
    let key_file = write("server.key", key.serialize_pem());
    // The port for TLS is the one beside the plain one, which was free a moment ago.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let _server = RedisServer::start_with(&[
        "--tls-port",
        &port.to_string(),
        "--tls-cert-file",
        &certificate_file,
        "--tls-key-file",
        &key_file,
        "--tls-ca-cert-file",
        &authority_file,
        "--tls-auth-clients",
        "no",
    ]);

    rustls::crypto::ring::default_provider().install_default().unwrap();
    let url = format!("rediss://127.0.0.1:{port}/");
    let certificates =
        redis::TlsCertificates { client_tls: None, root_cert: Some(authority.pem().into_bytes()) };
    works(redis::Client::build_with_tls(url.as_str(), certificates).unwrap()).await;

    // An authority that is not trusted is a failed registration, not a panic.
    let registry = RedisRegistry::from_client(open(&url));
    let config = Config::new("untrusted", Duration::from_millis(200)).unwrap();
    let request = Request::new(&config, Stamp::from_u128(1), None);
    let error = registry.register(request).await.unwrap_err();
    assert!(format!("{error:?}").to_lowercase().contains("certificate"), "{error:?}");
}

#[tokio::test]
async fn on_any_flavour_of_runtime() {
    let server = RedisServer::start();
    let url = server.url();
    for threads in [None, Some(1), Some(3)] {
        let url = url.clone();
        // A runtime cannot be made on a thread that drives one.
        let run = move || {
            let mut builder = match threads {
                None => tokio::runtime::Builder::new_current_thread(),
                Some(_) => tokio::runtime::Builder::new_multi_thread(),
            };
            let runtime = builder.worker_threads(threads.unwrap_or(1)).enable_all().build();
            runtime.unwrap().block_on(works(open(&url)));
        };
        tokio::task::spawn_blocking(run).await.unwrap();
    }
}

#[test]
fn a_password_is_not_shown() {
    let registry = RedisRegistry::from_client(open("redis://worker:secret@127.0.0.1/"));
    assert!(!format!("{registry:?}").contains("secret"));
}

/// Registers by hand.
async fn register(registry: &RedisRegistry) -> Result<u32, RegistrationError> {
    let config = Config::new("by-hand", Duration::from_secs(5)).unwrap();
    let request = Request::new(&config, Stamp::from_u128(1), None);
    registry.register(request).await.map(|registered| registered.reply.index)
}

/// The server's numbers of the connections other than the one that asks.
fn connections(server: &RedisServer) -> Vec<String> {
    let list: String = server.command(&["CLIENT", "LIST", "TYPE", "normal"]);
    let others = list.lines().filter(|line| !line.contains("cmd=client"));
    others.filter_map(|line| line.split(' ').next().map(ToOwned::to_owned)).collect()
}

#[tokio::test]
async fn a_connection_that_was_closed_while_idle_costs_nothing() {
    let server = RedisServer::start();
    let registry = RedisRegistry::from_client(server.client());
    register(&registry).await.unwrap();
    for _ in 0..5 {
        server.command::<u64>(&["CLIENT", "KILL", "TYPE", "normal"]);
        // The client's end learns of it by itself.
        tokio::time::sleep(Duration::from_millis(300)).await;
        register(&registry).await.unwrap();
    }
}

#[tokio::test]
async fn a_server_that_is_the_wrong_one_is_not_asked_again() {
    let server = RedisServer::start();
    let registry = RedisRegistry::from_client(server.client());
    let set = |value: &str| {
        server.command::<String>(&["CONFIG", "SET", "min-replicas-to-write", value]);
    };
    register(&registry).await.unwrap();
    let first = connections(&server);
    assert_eq!(first.len(), 1);
    register(&registry).await.unwrap();
    assert_eq!(connections(&server), first, "the connection is kept");

    set("1");
    let error = register(&registry).await.unwrap_err();
    assert!(matches!(error, RegistrationError::NotExecuted(_)), "{error:?}");
    set("0");
    register(&registry).await.unwrap();
    assert_ne!(connections(&server), first, "a cut off primary may have been replaced");
}

#[tokio::test]
async fn a_counter_with_an_odd_value_is_no_closing_count() {
    let server = RedisServer::start();
    let registry = RedisRegistry::from_client(server.client());
    let config = Config::new("odd", Duration::from_millis(500)).unwrap();
    let mut values = ["3.5", "nan", "1e15", "0x10", "-4", "99999999999"].into_iter();
    let mut value = values.next();
    let mut last = 0;
    while let Some(odd) = value {
        let request = Request::new(&config, Stamp::from_u128(1), None);
        let reply = registry.register(request).await.unwrap().reply;
        if last != 0 && reply.interval == last + 1 {
            assert_eq!((reply.replicas, reply.previous_stamp), (None, None), "{odd}");
            value = values.next();
        }
        if reply.interval != last {
            last = reply.interval;
            let key = format!("{{odd}}:{last}");
            server.command::<String>(&["SET", &key, value.unwrap_or("0"), "PX", "1500"]);
        }
        while registry_time(&server) / 500 == last {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

fn registry_time(server: &RedisServer) -> u64 {
    let (seconds, micros): (u64, u64) = server.command(&["TIME"]);
    seconds * 1000 + micros / 1000
}

#[tokio::test]
async fn what_is_refused_after_counting_may_have_been_counted() {
    let server = RedisServer::start();
    let grant = |rules: &[&str]| {
        server.command::<String>(&[&["ACL", "SETUSER", "worker"], rules].concat());
    };
    grant(&["on", ">secret", "~*", "+@all"]);
    let url = format!("redis://worker:secret@127.0.0.1:{}/", server.port());
    let registry = RedisRegistry::from_client(open(&url));
    // In one interval: the second registration finds the counter and the guard.
    while registry_time(&server) % 5000 > 3000 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(register(&registry).await.unwrap(), 0);
    grant(&["-set"]);
    let error = register(&registry).await.unwrap_err();
    let RegistrationError::Unknown(cause) = error else { panic!("{error:?}") };
    assert!(cause.to_string().starts_with("COUNTED"), "{cause}");
    grant(&["+set"]);
    assert_eq!(register(&registry).await.unwrap(), 2);
    let keys: Vec<String> = server.command(&["KEYS", "*"]);
    for key in keys {
        assert!(server.command::<i64>(&["PTTL", &key]) > 0, "{key} never expires");
    }
}
