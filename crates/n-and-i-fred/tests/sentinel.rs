//! The primary that sentinels name.

mod support;

use std::time::Duration;

use n_and_i_test_support::SentinelSetup;
use support::{builder_at, connected, counted, group, recovers, register};

#[tokio::test]
async fn the_primary_is_followed() {
    let setup = SentinelSetup::start();
    let url = setup.urls()[0].replace("redis://", "redis-sentinel://");
    let builder = builder_at(&format!("{url}?sentinelServiceName={}", setup.name()));
    let (_client, registry) = connected(&builder).await;
    let config = group(Duration::from_secs(60));
    register(&registry, &config).await.unwrap();
    assert_eq!(counted(setup.server(0)), 1);

    setup.fail_over();
    let primary = setup.failed_over(0);
    recovers(&registry, &config).await;
    // Replicas execute what their primary does.
    assert!(counted(setup.server(primary)) >= 2);
}
