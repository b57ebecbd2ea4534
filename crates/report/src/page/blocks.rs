//! Renders blocks, and collects the plots and tables that scripts need.

use std::collections::BTreeMap;

use document::{Badge, Block, Emphasis, Figure, List, ListKind, Section, Style, Table};
use maud::{Markup, html};
use serde_json::Value;

use super::contents::Ids;
use super::{picture, table};

/// The digits of a number in a plot, more than a screen has pixels.
const DIGITS: usize = 7;

/// A figure with more plots folds them, if one of changes stays.
const MOST_PANELS: usize = 6;

/// A page so far.
#[derive(Default)]
pub(super) struct Renderer {
    ids: Ids,
    /// The id of the current section.
    section: String,
    /// The last heading, after which a table is named.
    heading: String,
    plots: BTreeMap<String, Value>,
}

impl Renderer {
    pub(super) fn has_plots(&self) -> bool {
        !self.plots.is_empty()
    }

    /// The plots with the ids of their elements, as JSON. Plots with one number have
    /// the same trials in all metrics: side by side they pack well.
    pub(super) fn plots(&self) -> String {
        let mut plots: Vec<(&String, &Value)> = self.plots.iter().collect();
        plots.sort_by_key(|(id, _)| {
            let end = id.rsplit('-').next().unwrap_or_default();
            (end == "change", end.parse::<u32>().ok())
        });
        serde_json::to_string(&plots).expect("a plot holds numbers, words and lists of them")
    }

    pub(super) fn section(&mut self, section: &Section) -> Markup {
        section.id.clone_into(&mut self.section);
        let id = Some(section.id).filter(|id| !id.is_empty());
        html! { section id=[id] { (self.blocks(&section.blocks)) } }
    }

    pub(super) fn blocks(&mut self, blocks: &[Block]) -> Markup {
        html! { @for one in blocks { (self.block(one)) } }
    }

    fn block(&mut self, block: &Block) -> Markup {
        match block {
            Block::Title {
                name,
                title,
                badges,
            } => html! {
                p.over { "Jumbolab · " (name) }
                h1 { (title) }
                p.badges { @for one in badges { (badge(one)) } }
            },
            Block::Heading(words, own) => {
                self.heading = String::new();
                let section = Some(self.section.as_str()).filter(|id| !id.is_empty());
                html! { h2 { (words) (behind(own.as_ref())) (section.map_or_else(|| html! {}, link)) } }
            }
            Block::Subheading(words, own) => {
                let id = self.ids.of(&self.section, words);
                self.heading = words.clone();
                html! { h3 id=(id) { (words) (behind(own.as_ref())) (link(&id)) } }
            }
            Block::Paragraphs(style, lines) => paragraphs(*style, lines),
            Block::List(own) => list(own),
            Block::Table(own) => self.table(own),
            Block::Figure(own) => self.figure(own),
            Block::Svg(own) => picture::svg(own),
            Block::Picture(own) => picture::picture(own),
            Block::Fold {
                summary,
                blocks: own,
            } => html! { details.fold { summary { (summary) } (self.blocks(own)) } },
            Block::Verbatim(text) => html! { pre tabindex="0" { (text) } },
            Block::Page(own) => self.blocks(own),
            Block::Terminal(_) => html! {},
        }
    }

    fn table(&mut self, own: &Table) -> Markup {
        let name = match (self.heading.as_str(), &own.caption) {
            ("", Some(caption)) => caption.split(',').next().unwrap_or(caption),
            (heading, _) => heading,
        };
        let words = if name.is_empty() { "table" } else { name };
        let id = match self.section.as_str() {
            "" => self.ids.of("data", words),
            section => self.ids.of(&format!("{section}-data"), words),
        };
        table::table(own, &id, name)
    }

