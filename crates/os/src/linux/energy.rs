//! Energy of the processors, as their own counters state it (RAPL).

use std::path::Path;
use std::{fmt, fs};

use units::{Span, Time};

use crate::clock;

/// The folder of the counters [LinuxDoc powercap].
const FOLDER: &str = "/sys/class/powercap";

/// Microjoules in a millisecond that no package takes: 2 kW. A counter that may have gone
/// round at this power since the last look states nothing.
const MOST_POWER: u64 = 2_000_000;

/// The energy counters of all processor packages at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Energy {
    taken: Time,
    packages: Vec<Package>,
}

/// Why there are no counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absence {
    /// The kernel shows none: virtual machines and many processors have none.
    NoCounters,
    /// This user may not read them.
    Rejected,
}

impl fmt::Display for Absence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::NoCounters => "the kernel shows no energy counters (RAPL)",
            Self::Rejected => "only root may read the energy counters (RAPL)",
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Package {
    /// Its folder.
    name: String,
    /// Microjoules, which wrap at the range.
    used: u64,
    range: u64,
}

impl Energy {
    /// Reads the counters.
    ///
    /// # Errors
    /// The processors have none, or this user may not read them.
    pub fn sample() -> Result<Self, Absence> {
        Self::read(Path::new(FOLDER), clock::monotonic())
    }

    fn read(folder: &Path, taken: Time) -> Result<Self, Absence> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .map_err(|_| Absence::NoCounters)?
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            // `intel-rapl:0` is a package, `intel-rapl:0:0` a part of it. The MMIO
            // interface counts the same package again.
            .filter(|name| {
                name.strip_prefix("intel-rapl:")
                    .is_some_and(|number| number.parse::<u32>().is_ok())
            })
            .collect();
        names.sort_unstable();
        let number = |name: &str, file: &str| -> Option<u64> {
            let text = fs::read_to_string(folder.join(name).join(file)).ok()?;
            text.trim().parse().ok()
        };
        // `psys` is the whole platform, packages included.
        let is_package = |name: &String| {
            fs::read_to_string(folder.join(name).join("name"))
                .is_ok_and(|kind| kind.starts_with("package"))
        };
        let packages = names
            .into_iter()
            .filter(is_package)
            .map(|name| {
                Some(Package {
                    used: number(&name, "energy_uj")?,
                    range: number(&name, "max_energy_range_uj")?,
                    name,
                })
            })
            .collect::<Option<Vec<_>>>()
            .ok_or(Absence::Rejected)?;
        match packages.is_empty() {
            true => Err(Absence::NoCounters),
            false => Ok(Self { taken, packages }),
        }
    }

    /// The number of processor packages.
    pub const fn packages(&self) -> usize {
        self.packages.len()
    }

    /// The joules since `earlier`; `None` if the packages differ, or if a counter may have
    /// gone round more than once since.
    pub fn joules_since(&self, earlier: &Self) -> Option<f64> {
        let elapsed = self.taken.since(earlier.taken)?;
        let within = |one: &Package| elapsed < Span::from_millis(one.range / MOST_POWER);
        if !self.packages.iter().all(within) {
            return None;
        }
        let mut microjoules = 0;
        for (now, before) in self.packages.iter().zip(&earlier.packages) {
            if now.name != before.name {
                return None;
            }
            microjoules += match now.used.checked_sub(before.used) {
                Some(used) => used,
                None => (now.range - before.used.min(now.range)) + now.used,
            };
        }
        let same = self.packages.len() == earlier.packages.len();
        same.then(|| microjoules as f64 / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn energy(used: &[u64]) -> Energy {
        let package = |(number, used): (usize, &u64)| Package {
            name: format!("intel-rapl:{number}"),
            used: *used,
            range: 100_000_000,
        };
        Energy {
            taken: Time::ZERO,
            packages: used.iter().enumerate().map(package).collect(),
        }
    }

    #[test]
    fn joules_are_summed_over_packages_and_survive_a_wrap() {
        let late = energy(&[5_000_000, 2_000_000]);
        assert_eq!(
            late.joules_since(&energy(&[1_000_000, 1_500_000])),
            Some(4.5)
        );
        assert_eq!(
            late.joules_since(&energy(&[99_000_000, 2_000_000])),
            Some(6.0)
        );
        assert_eq!(late.joules_since(&energy(&[1_000_000])), None);
    }

    #[test]
    fn a_counter_that_may_have_gone_round_twice_states_nothing() {
        // 100 J are gone round in 50 ms at 2 kW.
        let (early, mut late) = (energy(&[1_000_000]), energy(&[2_000_000]));
        late.taken = Time::ZERO + Span::from_millis(49);
        assert_eq!(late.joules_since(&early), Some(1.0));
        late.taken = Time::ZERO + Span::from_millis(51);
        assert_eq!(late.joules_since(&early), None);
    }

    #[test]
    fn only_whole_packages_count_and_an_unreadable_one_gives_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, files: &[(&str, &str)]| {
            let place = folder.path().join(name);
            fs::create_dir(&place).unwrap();
            for (file, text) in files {
                fs::write(place.join(file), text).unwrap();
            }
        };
        let range = ("max_energy_range_uj", "1000\n");
        write("intel-rapl", &[]);
        write(
            "intel-rapl:0",
            &[("name", "package-0\n"), ("energy_uj", "7\n"), range],
        );
        write(
            "intel-rapl:0:0",
            &[("name", "core\n"), ("energy_uj", "3\n"), range],
        );
        write(
            "intel-rapl:1",
            &[("name", "psys\n"), ("energy_uj", "9\n"), range],
        );
        let read = || Energy::read(folder.path(), Time::ZERO);
        let one = read().unwrap();
        assert_eq!(one.packages(), 1);
        assert_eq!((one.packages[0].used, one.packages[0].range), (7, 1000));
        write("intel-rapl:2", &[("name", "package-1\n"), range]);
        assert_eq!(read(), Err(Absence::Rejected));
        let nowhere = folder.path().join("intel-rapl");
        assert_eq!(Energy::read(&nowhere, Time::ZERO), Err(Absence::NoCounters));
    }
}
