use super::super::Point;
use super::*;

/// One trial at each MTU with this throughput over IPv6.
fn series(figures: &[(u64, f64)]) -> Series {
    let throughput = QUANTITIES[0];
    let point = |(mtu, figure): &(u64, f64)| Point {
        mtu: *mtu,
        segment: *mtu as f64 - 72.0,
        segments: 1,
        values: vec![(throughput, *figure, 5e6)],
    };
    Series {
        points: figures.iter().map(point).collect(),
        ..Series::default()
    }
}

fn asked(mtus: &[u64]) -> Asked {
    Asked {
        mtus: mtus.to_vec(),
        fitted_up_to: Some(1500),
        waits_for: Some(1e9),
        spread: Spread::Stated(0.02),
        trials: 1,
        size: None,
    }
}

fn has(found: &Predicted, kind: &str) -> bool {
    found.warnings.iter().any(|warning| warning.kind == kind)
}

/// Fitted at MTU 1500 alone [Praptodiyono2019 Table 4].
#[test]
fn linux_of_the_study_is_predicted_and_windows_is_flagged() {
    let linux = series(&[(1500, 750.94), (4000, 895.53), (9000, 938.88)]);
    let found = predict(&linux, &[], &asked(&[4000, 9000])).unwrap();
    let cost = found.fits[0].1.cost;
    assert!((cost.per_packet - 3.79e-6).abs() < 5e-9, "{cost:?}");
    for (figure, expected) in found.figures.iter().zip([892.4, 949.6]) {
        assert!((figure.value - expected).abs() < 0.05, "{figure:?}");
        assert_eq!((figure.measured.len(), figure.within()), (1, 1));
    }
    assert!(!has(&found, "refuted") && has(&found, "extrapolated") && has(&found, "untested"));

    let windows = series(&[(1500, 662.37), (4000, 767.29), (9000, 884.96)]);
    let found = predict(&windows, &[], &asked(&[4000, 9000])).unwrap();
    assert!((found.figures[0].value - 843.7).abs() < 0.05);
    assert!((found.figures[1].value - 924.6).abs() < 0.05);
    assert!(has(&found, "refuted"), "{:?}", found.warnings);
    // All three figures fitted: not of the form.
    let all = Asked {
        fitted_up_to: None,
        ..asked(&[4000])
    };
    assert!(has(&predict(&windows, &[], &all).unwrap(), "form"));
    assert!(!has(&predict(&linux, &[], &all).unwrap(), "form"));
}

#[test]
fn mixed_pairs_of_the_study_are_within_the_interval() {
    for figures in [[767.61, 894.50, 937.86], [718.60, 899.73, 934.94]] {
        let [a, b, c] = figures;
        let found = predict(
            &series(&[(1500, a), (4000, b), (9000, c)]),
            &[],
            &asked(&[4000, 9000]),
        );
        assert!(!has(&found.unwrap(), "refuted"), "{figures:?}");
    }
}

#[test]
fn a_link_that_carries_no_more_limits_the_prediction() {
    let mut fast = series(&[(1500, 935.0)]);
    fast.rate = units::Rate::from_bits_per_second(1_000_000_000);
    let found = predict(&fast, &[], &asked(&[9000])).unwrap();
    let figure = &found.figures[0];
    assert!(
        figure.is_limited && (figure.value - 987.83).abs() < 0.01,
        "{figure:?}"
    );
    assert!(figure.interval.high <= figure.value && has(&found, "link"));
}

#[test]
fn runs_that_were_not_fitted_are_counted_inside_and_outside() {
    let own = series(&[(1500, 750.94)]);
    let runs: Vec<Series> = (0..20)
        .map(|number| series(&[(9000, if number < 17 { 945.0 } else { 500.0 })]))
        .collect();
    let found = predict(&own, &runs, &asked(&[9000])).unwrap();
    assert_eq!(
        (found.figures[0].measured.len(), found.figures[0].within()),
        (20, 17)
    );
    // Three of twenty are chance in 8 of 100 cases, four in 2.
    assert!(!has(&found, "refuted"));
    let more: Vec<Series> = runs[16..].to_vec();
    let found = predict(&own, &[runs, more].concat(), &asked(&[9000])).unwrap();
    assert!(has(&found, "refuted"));
}

#[test]
fn offloads_and_quantities_that_cannot_be_fitted_are_warnings() {
    let mut bundled = series(&[(1500, 750.94)]);
    bundled.offloads = Offloads::On;
    bundled.points[0].values.push((QUANTITIES[1], 3.0, 4e7));
    let found = predict(&bundled, &[], &asked(&[9000])).unwrap();
    assert!(has(&found, "offloads") && has(&found, "not_fitted"));
    assert_eq!(found.fits.len(), 1);
}

#[test]
fn without_a_link_one_segment_size_is_rejected() {
    let own = series(&[(1500, 750.94)]);
    let asked = Asked {
        waits_for: None,
        ..asked(&[9000])
    };
    assert_eq!(
        predict(&own, &[], &asked).unwrap_err(),
        CannotFit::TooFew {
            trials: 1,
            costs: 2
        }
    );
    let several = series(&[(1500, 750.0), (1500, 752.0), (1500, 749.0)]);
    assert_eq!(
        predict(&several, &[], &asked).unwrap_err(),
        CannotFit::OneSegment(1428.0)
    );
}

#[test]
fn disturbed_trials_and_costs_below_zero_are_warnings() {
    // Throughput falls with the segment: no byte costs less than nothing.
    let mut odd = series(&[
        (1300, 100.0),
        (1300, 101.0),
        (1400, 1_000.0),
        (1400, 999.0),
        (1500, 1e5),
        (1500, 1.01e5),
    ]);
    odd.disturbed = 2;
    let asked = Asked {
        waits_for: None,
        spread: Spread::Measured,
        ..asked(&[9000])
    };
    let found = predict(&odd, &[], &asked).unwrap();
    assert!(has(&found, "disturbed") && has(&found, "negative") && has(&found, "form"));
    assert_eq!([p_value(0.01234), p_value(1e-9)], ["= 0.0123", "< 0.0001"]);
    assert_eq!([digits(884.96), digits(0.4265)], ["885.0", "0.4265"]);
}
