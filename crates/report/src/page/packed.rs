//! Packs text for the page: zlib [RFC1950] in base64 [RFC4648 s4], which the
//! browser's `DecompressionStream` unpacks.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use miniz_oxide::deflate::compress_to_vec_zlib;

/// The level of compression: higher ones take twice the time for a per cent.
const LEVEL: u8 = 6;

/// `text`, packed.
pub(super) fn packed(text: &str) -> String {
    STANDARD.encode(compress_to_vec_zlib(text.as_bytes(), LEVEL))
}

/// The text that [`packed`] packed.
#[cfg(test)]
pub(crate) fn unpacked(packed: &str) -> String {
    let octets = STANDARD.decode(packed).expect("base64");
    let text = miniz_oxide::inflate::decompress_to_vec_zlib(&octets).expect("zlib");
    String::from_utf8(text).expect("text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_text_is_small_has_no_markup_and_unpacks() {
        let text = "</script><b onclick=\"x\">µs ≥ 3</b>".repeat(100);
        let short = packed(&text);
        assert!(short.len() < text.len() / 10, "{}", short.len());
        assert!(!short.contains(['<', '>', '&', '"']));
        assert_eq!(unpacked(&short), text);
        assert_eq!(unpacked(&packed("")), "");
    }
}
