//! From the neutral words of an experiment to those of this world.

use live::emulator::Cross;
use live::testbed::{Addresses, Forwarder, Link, Medium, Path};
use plan::Setting;
use plan::setting::{self as spec, LinkKind, Traffic};
use proto::traffic::{Law, mean_gap};
use units::{Framing, Span};

use crate::measure::Paced;

impl Paced {
    /// Whose links carry bulk, and whose single messages.
    pub(super) fn of(kind: LinkKind) -> [Self; 2] {
        match kind {
            LinkKind::Kernel => [Self::Kernel; 2],
            LinkKind::Emulated => [Self::Emulator; 2],
            LinkKind::Mixed => [Self::Kernel, Self::Emulator],
        }
    }

    /// Who paces the links of each test bed that a trial of `setting` uses, that
    /// for bulk first.
    pub(super) fn of_trial(setting: &Setting) -> Vec<Self> {
        let kind = setting.network.link;
        let [bulk, single] = Self::of(kind);
        match setting.traffic {
            Traffic::Transfer(_) => Self::beds(kind).collect(),
            Traffic::Command(_) => vec![bulk],
            Traffic::Flows(_) | Traffic::LatencyBreakdown(_) | Traffic::RequestResponse(_) => {
                vec![single]
            }
        }
    }

    /// Who paces the links of each test bed that a setting needs, that for
    /// bulk first.
    pub(super) fn beds(kind: LinkKind) -> impl Iterator<Item = Self> {
        let [bulk, single] = Self::of(kind);
        std::iter::once(bulk).chain((single != bulk).then_some(single))
    }
}

/// A test bed that a setting asks for.
pub(super) fn path_of(setting: &Setting, paced: Paced) -> Path {
    let network = &setting.network;
    Path {
        middle: match network.shape {
            // What is no path is refused for this world when it is read.
            spec::Shape::Pair
            | spec::Shape::Routed
            | spec::Shape::Chain
            | spec::Shape::Dumbbell
            | spec::Shape::Explicit => Forwarder::Router,
            spec::Shape::Switched => Forwarder::Switch,
        },
        ip: network.ip,
        addresses: match network.addresses {
            spec::Addresses::Static => Addresses::Static,
            spec::Addresses::Router => Addresses::Router,
        },
        offloads: setting.host.offloads,
        links: network
            .links
            .iter()
            .enumerate()
            .map(|(number, link)| Link {
                mtu: link.mtu,
                medium: match paced {
                    Paced::Kernel => Medium::Kernel {
                        rate: link.rate,
                        burst: link.burst,
                        buffer: link.buffer,
                    },
                    Paced::Emulator => {
                        let back = network.emulated(link);
                        let mut there = back.clone();
                        if number == 0 {
                            there.delay += injected(setting);
                        }
                        Medium::Emulated(Box::new([there, back]))
                    }
                },
            })
            .collect(),
    }
}

/// What is injected on the way there.
fn injected(setting: &Setting) -> Span {
    match &setting.traffic {
        Traffic::LatencyBreakdown(trips) => trips.on_the_wire(),
        _ => Span::ZERO,
    }
}

/// The cross traffic that a setting asks for.
pub(super) fn cross_of(setting: &Setting) -> Vec<Cross> {
    let links = setting.network.links.iter().enumerate();
    links
        .flat_map(|(number, link)| Some((number, link.cross?)))
        .flat_map(|(number, cross)| {
            let mean = mean_gap(Framing::Ethernet.wire_size(cross.packet), cross.rate);
            let gaps = match cross.gaps {
                spec::Gaps::Exponential => Law::Exponential(mean),
                spec::Gaps::Constant => Law::Constant(mean),
                spec::Gaps::Uniform => Law::Uniform(0.0, 2.0 * mean),
            };
            let frame = Framing::Ethernet.frame_size(cross.packet);
            let sizes = Law::Constant(frame.get() as f64);
            cross
                .heading
                .directions()
                .iter()
                .map(move |&direction| Cross {
                    link: number,
                    direction,
                    gaps: gaps.clone(),
                    sizes: sizes.clone(),
                })
        })
        .collect()
}

/// The links whose packets are recorded: their numbers and their names.
pub(super) fn recorded_of(setting: &Setting) -> Vec<(usize, String)> {
    let links = setting.network.links.iter().enumerate();
    links
        .filter(|(_, link)| link.recorded)
        .map(|(number, link)| (number, link.name.clone()))
        .collect()
}
