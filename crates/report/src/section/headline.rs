//! The headline of a run: what it found, in sentences.

use analysis::Findings;
use analysis::certificate::{Doubt, Reason};

use crate::section::{rivals, summary};

/// The summary and the answers on rival explanations. Where other work disturbed
/// most trials there is no figure, and the only sentence says why.
pub(crate) fn sentences(found: &Findings<'_>) -> Vec<String> {
    if let Some(doubt) = mostly_disturbed(found) {
        return vec![format!("No figure: {doubt}.")];
    }
    let mut sentences = summary::sentences(found);
    sentences.extend(rivals::answers(found));
    sentences
}

/// The doubt about a run of which other work disturbed most trials.
pub(crate) fn mostly_disturbed(found: &Findings<'_>) -> Option<Doubt> {
    let doubt = found.certificate.doubt(Reason::Disturbed)?;
    doubt.is_about_most().then_some(doubt)
}
