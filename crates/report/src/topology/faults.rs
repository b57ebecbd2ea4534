//! The rules by which a link breaks packets, in words.

use plan::setting::middlebox::{Action, Rule};

use units::Span;

use super::link::rounded;
use super::property::spaced;

/// The rules of a link; `None` if it has none.
pub(super) fn words(rules: &[Rule]) -> Option<String> {
    let rules: Vec<String> = rules.iter().map(rule).collect();
    (!rules.is_empty()).then(|| rules.join("; "))
}

fn rule(rule: &Rule) -> String {
    let action = match rule.action {
        Action::DropAbove(size) => format!("packets above {} bytes vanish", size.get()),
        Action::DropTooBig => "messages \"too big\" are dropped".to_owned(),
        Action::LimitTooBig(every) => {
            format!("a message \"too big\" each {}", spaced(&every.to_string()))
        }
        Action::AnnounceMtu(mtu) => format!("messages \"too big\" announce {mtu}"),
        Action::ClampMss(most) => format!("MSS at most {most}"),
        Action::DropFragments => "fragments vanish".to_owned(),
        Action::DropBetween { from, to } => {
            format!("packets of {} to {} bytes vanish", from.get(), to.get())
        }
        Action::ClearDontFragment => "DF is cleared".to_owned(),
        Action::DropShareAbove { above, per_mille } => format!(
            "{} % of packets above {} bytes are lost",
            rounded(f64::from(per_mille) / 10.0),
            above.get()
        ),
        Action::LimitRate { burst, every } => format!(
            "one packet each {} passes, {burst} in a row",
            spaced(&every.to_string())
        ),
    };
    let direction = rule.direction.map(|direction| direction.name().to_owned());
    let protocol = rule.protocol.map(|protocol| protocol.title().to_owned());
    let share = (rule.share < 1.0).then(|| format!("{} % of flows", rounded(100.0 * rule.share)));
    let from = (rule.from > Span::ZERO).then(|| format!("from {}", spaced(&rule.from.to_string())));
    let until = rule
        .until
        .map(|until| format!("until {}", spaced(&until.to_string())));
    let only: Vec<String> = [direction, protocol, share, from, until]
        .into_iter()
        .flatten()
        .collect();
    match only.is_empty() {
        true => action,
        false => format!("{action} ({})", only.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use units::Bytes;

    use plan::setting::{Direction, Protocol};

    use super::*;

    #[test]
    fn a_rule_is_named_with_its_conditions() {
        let always = Rule::always(Action::ClampMss(1360));
        let some = Rule {
            direction: Some(Direction::Reverse),
            protocol: Some(Protocol::Udp),
            share: 0.5,
            from: Span::from_millis(60),
            ..Rule::always(Action::DropAbove(Bytes::new(1500)))
        };
        assert_eq!(words(&[]), None);
        assert_eq!(
            words(&[always, some]).unwrap(),
            "MSS at most 1360; packets above 1500 bytes vanish (reverse, UDP, 50 % of flows, from 60 ms)"
        );
        let above = Bytes::new(1440);
        let lossy = Action::DropShareAbove {
            above,
            per_mille: 125,
        };
        let every = Span::from_millis(100);
        let limit = Action::LimitRate { burst: 4, every };
        assert_eq!(
            words(&[lossy, limit].map(Rule::always)).unwrap(),
            "12.5 % of packets above 1440 bytes are lost; one packet each 100 ms passes, 4 in a row"
        );
    }
}
