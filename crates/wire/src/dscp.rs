//! Names of the code points of differentiated services [RFC2474].

/// The largest code point: the field has six bits [RFC2474 s3].
pub const LARGEST: u8 = 63;

/// Names without a rule: the default, lower effort [RFC8622 s8], admitted voice
/// [RFC5865 s4] and expedited forwarding [RFC3246 s2.7].
const NAMES: [(&str, u8); 6] = [
    ("DF", 0),
    ("BE", 0),
    ("LE", 1),
    ("VA", 44),
    ("VOICE-ADMIT", 44),
    ("EF", 46),
];

/// The class selector of a service byte, 0 to 7 [RFC2474 s4.2.2].
pub const fn class_of(service: u8) -> u8 {
    service >> 5
}

/// The drop precedence of the four assured forwarding classes, the lowest 0; anything
/// else has the lowest [RFC2597 s6].
pub const fn precedence_of(service: u8) -> u8 {
    let codepoint = service >> 2;
    match (codepoint >> 3, codepoint & 0b111) {
        (1..=4, 0b100) => 1,
        (1..=4, 0b110) => 2,
        _ => 0,
    }
}

/// The code point of this name, in capitals or not: `EF`, the class selectors
/// `CS0` to `CS7` [RFC2474 s4.2.2.2], and assured forwarding, `AF11` to `AF43`,
/// with class and drop precedence [RFC2597 s6].
fn named(name: &str) -> Option<u8> {
    let listed = NAMES
        .iter()
        .find(|(other, _)| other.eq_ignore_ascii_case(name));
    if let Some((_, code)) = listed {
        return Some(*code);
    }
    let digit = |byte: u8| byte.wrapping_sub(b'0');
    match *name.as_bytes() {
        [b'C' | b'c', b'S' | b's', class @ b'0'..=b'7'] => Some(digit(class) << 3),
        [
            b'A' | b'a',
            b'F' | b'f',
            class @ b'1'..=b'4',
            precedence @ b'1'..=b'3',
        ] => Some(digit(class) << 3 | digit(precedence) << 1),
        _ => None,
    }
}

/// The code point in `text`, a number or a name. `Err` says what to write.
pub fn parse(text: &str) -> Result<u8, &'static str> {
    let number = text.parse().ok().filter(|number| *number <= LARGEST);
    number
        .or_else(|| named(text))
        .ok_or("write a number from 0 to 63, or a name: EF, AF11 to AF43, CS0 to CS7")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_standards() {
        for (name, code) in [
            // [RFC2597 s6]
            ("AF11", 0b00_1010),
            ("AF22", 0b01_0100),
            ("AF31", 0b01_1010),
            ("AF43", 0b10_0110),
            ("af41", 34),
            // [RFC3246 s2.7]
            ("EF", 0b10_1110),
            // [RFC2474 s4.2.2.2]
            ("CS1", 0b00_1000),
            ("CS7", 0b11_1000),
            ("be", 0),
        ] {
            assert_eq!(named(name), Some(code), "{name}");
        }
        for other in ["", "AF44", "AF51", "CS8", "CS", "46", "EFG", "\u{fc}"] {
            assert_eq!(named(other), None, "{other}");
        }
    }
}