    /// The elements of plots with their captions.
    fn figure(&mut self, figure: &Figure) -> Markup {
        let id = self.ids.of("figure", figure_name(figure));
        let drawings = figure.plots.iter().map(|drawing| {
            let mut plot = serde_json::to_value(&drawing.plot)
                .expect("a plot holds numbers, words and lists of them");
            shorten(&mut plot);
            let height = plot["layout"]["height"].as_u64();
            self.plots.insert(drawing.id.clone(), plot);
            let height = height.map(|height| format!("min-height: {height}px"));
            html! {
                div.plot.change[drawing.is_change] #(drawing.id) style=[height]
                    role="img" aria-label=(drawing.label) {}
            }
        });
        let drawings: Vec<Markup> = drawings.collect();
        let (panels, changes): (Vec<usize>, Vec<usize>) =
            (0..drawings.len()).partition(|&at| !figure.plots[at].is_change);
        // Changes say in one plot what many panels show in detail.
        let is_long = panels.len() > MOST_PANELS && !changes.is_empty();
        html! {
            figure id=(id) {
                figcaption { b { (figure.title) } " " span.note { (figure.note) } (link(&id)) }
                @if is_long {
                    div.plots { @for &at in &changes { (drawings[at]) } }
                    details.fold {
                        summary { (panels.len()) " plots, one a setting" }
                        div.plots { @for &at in &panels { (drawings[at]) } }
                    }
                } @else {
                    div.plots { @for drawing in &drawings { (drawing) } }
                }
            }
        }
    }
}

/// The name of a figure that does not change when its title does.
fn figure_name(figure: &Figure) -> &str {
    let id = figure.plots.first().map_or("", |drawing| &drawing.id);
    id.trim_start_matches("plot-")
}

/// Rounds the numbers of a plot to [`DIGITS`].
fn shorten(value: &mut Value) {
    match value {
        Value::Number(number) => {
            let short = number
                .as_f64()
                .filter(|figure| figure.fract() != 0.0)
                .and_then(|figure| format!("{figure:.*e}", DIGITS - 1).parse::<f64>().ok())
                .and_then(serde_json::Number::from_f64);
            if let Some(short) = short {
                *number = short;
            }
        }
        Value::Array(values) => values.iter_mut().for_each(shorten),
        Value::Object(entries) => entries.values_mut().for_each(shorten),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// A permanent link to the element `id`.
fn link(id: &str) -> Markup {
    html! { " " a.permalink href={ "#" (id) } aria-label="Permanent link" { "#" } }
}

fn behind(own: Option<&Badge>) -> Markup {
    html! { @if let Some(own) = own { " " (badge(own)) } }
}

fn badge(badge: &Badge) -> Markup {
    let class = badge.tone.map(|tone| match tone {
        Emphasis::Good => "badge passed",
        Emphasis::Neutral | Emphasis::Aside => "badge warning",
        Emphasis::Bad => "badge failed",
    });
    html! {
        @if badge.target.is_empty() { span class=[class] { (badge.words) } }
        @else { a class=[class] href={ "#" (badge.target) } { (badge.words) } }
    }
}

fn paragraphs(style: Style, lines: &[String]) -> Markup {
    html! {
        @match style {
            Style::Plain => @for line in lines { p { (line) } },
            Style::Note => @for line in lines { p.note { (line) } },
            Style::Alarm => @for line in lines { p.alarm { (line) } },
            Style::Warning => @for line in lines { p.warning { (line) } },
            Style::NoScript => noscript { @for line in lines { p.alarm { (line) } } },
            Style::Answer => ul.answers { @for line in lines { li { (line) } } },
        }
    }
}

fn list(list: &List) -> Markup {
    let class = match list.kind {
        ListKind::Plain => None,
        ListKind::QualityCheck => Some("quality-check"),
        ListKind::Facts => Some("facts"),
    };
    html! {
        ul class=[class] {
            @for item in &list.items {
                li class=[["fault", "warning"].into_iter().find(|label| *label == item.label)] {
                    @if !item.label.is_empty() { b { (item.label) ": " } }
                    (item.text)
                }
            }
        }
    }
}
