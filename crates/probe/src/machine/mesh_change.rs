//! What differs between the results of a mesh at two times.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use units::Bytes;

use super::Verdict;

/// The results of a mesh that are compared with those of another time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeshState {
    /// The size that each path should carry.
    pub asked: Bytes,
    /// The paths by the names of sender and receiver: all pairs of hosts.
    pub paths: BTreeMap<(String, String), PathState>,
}

/// The result of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathState {
    /// The largest packet that passed; zero: none; `None`: not seen.
    pub passed: Option<Bytes>,
    /// The judgement of the sender; `None`: it investigated nothing.
    pub verdict: Option<Verdict>,
}

/// The changes between two times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeshComparison {
    /// The size asked for before, and now.
    pub asked: [Bytes; 2],
    /// The changes, by the names of sender and receiver.
    pub changes: Vec<PathChange>,
    /// The number of paths without a change.
    pub unchanged: usize,
}

/// The change of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathChange {
    pub from: String,
    pub to: String,
    /// The result before; `None`: the mesh did not have the path.
    pub before: Option<PathState>,
    /// The result now; `None`: the mesh does not have the path.
    pub after: Option<PathState>,
}

/// What has changed on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// Larger packets pass.
    Grew,
    /// Only smaller packets pass.
    Shrank,
    /// The verdict alone.
    Verdict,
    /// It was not seen before.
    New,
    /// It is not seen now.
    Gone,
}

impl MeshComparison {
    /// Compares the state `before` with that of now.
    pub fn of(before: &MeshState, now: &MeshState) -> Self {
        let mut changes = Vec::new();
        let gone = before
            .paths
            .keys()
            .filter(|path| !now.paths.contains_key(*path));
        let all = now.paths.keys().chain(gone);
        let mut unchanged = 0;
        for path in all {
            let change = PathChange {
                from: path.0.clone(),
                to: path.1.clone(),
                before: before.paths.get(path).copied(),
                after: now.paths.get(path).copied(),
            };
            match change.kind() {
                Some(_) => changes.push(change),
                None => unchanged += 1,
            }
        }
        changes.sort_by(|one, other| (&one.from, &one.to).cmp(&(&other.from, &other.to)));
        Self {
            asked: [before.asked, now.asked],
            changes,
            unchanged,
        }
    }

    /// Whether any path got worse.
    pub fn is_worse(&self) -> bool {
        self.changes.iter().any(PathChange::is_worse)
    }
}

impl PathChange {
    /// What has changed; `None`: nothing that both results show.
    pub fn kind(&self) -> Option<ChangeKind> {
        if self.before.is_none() || self.after.is_none() {
            let was_there = self.before.is_some();
            return Some(if was_there {
                ChangeKind::Gone
            } else {
                ChangeKind::New
            });
        }
        match self.passed() {
            [None, None] => None,
            [None, Some(_)] => Some(ChangeKind::New),
            [Some(_), None] => Some(ChangeKind::Gone),
            [Some(before), Some(now)] if before < now => Some(ChangeKind::Grew),
            [Some(before), Some(now)] if before > now => Some(ChangeKind::Shrank),
            [Some(_), Some(_)] => {
                let [before, now] = self.verdicts()?;
                (before != now).then_some(ChangeKind::Verdict)
            }
        }
    }

    /// Whether less passes, the verdict is worse, or a path of the mesh is not seen any
    /// more. A host that was removed from the mesh makes nothing worse.
    pub fn is_worse(&self) -> bool {
        match self.kind() {
            Some(ChangeKind::Shrank) => true,
            Some(ChangeKind::Gone) => self.after.is_some(),
            Some(ChangeKind::Grew | ChangeKind::Verdict) => {
                self.verdicts().is_some_and(|[before, now]| before < now)
            }
            Some(ChangeKind::New) | None => false,
        }
    }

    /// Whether more passes, or the verdict is better, or a path of the mesh is seen again.
    pub fn is_better(&self) -> bool {
        let is_seen_again = self.kind() == Some(ChangeKind::New) && self.before.is_some();
        let is_other = matches!(self.kind(), Some(ChangeKind::Grew | ChangeKind::Verdict));
        is_seen_again || is_other && !self.is_worse()
    }

    /// The largest packets that passed before and now.
    pub fn passed(&self) -> [Option<Bytes>; 2] {
        [self.before, self.after].map(|state| state?.passed)
    }

    /// The verdicts before and now, if both are known.
    pub fn verdicts(&self) -> Option<[Verdict; 2]> {
        Some([self.before?.verdict?, self.after?.verdict?])
    }
}
