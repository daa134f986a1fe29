//! What a registration costs the server.

use n_and_i::scripts::{self, Call};
use n_and_i::{Request, Stamp, WorkerId};
use n_and_i_test_support::{RedisServer, eventually};
use redis::Connection;

use super::{config, present};

/// The least that a registration can do.
const LEAST: &str = "local time = redis.call('TIME')
local index = redis.call('INCR', KEYS[1])
redis.call('PEXPIRE', KEYS[1], ARGV[1])
local closed = redis.call('GET', KEYS[1] .. '1')
return string.format('ok %.0f %s %.0f', index, closed or '-1', time[1] * 1000000 + time[2])";
const WORKERS: u128 = 400;
const ROUNDS: usize = 9;
/// More than is measured on a quiet machine, so that only a change that is worth a look reaches it.
const LIMIT: f64 = 6.0;

/// The microseconds per call that the server counted since its statistics were reset.
fn measured(server: &RedisServer) -> f64 {
    let statistics: String = server.command(&["INFO", "commandstats"]);
    let line = statistics.lines().find(|line| line.starts_with("cmdstat_evalsha:")).unwrap();
    let value = line.split("usec_per_call=").nth(1).unwrap();
    server.command::<String>(&["CONFIG", "RESETSTAT"]);
    value.split(',').next().unwrap().parse().unwrap()
}

fn load(connection: &mut Connection, text: &str) -> String {
    redis::cmd("SCRIPT").arg("LOAD").arg(text).query(connection).unwrap()
}

#[test]
fn a_settled_worker_costs_little_more_than_the_least() {
    let server = RedisServer::start();
    let mut connection = server.client().get_connection().unwrap();
    let config = config("cost", 300);
    let least = load(&mut connection, LEAST);
    let call = |worker| {
        let request = Request::new(&config, Stamp::from_u128(worker), None);
        Call::register(&request.with_worker(WorkerId::from_u128(worker)))
    };
    let calls: Vec<Call> = (0..WORKERS).map(call).collect();
    assert_eq!(load(&mut connection, calls[0].script.text), calls[0].script.sha1);
    let mut ratios = Vec::new();
    let mut measured_in = 0;
    for round in 0..ROUNDS {
        let begins = || {
            let (interval, passed) = present(&server, &config);
            (interval > measured_in && passed < 0.5).then_some(interval)
        };
        let interval = eventually("the next interval begins", begins);
        let followed = interval == measured_in + 1;
        measured_in = interval;
        let mut pipeline = redis::pipe();
        for call in &calls {
            let key = scripts::guard_key(&config);
            pipeline.cmd("EVALSHA").arg(call.script.sha1).arg(1).arg(key).arg(&call.arguments);
        }
        let answers: Vec<String> = pipeline.query(&mut connection).unwrap();
        let slots = measured(&server);
        let mut pipeline = redis::pipe();
        for _ in &calls {
            pipeline.cmd("EVALSHA").arg(&least).arg(1).arg("{cost}:1").arg(900);
        }
        let _: Vec<String> = pipeline.query(&mut connection).unwrap();
        let least = measured(&server);
        if round == 0 || !followed {
            continue;
        }
        for (index, answer) in answers.iter().enumerate() {
            let reply = scripts::parse(&config, answer).unwrap().reply;
            // Otherwise it is not what is to be measured.
            assert_eq!(reply.index as usize, index, "round {round}: {answer}");
        }
        println!("{slots} against {least} microseconds");
        ratios.push(slots / least);
    }
    ratios.sort_by(f64::total_cmp);
    let median = ratios[ratios.len() / 2];
    println!("{median:.2} times the least");
    assert!(median <= LIMIT, "{median:.2} times the least: {ratios:?}");
}
