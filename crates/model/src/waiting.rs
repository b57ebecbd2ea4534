//! Waiting in front of a link that packets keep busy for a share of the time.

/// A size of packets and how often it occurs: the time that a packet keeps the
/// link busy in seconds, and its weight among packets.
pub type Service = (f64, f64);

/// The mean wait in seconds of a packet that arrives at a random time (Poisson
/// arrivals) at a link with one queue and unlimited room: r E(S^2)/(2 E(S) (1 - r))
/// with r the load from 0 to below 1 [Kleinrock1975 s5.6]. `None` for another load,
/// and without packets.
///
/// With one size it is the wait of M/D/1, r S/(2 (1 - r)).
pub fn mean_wait(services: &[Service], load: f64) -> Option<f64> {
    let moment = |power: i32| -> f64 {
        let terms = services.iter();
        terms.map(|(time, weight)| weight * time.powi(power)).sum()
    };
    let (mean, square) = (moment(1), moment(2));
    let is_stable = (0.0..1.0).contains(&load) && mean > 0.0;
    is_stable.then(|| load * square / (2.0 * mean * (1.0 - load)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn packets_of_one_size_wait_as_in_m_d_1() {
        // At a load of one half the mean wait is half a packet; at 0.9 it is 4.5.
        for (load, packets) in [(0.0, 0.0), (0.5, 0.5), (0.8, 2.0), (0.9, 4.5)] {
            let found = mean_wait(&[(12.304e-6, 7.0)], load).unwrap();
            assert!(
                (found - packets * 12.304e-6).abs() < 1e-15,
                "{load}: {found}"
            );
        }
        for (services, load) in [(&[(1.0, 1.0)][..], 1.0), (&[(1.0, 1.0)], -0.1), (&[], 0.5)] {
            assert_eq!(mean_wait(services, load), None);
        }
    }

    #[test]
    fn exponential_times_wait_twice_as_long_as_equal_ones() {
        // M/M/1 has r/(1 - r) services [Kleinrock1975 s3.2]: cut into 10 000 quantiles.
        let services: Vec<Service> = (0..10_000)
            .map(|at| (-(1.0 - (f64::from(at) + 0.5) / 10_000.0_f64).ln(), 1.0))
            .collect();
        let found = mean_wait(&services, 0.5).unwrap();
        assert!((found - 1.0).abs() < 2e-3, "{found}");
    }

    proptest! {
        #[test]
        fn a_mix_waits_longer_than_packets_of_its_mean(
            services in prop::collection::vec((1e-6f64..1e-3, 0.01f64..10.0), 1..20), load in 0.01f64..0.98,
        ) {
            let weight: f64 = services.iter().map(|one| one.1).sum();
            let mean = services.iter().map(|one| one.0 * one.1).sum::<f64>() / weight;
            let wait = mean_wait(&services, load).unwrap();
            prop_assert!(wait >= mean_wait(&[(mean, 1.0)], load).unwrap() * (1.0 - 1e-12));
            prop_assert!(mean_wait(&services, load + 0.01).unwrap() > wait);
        }
    }
}
