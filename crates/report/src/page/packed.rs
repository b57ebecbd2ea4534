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

/// The plots of a page by the ids of their elements.
#[cfg(test)]
pub(crate) fn plots_of(page: &str) -> serde_json::Value {
    let data = page.split_once("<script id=\"plots\" type=\"text/plain\">");
    let (_, data) = data.expect("a page has the data of its plots");
    let (data, _) = data.split_once("</script>").expect("the element ends");
    let pairs: Vec<(String, serde_json::Value)> =
        serde_json::from_str(&unpacked(data)).expect("pairs in JSON");
    serde_json::Value::Object(pairs.into_iter().collect())
}

/// The text that [`packed`] packed.
#[cfg(test)]
pub(super) fn unpacked(packed: &str) -> String {
    let bytes = STANDARD.decode(packed).expect("base64");
    let text = miniz_oxide::inflate::decompress_to_vec_zlib(&bytes).expect("zlib");
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
