//! Clusters, and primaries that sentinels watch.

use super::network::let_it_be_noticed;
use super::{REFUSED, UNANSWERED};
use crate::row::{Back, Class, Expected, Leases, Row};
use crate::several::{Cluster, Watched};
use crate::subject::Client;

/// From when there is a server again that may count the group. The servers themselves take some time until
/// all know of each other.
const SOON: Back = Back::Within(8);
const REFUSED_THERE: Expected = REFUSED.back(SOON);
/// It was closed, or there was nobody to send it to.
const CLOSED_THERE: Expected =
    REFUSED_THERE.outcomes(&[(Class::NotExecuted, 0), (Class::Unknown, 0)]);

const FRED: &[Client] = &[Client::FredCluster];
const FRED_SILENCE: &str = "fred gives a call up after seven eighths of the interval, or when it takes the node \
    for gone, and then says that it may have been sent.";

pub(super) fn of_a_cluster() -> Vec<Row<Cluster>> {
    vec![
        Row::new(
            "slot moved (MOVED)",
            "another node is given the group's slot, with its keys",
            Cluster::new,
            |site| {
                site.strike();
                site.cluster.begin_migration(site.slot(), site.other()).finish();
                site.cluster.settled();
            },
            |_| {},
            REFUSED_THERE.leases(Leases::MayEnd),
        ),
        Row::new(
            "slot on its way (ASK)",
            "the keys of the group's slot are moved to another node; later the slot is, too",
            Cluster::new,
            |site| {
                site.strike();
                let migration = site.cluster.begin_migration(site.slot(), site.other());
                while let Some(key) = migration.keys().first() {
                    migration.move_key(key);
                }
            },
            |site| {
                site.cluster.begin_migration(site.slot(), site.other()).finish();
                site.cluster.settled();
            },
            REFUSED_THERE,
        ),
        Row::new(
            "primary killed",
            "the node that serves the group is killed; its replica takes over",
            Cluster::with_replicas,
            |site| {
                let primary = site.strike();
                site.cluster.kill(primary);
                let_it_be_noticed();
            },
            |site| {
                site.cluster.failed_over(site.slot(), site.broken);
            },
            CLOSED_THERE,
        ),
        Row::new(
            "node stopped and resumed",
            "SIGSTOP of the node that serves the group; SIGCONT after three calls were given up",
            Cluster::new,
            |site| {
                let primary = site.strike();
                site.cluster.suspend(primary);
            },
            |site| {
                site.cluster.resume(site.broken);
                site.cluster.settled();
            },
            UNANSWERED.back(SOON),
        )
        .calls(3)
        .but(FRED, CLOSED_THERE, FRED_SILENCE),
        Row::new(
            "reply lost",
            "every registration is executed and its connection closed instead of answered",
            Cluster::behind_proxies,
            |site| site.proxies.iter().for_each(|proxy| proxy.lose_replies(u32::MAX)),
            |site| site.proxies.iter().for_each(|proxy| proxy.lose_replies(0)),
            REFUSED_THERE.outcomes(&[(Class::Unknown, 1)]),
        ),
    ]
}

pub(super) fn of_sentinels() -> Vec<Row<Watched>> {
    vec![
        Row::new(
            "primary killed",
            "SIGKILL; the sentinels choose another",
            Watched::new,
            |site| {
                site.setup.server_mut(0).kill();
                let_it_be_noticed();
            },
            |site| site.failed_over(),
            CLOSED_THERE,
        ),
        Row::new(
            "primary stopped",
            "SIGSTOP; the sentinels choose another; SIGCONT",
            Watched::new,
            |site| site.setup.server(0).suspend(),
            |site| {
                site.failed_over();
                site.setup.server(0).resume();
            },
            UNANSWERED.outcomes(&[(Class::GivenUp, 0), (Class::Unknown, 0)]).back(SOON),
        ),
        Row::new(
            "primary replaced",
            "the sentinels are told to choose another although the primary is well",
            Watched::new,
            |site| {
                site.setup.fail_over();
                site.failed_over();
            },
            |_| {},
            REFUSED_THERE
                .outcomes(&[(Class::NotExecuted, 0), (Class::Unknown, 0), (Class::Succeeds, 1)])
                .leases(Leases::MayEnd),
        ),
    ]
}
