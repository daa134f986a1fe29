//! Redis behind TLS.

use std::net::TcpListener;

use n_and_i_test_support::RedisServer;

use crate::child::{Program, program};

#[test]
fn rediss_works_with_a_certificate_that_the_system_trusts() {
    let directory = tempfile::tempdir().unwrap();
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate = directory.path().join("certificate.pem");
    let key = directory.path().join("key.pem");
    std::fs::write(&certificate, certified.cert.pem()).unwrap();
    std::fs::write(&key, certified.signing_key.serialize_pem()).unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let _server = RedisServer::start_with(&[
        "--tls-port",
        &port.to_string(),
        "--tls-cert-file",
        certificate.to_str().unwrap(),
        "--tls-key-file",
        key.to_str().unwrap(),
        "--tls-ca-cert-file",
        certificate.to_str().unwrap(),
        "--tls-auth-clients",
        "no",
    ]);

    let url = format!("rediss://localhost:{port}");
    let arguments = ["watch", "--name", "x", "--interval", "1s", "--redis", &url];
    let trusting = Program::run(program(&arguments).env("SSL_CERT_FILE", &certificate));
    trusting.wait_for("owns 0 of 1");
    let mistrusting = Program::start(&arguments);
    let line = mistrusting.wait_for_error("certificate");
    assert!(line.contains("registration failed"), "{line}");
}
