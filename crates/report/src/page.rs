//! Renders documents as HTML pages: one self-contained file with interactive
//! plots and no external requests.
//!
//! Text is escaped by `maud`; scripts and plots are packed.
//! Content of a journal or plan therefore remains text.

mod axis;
mod blocks;
mod contents;
mod library;
mod packed;
mod picture;
mod table;

use document::Document;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use blocks::Renderer;
use packed::packed;

#[cfg(test)]
pub(crate) use packed::plots_of;

const STYLE: &str = concat!(
    include_str!("page/style.css"),
    include_str!("page/narrow.css"),
    include_str!("page/print.css")
);

/// The scripts of the page, which share one scope.
const SCRIPTS: [&str; 5] = [
    include_str!("page/contents.js"),
    include_str!("page/formats.js"),
    include_str!("page/exports.js"),
    include_str!("page/paint.js"),
    include_str!("page/draw.js"),
];

/// The content security policy: inline scripts only, no external requests.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
                      img-src data: blob:; base-uri 'none'; form-action 'none'";

/// Renders a document as an HTML page that loads nothing.
pub fn html(document: &Document) -> String {
    let mut renderer = Renderer::default();
    let head = renderer.blocks(&document.head);
    let sections: Vec<Markup> = document
        .sections
        .iter()
        .filter(|section| contents::is_shown(section))
        .map(|section| renderer.section(section))
        .collect();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                // Prevents the browser from requesting /favicon.ico.
                link rel="icon" href="data:,";
                title { (document.title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#top" { "Skip to the report" }
                div.page {
                    (contents::contents(document))
                    main #top tabindex="-1" {
                        header { (head) }
                        @for section in &sections { (section) }
                    }
                }
                (data("plots", &renderer.plots()))
                @if renderer.has_plots() {
                    script id="library" type="text/plain" { (PreEscaped(library::SCRIPT)) }
                }
                script { (PreEscaped(script())) }
            }
        }
    };
    page.into_string()
}

/// Packed data for the scripts.
fn data(id: &str, json: &str) -> Markup {
    html! { script id=(id) type="text/plain" { (PreEscaped(packed(json))) } }
}

fn script() -> String {
    format!("(() => {{\n\"use strict\";\n{}}})();", SCRIPTS.concat())
}
