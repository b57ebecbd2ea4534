//! Processor time by process.

use std::collections::BTreeMap;
use std::fs;

use units::Span;

use crate::cpu_time::tick;

/// The processor time of every visible process at one time.
#[derive(Clone, Debug, Default)]
pub struct Processes {
    /// Name and ticks by process id.
    used: BTreeMap<u32, (String, u64)>,
}

impl Processes {
    /// Reads `/proc`, without the calling process.
    pub fn sample() -> Self {
        let ids = fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = ids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        Self {
            used: ids
                .filter(|id| *id != std::process::id())
                // A process may end between being listed and being read.
                .filter_map(|id| Some((id, fs::read_to_string(format!("/proc/{id}/stat")).ok()?)))
                .filter_map(|(id, line)| Some((id, parse(&line)?)))
                .collect(),
        }
    }

    /// The time used since `earlier`, summed by process name, the largest first; names
    /// without use are left out.
    pub fn since(&self, earlier: &Self) -> Vec<(String, Span)> {
        let mut by_name = BTreeMap::<String, u64>::new();
        for (id, (name, ticks)) in &self.used {
            let before = earlier.used.get(id).map_or(0, |(_, ticks)| *ticks);
            let used = ticks.saturating_sub(before);
            if used > 0 {
                let name = title(*id).unwrap_or_else(|| name.clone());
                *by_name.entry(name).or_default() += used;
            }
        }
        let mut busy: Vec<_> = by_name
            .into_iter()
            .map(|(name, used)| (name, tick() * used))
            .collect();
        busy.sort_by_key(|(_, used)| std::cmp::Reverse(*used));
        busy
    }
}

/// The name by which a process was started, without its folder: the name of its file
/// may be uninformative. Kernel threads and ended processes have none.
pub(crate) fn title(id: u32) -> Option<String> {
    let line = fs::read(format!("/proc/{id}/cmdline")).ok()?;
    let first = line.split(|byte| *byte == 0).next()?;
    let name = first.rsplit(|byte| *byte == b'/').next()?;
    let name = String::from_utf8_lossy(name).into_owned();
    (!name.is_empty()).then_some(name)
}

/// Name, and ticks in user and kernel mode [proc_pid_stat(5)]. The name is in
/// parentheses and may contain any character, parentheses included.
fn parse(line: &str) -> Option<(String, u64)> {
    let (head, rest) = line.rsplit_once(')')?;
    let (_, name) = head.split_once('(')?;
    let field = |number: usize| rest.split_whitespace().nth(number)?.parse::<u64>().ok();
    // utime and stime are fields 14 and 15; state, field 3, is the first here.
    Some((name.to_owned(), field(11)? + field(12)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_hides_no_field() {
        let line = "42 (a) b (c)) S 1 2 3 4 5 6 7 8 9 10 30 12 0 0 20 0 1 0 7";
        assert_eq!(parse(line), Some(("a) b (c)".to_owned(), 42)));
        assert_eq!(parse("no process"), None);
    }

    #[test]
    fn the_busiest_comes_first_and_the_idle_not_at_all() {
        // Above the largest process id of Linux, so no process has it.
        const NOBODY: u32 = 1 << 23;
        let sample = |used: &[(u32, &str, u64)]| Processes {
            used: used
                .iter()
                .map(|&(id, name, ticks)| (NOBODY + id, (name.to_owned(), ticks)))
                .collect(),
        };
        let before = sample(&[(1, "init", 5), (2, "cargo", 10), (3, "gone", 9)]);
        let after = sample(&[
            (1, "init", 5),
            (2, "cargo", 12),
            (4, "new", 3),
            (5, "new", 4),
        ]);
        let busy = after.since(&before);
        assert_eq!(
            busy,
            [
                ("new".to_owned(), tick() * 7),
                ("cargo".to_owned(), tick() * 2)
            ]
        );
    }
}
