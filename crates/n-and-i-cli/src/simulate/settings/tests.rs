use super::*;

#[test]
fn durations_are_read_back() {
    for (text, expected) in [
        ("0s", "0s"),
        ("5s", "5s"),
        ("1m 30s", "90s"),
        ("1s 500ms", "1500ms"),
        ("500us", "500us"),
        ("1500ns", "1500ns"),
    ] {
        let length = humantime::parse_duration(text).unwrap();
        assert_eq!(duration(length), expected);
        assert_eq!(humantime::parse_duration(expected).unwrap(), length);
    }
}

fn settings(faults: Faulty) -> Settings {
    Settings {
        workers: 10_000,
        intervals: 1000,
        interval: Duration::from_secs(5),
        gap: 0.15,
        delay: Duration::ZERO,
        faults,
        layout: Layout::default(),
        rebalancing: Rebalancing::default(),
        mapping: Mapping::Modulo,
        course: Course::Storms,
        every: None,
        seed: 1,
    }
}

fn planned(plan: Plan, every: Option<f64>) -> Settings {
    let course = Course::Planned(plan);
    Settings { workers: 10, course, every, ..settings("none".parse().unwrap()) }
}

#[test]
fn what_can_be_counted_can_be_simulated() {
    let settings = settings("all".parse().unwrap());
    assert!(settings.scenario().is_ok());
    let too_long = Settings { interval: Duration::from_secs(3600), ..settings.clone() };
    let error = too_long.scenario().unwrap_err().to_string();
    assert!(error.contains("10000 * 1000 * 3600s, must be at most 36"), "{error}");
    let days = Duration::from_secs(50 * 24 * 60 * 60);
    let too_slow = Settings { delay: days, ..settings.clone() };
    assert!(matches!(too_slow.scenario(), Err(SettingsError::Delay(delay)) if delay == days));
    let too_wide = Settings { gap: 0.5, ..settings };
    assert!(matches!(too_wide.scenario(), Err(SettingsError::Timing(_))));
}

#[test]
fn those_who_join_are_counted_too() {
    let month = Duration::from_secs(30 * 24 * 60 * 60);
    let alone = Settings {
        workers: 1,
        interval: month,
        intervals: 12 * 100,
        ..settings("lost-reply".parse().unwrap())
    };
    assert!(alone.scenario().is_ok());
    let crowded = Settings { faults: "join=100".parse().unwrap(), ..alone };
    let error = crowded.scenario().unwrap_err().to_string();
    let expected = "is 1 * 1200 * 2592000s, must be at most 15 days with these faults";
    assert!(error.contains(expected), "{error}");
    let days = Duration::from_secs(36 * 60 * 60);
    assert!(Settings { intervals: 10, interval: days, ..crowded }.scenario().is_ok());
}

#[test]
fn clocks_may_differ_by_one_per_cent() {
    let at =
        |rate| settings(Faulty::in_group("none".parse().unwrap(), Some(rate), false, 0)).scenario();
    for good in [0.0, 0.001, 0.01] {
        assert!(at(good).is_ok(), "{good}");
    }
    for wrong in [-0.001, 0.011, f64::NAN, f64::INFINITY] {
        let error = at(wrong).unwrap_err().to_string();
        let expected = format!("clock-rate is {wrong}, must be from 0 to 0.01 (one per cent)");
        assert_eq!(error, expected);
    }
}

#[test]
fn only_counters_are_for_workers_that_know_nothing_else() {
    let at = |layout, foreign| {
        let faults = Faulty::in_group("none".parse().unwrap(), None, false, foreign);
        Settings { layout, ..settings(faults) }.scenario()
    };
    for (layout, foreign) in [(Layout::Counters, 0), (Layout::Counters, 3), (Layout::Slots, 0)] {
        assert_eq!(at(layout, foreign).unwrap().layout(), layout);
    }
    let expected = "foreign is 3, but workers that know only the counters cannot take part with \
                    --layout slots: must be 0, or come with --layout counters";
    assert_eq!(at(Layout::Slots, 3).unwrap_err().to_string(), expected);
}

