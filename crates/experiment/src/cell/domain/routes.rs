//! Reads `[domain.routes]`: the egress edges of prefixes.

use std::net::IpAddr;

use anyhow::Result;
use keyfile::quantity::{name, number};
use keyfile::{Node, Parsed, Table, Value, rejection};
use link::edge::Prefix;
use plan::setting::{Destination, Graph, Role, Route};

use super::ROOT;
use crate::reader::Reader;

/// The rows of the routing table, by name.
pub(super) fn read(
    reader: &mut Reader<'_>,
    tree: &Table,
    graph: &Graph,
    edges: &[usize],
    destination: Destination,
) -> Result<Vec<Route>> {
    const EXAMPLE: &str = "[domain.routes.east] prefix = \"10.2.0.0/16\", egress = \"r2\"";
    let table = tree
        .table(ROOT)
        .and_then(|domain| domain.table("routes"))
        .filter(|routes| routes.iter().next().is_some());
    let Some(table) = table else {
        return Err(match reader.find("domain.routes")? {
            Some(Node { value, origin }) => {
                let why = format!("a domain without routes aggregates nothing; write {EXAMPLE}");
                rejection(origin, "domain.routes", value, why)
            }
            None => reader.missing("domain.routes", EXAMPLE),
        });
    };
    let mut routes: Vec<(Route, String)> = Vec::new();
    for (called, node) in table.iter() {
        let path = format!("domain.routes.{called}");
        name(64)(&Value::from(called)).map_err(|why| {
            rejection(&node.origin, &path, &node.value, format!("the name: {why}"))
        })?;
        let found = reader.required(&format!("{path}.prefix"), "\"10.2.0.0/16\"", prefix)?;
        let (network, length) = found.value;
        let same = |(row, _): &&(Route, String)| (row.network, row.length) == found.value;
        if let Some((_, other)) = routes.iter().find(same) {
            let why = format!("the route `{other}` has the same prefix; keep one of them");
            return Err(found.reject(why));
        }
        let egress = reader.required(&format!("{path}.egress"), "\"r2\"", name(64))?;
        let is_it = |place: &&usize| graph.nodes[**place].name == egress.value;
        let Some(place) = edges.iter().find(is_it) else {
            return Err(egress.reject("no edge of the domain; write one of domain.edges"));
        };
        let next_as = reader.read(&format!("{path}.next_as"), number(0, i64::from(u32::MAX)))?;
        let route = Route {
            network,
            length,
            next_as: u32::try_from(next_as.value).unwrap_or(u32::MAX),
            egress: *place,
            via: via(reader, &path, graph, destination)?,
        };
        let same = |(row, _): &&(Route, String)| {
            (row.next_as, row.egress) == (route.next_as, route.egress) && row.via != route.via
        };
        if let Some((_, other)) = routes.iter().find(same) {
            let why = format!(
                "what leaves where `{other}` does travels with it; give both the same `via`, or another next_as"
            );
            return Err(rejection(&node.origin, &path, &node.value, why));
        }
        routes.push((route, called.to_owned()));
    }
    Ok(routes.into_iter().map(|(route, _)| route).collect())
}

/// The routers that bundles are switched through.
fn via(
    reader: &mut Reader<'_>,
    path: &str,
    graph: &Graph,
    destination: Destination,
) -> Result<Vec<usize>> {
    let Some(found) = reader.words(&format!("{path}.via"))? else {
        return Ok(Vec::new());
    };
    if destination != Destination::Label {
        return Err(found.reject(
            "only bundles with labels leave the shortest path; write encapsulation = \"label\" in [domain]",
        ));
    }
    let mut via = Vec::new();
    for name in &found.value {
        match graph.nodes.iter().position(|node| node.name == *name) {
            Some(place) if graph.nodes[place].role == Role::Router => via.push(place),
            Some(_) => return Err(found.reject(format!("`{name}` is no router"))),
            None => return Err(found.reject(format!("there is no node `{name}` in [nodes]"))),
        }
    }
    Ok(via)
}

/// A prefix such as `10.2.0.0/16`, with no bits set beyond its length.
fn prefix(value: &Value) -> Parsed<(IpAddr, u8)> {
    const EXAMPLE: &str = "write a prefix, for instance \"10.2.0.0/16\" or \"2001:db8:2::/48\"";
    let Value::Text(text) = value else {
        return Err(EXAMPLE.into());
    };
    let (network, length) = text.trim().split_once('/').ok_or(EXAMPLE)?;
    let network: IpAddr = network.parse().map_err(|_| EXAMPLE)?;
    let length: u8 = length.parse().map_err(|_| EXAMPLE)?;
    let row = Prefix {
        network,
        length,
        next_as: 0,
        egress: 0,
    };
    match row.is_sound() {
        true => Ok((
            (network, length),
            Value::Text(format!("{network}/{length}")),
        )),
        false => Err("the bits behind the length of a prefix must be 0".into()),
    }
}
