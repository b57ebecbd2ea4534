//! How settings are written into the hash of a plan. Results folders are named
//! by it: what came later is written only where it is not the default.

use std::fmt;

use units::{Framing, Span};

use super::{
    Costs, Echo, Flow, Flows, Host, JitterLaw, Link, Network, PathMtu, Sends, Traffic, Transfer,
    Wire,
};

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
            domain,
            lateness,
            fresh,
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
        if let Some(domain) = domain {
            text.field("domain", domain);
        }
        if let Some(lateness) = lateness {
            text.field("lateness", lateness);
        }
        if *fresh {
            text.field("fresh", fresh);
        }
        text.finish()
    }
}

impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            queue,
            notices,
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
        if let Some(notices) = notices {
            text.field("notices", notices);
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
            Self::Mechanisms(trips) => trips.fmt(f),
            Self::Exchange(exchange) => exchange.fmt(f),
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
            counted,
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
        if counted.is_any() {
            text.field("counted", counted);
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
            tcp,
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
        if let Some(tcp) = tcp {
            text.field("tcp", tcp);
        }
        match echo {
            Echo::Headers => {}
            // As it was written when it was a switch.
            Echo::Off => drop(text.field("echo", &false)),
            Echo::Whole => drop(text.field("echo", echo)),
        }
        text.finish()
    }
}

/// Flows are written as when only the simulator had them.
impl fmt::Debug for Flows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            duration,
            flows,
            sockets,
        } = self;
        let mut text = f.debug_struct("Flows");
        text.field("duration", duration).field("flows", flows);
        if let Some(sockets) = sockets {
            text.field("sockets", sockets);
        }
        text.finish()
    }
}

/// A flow of datagrams is written as when it was all that flows could be.
impl fmt::Debug for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            count,
            stagger,
            start_within,
            from,
            to,
            start,
            stop,
            sends,
            round_trip,
            path_mtu,
            class,
            precedence,
        } = self;
        let mut text = f.debug_struct("Flow");
        text.field("name", name)
            .field("from", from)
            .field("to", to)
            .field("start", start)
            .field("stop", stop);
        match sends {
            Sends::Datagrams {
                gaps,
                payloads,
                packets,
                dont_fragment,
                ..
            } => text
                .field("gaps", gaps)
                .field("payloads", payloads)
                .field("packets", packets)
                .field("dont_fragment", dont_fragment),
            Sends::Messages { .. } | Sends::Octets { .. } => text.field("sends", sends),
        };
        text.field("class", class).field("precedence", precedence);
        if let Sends::Datagrams { bursts, octets, .. } = sends {
            if let Some(bursts) = bursts {
                text.field("bursts", bursts);
            }
            if let Some(octets) = octets {
                text.field("octets", octets);
            }
        }
        if *count > 1 {
            text.field("count", count);
        }
        for (name, span) in [("stagger", stagger), ("start_within", start_within)] {
            if *span > Span::ZERO {
                text.field(name, span);
            }
        }
        if *round_trip {
            text.field("round_trip", round_trip);
        }
        if *path_mtu != PathMtu::default() {
            text.field("path_mtu", path_mtu);
        }
        text.finish()
    }
}