#[test]
fn planned_changes_need_a_plan_and_time() {
    let error = |settings: &Settings| settings.scenario().unwrap_err().to_string();
    for plan in Plan::ALL {
        let usual = if plan == Plan::JoinAndCrash { 333.0 } else { 4.0 };
        assert_eq!(planned(plan, None).scenario().unwrap().plan(), Some((plan, usual)));
        assert_eq!(planned(plan, Some(0.5)).scenario().unwrap().plan(), Some((plan, 0.5)));
        for wrong in [0.0, -1.0, 0.09, 1e7, f64::NAN, f64::INFINITY] {
            let expected = format!("every is {wrong}, must be from 0.1 to 1000000 (intervals)");
            assert_eq!(error(&planned(plan, Some(wrong))), expected);
        }
        let short = |intervals, every| Settings { intervals, ..planned(plan, every) };
        if plan == Plan::JoinAndCrash {
            let expected = "intervals is 31, must be more than 31: one worker joins after 15, and \
                            one crashes 15 later";
            assert_eq!(error(&short(31, Some(15.0))), expected);
            assert!(short(32, Some(15.0)).scenario().is_ok() && short(10, None).scenario().is_ok());
            continue;
        }
        assert!(short(19, None).scenario().is_ok());
        let expected = "intervals is 18, must be more than 18: the group settles for 14, and \
                        the first change comes 4 later";
        assert_eq!(error(&short(18, None)), expected);
        assert!(
            error(&short(10, Some(20.5))).starts_with("intervals is 10, must be more than 34.5")
        );
    }
    let storms = Settings { every: Some(4.0), ..settings("none".parse().unwrap()) };
    let expected = "every is 4, but with storms nothing is planned: must come with \
                    --scenario rolling-restart or join-and-leave or join-and-crash";
    assert_eq!(error(&storms), expected);
}

#[test]
fn shares_count_from_where_the_plan_begins() {
    assert!((planned(Plan::JoinAndLeave, Some(2.0)).settling() - 14.0).abs() < 1e-9);
    assert!((planned(Plan::JoinAndCrash, Some(2.5)).settling() - 3.0).abs() < 1e-9);
}

#[test]
fn what_was_asked_for_reaches_the_scenario() {
    let settings = Settings {
        layout: Layout::Slots,
        rebalancing: Rebalancing::Mixed,
        mapping: Mapping::Jump,
        ..planned(Plan::JoinAndLeave, Some(2.5))
    };
    let scenario = settings.scenario().unwrap();
    assert_eq!(scenario.layout(), Layout::Slots);
    assert_eq!(scenario.rebalancing(), Rebalancing::Mixed);
    assert_eq!(scenario.mapping(), Mapping::Jump);
    assert_eq!(scenario.plan(), Some((Plan::JoinAndLeave, 2.5)));
}

#[test]
fn the_command_names_what_is_not_as_usual() {
    let usual = settings("all,crash=0.1".parse().unwrap()).to_string();
    assert!(usual.ends_with(" --delay 0s --faults all,crash=0.1 --seed 1"), "{usual}");
    let faulty = Faulty::in_group("crash".parse().unwrap(), Some(0.002), true, 2);
    let command = settings(faulty).to_string();
    let options = " --faults crash --clock-rate 0.002 --mixed-gaps --foreign 2 --seed 1";
    assert!(command.ends_with(options), "{command}");
    let planned = Settings {
        layout: Layout::Slots,
        rebalancing: Rebalancing::Mixed,
        mapping: Mapping::Jump,
        ..planned(Plan::RollingRestart, None)
    };
    let options = " --faults none --layout slots --rebalance mixed --mapping jump \
                   --scenario rolling-restart --every 4 --seed 1";
    assert!(planned.to_string().ends_with(options), "{planned}");
}
