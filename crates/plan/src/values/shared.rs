//! Values that the trials of a run share, in memory once.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::evidence::Known;
use super::{EvidenceStore, Names};
use crate::{Evidence, Trial};

/// The names and the evidence that the trials of a run share.
#[derive(Debug, Default)]
pub struct Shared {
    names: BTreeSet<Names>,
    known: BTreeSet<ByKey>,
}

impl Shared {
    /// Makes `trial` share its lists of names with those before it.
    pub fn share(&mut self, trial: &mut Trial) {
        let metrics = &mut trial.metrics.names;
        for names in [Some(metrics), trial.evidence.own_names()]
            .into_iter()
            .flatten()
        {
            match self.names.get(names) {
                Some(known) => *names = known.clone(),
                None => drop(self.names.insert(names.clone())),
            }
        }
    }

    /// Leaves the evidence of `trial` to `store`, which has it at `place`.
    pub fn leave(&mut self, trial: &mut Trial, store: &Arc<dyn EvidenceStore>, place: u64) {
        let Some(known) = trial.evidence.known(store) else {
            return;
        };
        let known = ByKey(Arc::new(known));
        let known = match self.known.get(&known) {
            Some(ByKey(known)) => Arc::clone(known),
            None => {
                self.known.insert(ByKey(Arc::clone(&known.0)));
                known.0
            }
        };
        trial.evidence = Evidence::at(known, place);
    }
}

/// Known evidence, ordered by its key.
#[derive(Debug)]
struct ByKey(Arc<Known>);

impl Ord for ByKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.key().cmp(&other.0.key())
    }
}

impl PartialOrd for ByKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ByKey {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for ByKey {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{CPU_SECONDS, EVENTS, resolution};
    use crate::metric::RTT;
    use crate::synthetic::{factors, trial};
    use std::sync::Mutex;
    use std::sync::OnceLock;

    /// Evidence in memory; `asked` are the places that were read.
    #[derive(Debug, Default)]
    struct InMemory {
        all: Vec<Evidence>,
        asked: Mutex<Vec<u64>>,
        failure: OnceLock<String>,
    }

    impl EvidenceStore for InMemory {
        fn read(&self, place: u64) -> Evidence {
            self.asked.lock().unwrap().push(place);
            self.all[usize::try_from(place).unwrap()].clone()
        }

        fn failure(&self) -> Option<&str> {
            self.failure.get().map(String::as_str)
        }
    }

    fn of(value: f64, events: u64) -> Trial {
        let mut trial = trial(factors(1500), 1, &[("rtt", value), ("delay", 1.0)]);
        trial.evidence.insert(EVENTS, events);
        trial.evidence.insert(resolution(&RTT), 1e-6);
        trial
    }

    #[test]
    fn trials_with_the_same_names_share_them() {
        let (mut first, mut second) = (of(1.0, 7), of(2.0, 8));
        let mut shared = Shared::default();
        shared.share(&mut first);
        shared.share(&mut second);
        assert_eq!((&first, &second), (&of(1.0, 7), &of(2.0, 8)));
        let same = |one: &Names, other: &Names| Arc::ptr_eq(&one.0, &other.0);
        assert!(same(&first.metrics.names, &second.metrics.names));
        let [one, other] = [&mut first, &mut second].map(|trial| trial.evidence.own_names());
        assert!(same(one.unwrap(), other.unwrap()));
    }

    #[test]
    fn stored_evidence_is_read_where_it_is_asked_for() {
        let whole = [of(1.0, 7), of(2.0, 8)];
        let store = Arc::new(InMemory {
            all: whole.iter().map(|trial| trial.evidence.clone()).collect(),
            ..InMemory::default()
        });
        let known: Arc<dyn EvidenceStore> = Arc::<InMemory>::clone(&store);
        let (mut shared, mut trials) = (Shared::default(), whole.to_vec());
        for (place, trial) in (0..).zip(&mut trials) {
            shared.share(trial);
            shared.leave(trial, &known, place);
        }
        assert_eq!(shared.known.len(), 1, "only what differs is stored twice");
        assert_eq!(trials[1].number(resolution(&RTT)), Some(1e-6));
        assert_eq!(trials[1].number(CPU_SECONDS), None);
        assert!(trials[1].evidence.contains(EVENTS));
        assert_eq!(*store.asked.lock().unwrap(), [0; 0]);
        assert_eq!(trials[1].number(EVENTS), Some(8.0));
        assert_eq!(*store.asked.lock().unwrap(), [1]);
        assert_eq!(trials, whole);
        assert_eq!(trials[0].evidence.json(), whole[0].evidence.json());
        trials[0].evidence.insert(EVENTS, 9);
        assert_eq!(trials[0].number(EVENTS), Some(9.0));
        assert_eq!(trials[1].evidence.failure(), None);
        store.failure.set("gone".into()).unwrap();
        assert_eq!(trials[1].evidence.failure(), Some("gone"));
        assert_eq!(trials[0].evidence.failure(), None, "it is here now");
    }
}
