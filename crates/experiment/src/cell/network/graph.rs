//! Reads networks that are not a path: `[nodes]`, and `ends` of links.

use anyhow::Result;
use keyfile::quantity::{name, number, word};
use keyfile::{Node, Table, Value, did_you_mean, rejection};
use plan::setting::{Graph, Role, Vertex, Wiring};

use crate::reader::Reader;

/// The maximum number of pairs in a dumbbell.
const MOST_PAIRS: i64 = 20_000;

/// The maximum number of nodes and of links in an explicit network.
const MOST_NODES: usize = 10_000;

const ROLES: &[(&str, Role)] = &[
    ("host", Role::Host),
    ("router", Role::Router),
    ("switch", Role::Switch),
];

/// The kinds of links in a dumbbell.
pub(super) const OF_DUMBBELL: [&str; 2] = ["access", "bottleneck"];

pub(super) fn dumbbell(reader: &mut Reader<'_>) -> Result<Graph> {
    let pairs = reader.read("network.pairs", number(1, MOST_PAIRS))?;
    Ok(Graph::dumbbell(usize::try_from(pairs.value).unwrap_or(1)))
}

/// The graph as written, and the names of its links in order.
pub(super) fn explicit(reader: &mut Reader<'_>, tree: &Table) -> Result<(Graph, Vec<String>)> {
    let names = |table: &str| -> Vec<String> {
        let table = tree.table(table);
        let names = table.map(|table| table.iter().map(|(name, _)| name.to_owned()).collect());
        names.unwrap_or_default()
    };
    let (nodes, links) = (names("nodes"), names("links"));
    if nodes.len() > MOST_NODES || links.len() > MOST_NODES {
        return Err(reader.missing("nodes", "fewer of them: at most 10000 nodes and links"));
    }
    let mut vertices = Vec::new();
    for node in nodes {
        known(reader, "nodes", &node)?;
        let example = "role = \"host\"";
        let role = reader.required(&format!("nodes.{node}.role"), example, word(ROLES))?;
        vertices.push(Vertex {
            name: node,
            role: role.value,
        });
    }
    if vertices.is_empty() {
        return Err(reader.missing("nodes", "[nodes.a] role = \"host\""));
    }
    let mut wires = Vec::new();
    for (place, link) in links.iter().enumerate() {
        known(reader, "links", link)?;
        wires.push(Wiring {
            name: link.clone(),
            link: place,
            ends: ends(reader, link, &links, &vertices)?,
        });
    }
    if wires.is_empty() {
        return Err(reader.missing("links", "[links.a-b] ends = [\"a\", \"b\"]"));
    }
    let graph = Graph {
        nodes: vertices,
        wires,
    };
    Ok((graph, links))
}

/// Rejects a name that is invalid in dotted keys.
fn known(reader: &mut Reader<'_>, table: &str, key: &str) -> Result<()> {
    name(64)(&Value::from(key)).map(drop).map_err(|why| {
        let place = reader.find(&format!("{table}.{key}")).ok().flatten();
        match place {
            Some(Node { value, origin }) => rejection(
                origin,
                &format!("{table}.{key}"),
                value,
                format!("the name: {why}"),
            ),
            None => reader.missing(table, &format!("another name than `{key}`: {why}")),
        }
    })
}

/// The nodes at the ends of a link. A link without them may be another one, misspelled.
fn ends(
    reader: &mut Reader<'_>,
    link: &str,
    links: &[String],
    nodes: &[Vertex],
) -> Result<[usize; 2]> {
    let path = format!("links.{link}.ends");
    let Some(found) = reader.words(&path)? else {
        let others = links.iter().map(String::as_str);
        let meant = did_you_mean(link, others.filter(|other| *other != link));
        let example = format!("ends = [\"a\", \"b\"]{meant}");
        return Err(reader.missing(&path, &example));
    };
    let place = |name: &str| {
        let position = nodes.iter().position(|node| node.name == name);
        position.ok_or_else(|| {
            let names: Vec<&str> = nodes
                .iter()
                .map(|node| node.name.as_str())
                .take(16)
                .collect();
            found.reject(format!(
                "there is no node `{name}` in [nodes]; name one of {}",
                names.join(", ")
            ))
        })
    };
    match found.value.as_slice() {
        [one, other] if one == other => {
            Err(found.reject("a link from a node to itself; name two nodes"))
        }
        [one, other] => Ok([place(one)?, place(other)?]),
        _ => Err(found.reject("a link has two ends; write for instance [\"a\", \"b\"]")),
    }
}
