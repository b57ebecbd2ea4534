//! The table of commands: the heading of each, and what a build must have for it.

use std::env::consts;

/// The requirement of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    Nothing,
    /// Interfaces, namespaces or errors of paths of Linux.
    Linux,
    /// Linux and the feature `gateway`.
    Gateway,
}

use Needs::{Gateway, Linux, Nothing};

/// A command: its name, and what it needs.
type Row = (&'static str, Needs);

/// The headings of the list of commands, and the commands below each.
const COMMANDS: [(&str, &[Row]); 3] = [
    (
        "Experiments",
        &[
            ("list", Nothing),
            ("show", Nothing),
            ("run", Nothing),
            ("sensitivity", Nothing),
            ("report", Nothing),
            ("claims", Nothing),
            ("shell", Linux),
        ],
    ),
    (
        "Tools",
        &[
            ("predict", Nothing),
            ("probe", Nothing),
            ("emulate", Linux),
            ("gateway", Gateway),
            ("send", Nothing),
            ("recv", Nothing),
            ("decode", Nothing),
        ],
    ),
    (
        "Set-up",
        &[
            ("doctor", Nothing),
            ("agent", Nothing),
            ("completions", Nothing),
            ("man", Nothing),
        ],
    ),
];

/// The properties of a build that decide which commands it has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Build {
    /// The name of its system, as the standard library writes it.
    pub(crate) system: &'static str,
    pub(crate) has_gateway: bool,
}

impl Build {
    /// This one.
    pub(crate) const HERE: Self = Self {
        system: consts::OS,
        has_gateway: cfg!(feature = "gateway"),
    };

    /// Whether its system is Linux.
    pub(crate) fn is_linux(self) -> bool {
        self.system == "linux"
    }

    fn has(self, needs: Needs) -> bool {
        match needs {
            Nothing => true,
            Linux => self.is_linux(),
            Gateway => self.is_linux() && self.has_gateway,
        }
    }

    /// The headings, and the commands below each that this build has.
    pub(crate) fn groups(self) -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
        COMMANDS.into_iter().map(move |(heading, rows)| {
            let there = rows.iter().filter(|(_, needs)| self.has(*needs));
            (heading, there.map(|(name, _)| *name).collect())
        })
    }

    /// The commands that this build has.
    pub(crate) fn commands(self) -> impl Iterator<Item = &'static str> {
        self.groups().flat_map(|(_, names)| names)
    }

    /// The lines of the help about the commands that this build lacks.
    pub(crate) fn absences(self) -> Vec<String> {
        let rows = || COMMANDS.iter().flat_map(|(_, rows)| *rows);
        let of_linux = rows().filter(|(_, needs)| *needs != Nothing);
        let of_linux: Vec<&str> = of_linux.map(|(name, _)| *name).collect();
        match (self.is_linux(), self.has_gateway) {
            (false, _) => vec![format!("Only on Linux: {}", of_linux.join(", "))],
            (true, true) => Vec::new(),
            (true, false) => vec![format!("There is no gateway: {}", backends::NO_GATEWAY)],
        }
    }

    /// Why this build lacks the command `name`; `None` if it has it, or if there is none of
    /// this name.
    pub(crate) fn absence_of(self, name: &str) -> Option<String> {
        let mut rows = COMMANDS.iter().flat_map(|(_, rows)| *rows);
        let (name, needs) = rows.find(|(own, _)| *own == name)?;
        let why = match self.is_linux() {
            _ if self.has(*needs) => return None,
            false => format!("it needs Linux, and this program is for {}", self.system),
            true => backends::NO_GATEWAY.to_owned(),
        };
        Some(format!("there is no `{name}`; {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHERS: [&str; 3] = ["windows", "macos", "freebsd"];

    fn build(system: &'static str) -> Build {
        Build {
            system,
            has_gateway: true,
        }
    }

    #[test]
    fn another_system_has_what_needs_no_kernel_and_names_the_rest_in_one_line() {
        let there = "list show run sensitivity report claims predict probe send recv decode doctor agent completions man";
        for system in OTHERS {
            let build = build(system);
            let commands: Vec<&str> = build.commands().collect();
            assert_eq!(commands.join(" "), there);
            let absences = build.absences();
            let [line] = absences.as_slice() else {
                panic!("{absences:?}")
            };
            assert_eq!(line, "Only on Linux: shell, emulate, gateway");
        }
        assert!(build("linux").absences().is_empty());
    }

    #[test]
    fn a_command_is_there_or_says_in_one_line_why_not() {
        let all: Vec<&str> = build("linux").commands().collect();
        for system in OTHERS {
            let build = build(system);
            for name in &all {
                let is_there = build.commands().any(|there| there == *name);
                let absence = build.absence_of(name);
                assert_eq!(absence.is_none(), is_there, "{name}");
                let told = format!(
                    "there is no `{name}`; it needs Linux, and this program is for {system}"
                );
                assert!(absence.is_none_or(|absence| absence == told));
            }
            assert_eq!(build.absence_of("nonsense"), None);
        }
        assert!(
            all.iter()
                .all(|name| build("linux").absence_of(name).is_none())
        );
    }

    #[test]
    fn a_build_without_a_gateway_says_how_to_get_one() {
        let build = Build {
            has_gateway: false,
            ..build("linux")
        };
        assert!(build.commands().all(|name| name != "gateway"));
        for line in [
            build.absences().remove(0),
            build.absence_of("gateway").unwrap(),
        ] {
            assert!(line.ends_with(backends::NO_GATEWAY), "{line}");
        }
    }
}
