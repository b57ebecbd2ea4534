//! How settings are written into the hash of a plan. Results folders are named
//! by it: what came later is written only where it is not the default.

use std::fmt;

use units::Framing;

use super::{Costs, Echo, Host, JitterLaw, Link, Network, Traffic, Transfer, Wire};

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            scenario,
            offloads,
            congestion,
            costs,
        } = self;
        let mut text = f.debug_struct("Host");
        text.field("scenario", scenario)
            .field("offloads", offloads)
            .field("congestion", congestion);
        if *costs != Costs::default() {
            text.field("costs", costs);
        }
        text.finish()
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            shape,
            link,
            ip,
            addresses,
            cut_through,
            links,
            graph,
            lateness,
        } = self;
        let mut text = f.debug_struct("Network");
        text.field("shape", shape)
            .field("link", link)
            .field("ip", ip)
            .field("addresses", addresses)
            .field("links", links);
        if *cut_through {
            text.field("cut_through", cut_through);
        }
        if let Some(graph) = graph {
            text.field("graph", graph);
        }
        if let Some(lateness) = lateness {
            text.field("lateness", lateness);
        }
        text.finish()
    }
}

impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            queue,
            packets,
            delay,
            jitter,
            jitter_law,
            loss,
            bit_error_rate,
            reorder,
            duplicate,
            narrow,
        } = self;
        let mut text = f.debug_struct("Wire");
        text.field("queue", queue)
            .field("delay", delay)
            .field("jitter", jitter)
            .field("loss", loss)
            .field("bit_error_rate", bit_error_rate)
            .field("reorder", reorder)
            .field("duplicate", duplicate);
        if *jitter_law != JitterLaw::Uniform {
            text.field("jitter_law", jitter_law);
        }
        if let Some(narrow) = narrow {
            text.field("narrow", narrow);
        }
        if let Some(packets) = packets {
            text.field("packets", packets);
        }
        text.finish()
    }
}

/// A transfer is written as when it was all that traffic could be.
impl fmt::Debug for Traffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transfer(transfer) => transfer.fmt(f),
            Self::Command(command) => command.fmt(f),
            Self::Flows(flows) => flows.fmt(f),
        }
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            mtu,
            rate,
            burst,
            buffer,
            wire,
            framing,
            cross,
            recorded,
            watch,
        } = self;
        let mut text = f.debug_struct("Link");
        text.field("name", name)
            .field("mtu", mtu)
            .field("rate", rate)
            .field("burst", burst)
            .field("buffer", buffer)
            .field("wire", wire);
        if *framing != Framing::Ethernet {
            text.field("framing", framing);
        }
        if let Some(cross) = cross {
            text.field("cross", cross);
        }
        if *recorded {
            text.field("recorded", recorded);
        }
        if watch.is_any() {
            text.field("watch", watch);
        }
        text.finish()
    }
}

impl fmt::Debug for Transfer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            protocol,
            size,
            message,
            preroll,
            cpu_size,
            send_buffer,
            receive_buffer,
            nagle,
            echo,
            timeout,
        } = self;
        let mut text = f.debug_struct("Traffic");
        text.field("protocol", protocol)
            .field("size", size)
            .field("message", message)
            .field("preroll", preroll)
            .field("cpu_size", cpu_size)
            .field("send_buffer", send_buffer)
            .field("receive_buffer", receive_buffer)
            .field("nagle", nagle)
            .field("timeout", timeout);
        match echo {
            Echo::Headers => {}
            // As it was written when it was a switch.
            Echo::Off => drop(text.field("echo", &false)),
            Echo::Whole => drop(text.field("echo", echo)),
        }
        text.finish()
    }
}
