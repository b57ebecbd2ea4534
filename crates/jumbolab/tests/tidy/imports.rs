//! The import graph inside a crate: which file names items of which other file.
//!
//! A path leads to the file that defines its item, through any `use` and `pub
//! use`. A module that only declares its children imports nothing. Tests do not
//! count.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMacro, ItemUse, UseTree, Visibility};

use crate::project::{is_test, read, rust_files};

type Path = Vec<String>;

/// The modules of a crate, by path from its root.
struct Modules(BTreeMap<Path, Module>);

struct Module {
    file: String,
    /// The names that `use` imports, with their paths.
    names: BTreeMap<String, Path>,
    /// The modules of glob imports.
    globs: Vec<Path>,
    /// All paths that occur in the module.
    paths: Vec<Path>,
}

/// Files that import each other.
pub(crate) struct Cycle {
    /// The files, sorted.
    pub(crate) files: Vec<String>,
    /// Its imports from a module above: `below -> above`.
    pub(crate) upward: Vec<String>,
}

/// The cycles of files of a crate, largest first.
pub(crate) fn cycles(name: &str) -> Vec<Cycle> {
    let root = format!("crates/{name}/src/");
    let mut modules = Modules(BTreeMap::new());
    for file in rust_files().filter(|file| file.starts_with(&root) && !is_test(file)) {
        let inner = &file[root.len()..file.len() - ".rs".len()];
        let path = match inner {
            "lib" | "main" => Path::new(),
            inner => inner.split('/').map(str::to_owned).collect(),
        };
        let parsed = syn::parse_file(&read(&file))
            .unwrap_or_else(|error| panic!("{file}: syn cannot read it: {error}"));
        modules.add(path, &file, &parsed.items);
    }
    let edges = modules.edges();
    let describe = |files: Vec<String>| {
        let upward = files.iter().flat_map(|file| {
            let above = |other: &&&str| {
                let folder = other.trim_end_matches(".rs");
                file.starts_with(&format!("{folder}/")) && files.iter().any(|one| one == *other)
            };
            let others = edges[file.as_str()].iter().filter(above);
            others.map(move |other| format!("{file} -> {other}"))
        });
        Cycle {
            upward: upward.collect(),
            files: files.clone(),
        }
    };
    components(&edges).into_iter().map(describe).collect()
}

impl Modules {
    fn add(&mut self, path: Path, file: &str, items: &[Item]) {
        let mut reader = PathReader::default();
        for item in items {
            match item {
                Item::Mod(inner) if is_for_tests(&inner.attrs) => {}
                Item::Mod(inner) => {
                    if let Some((_, items)) = &inner.content {
                        let below = [&path[..], &[inner.ident.to_string()]].concat();
                        self.add(below, file, items);
                    }
                }
                item => reader.visit_item(item),
            }
        }
        let module = Module {
            file: file.to_owned(),
            names: reader.names,
            globs: reader.globs,
            paths: reader.paths,
        };
        self.0.insert(path, module);
    }

    fn edges(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (place, module) in &self.0 {
            let named = module.paths.iter().chain(module.names.values());
            let named = named.chain(&module.globs);
            let others = named.filter_map(|path| self.defining(place, path, 0));
            let others = others.filter(|other| *other != module.file);
            edges.entry(&module.file).or_default().extend(others);
        }
        edges
    }

    /// The file that defines the item `path` names in the module at `place`;
    /// `None` for another crate.
    fn defining(&self, place: &[String], path: &[String], depth: usize) -> Option<&str> {
        let mut at = self.absolute(place, path)?;
        let mut rest = Path::new();
        while !self.0.contains_key(&at) {
            rest.insert(0, at.pop()?);
        }
        let module = &self.0[&at];
        let Some(name) = rest.first() else {
            return Some(&module.file);
        };
        // Chains of re-exports are short; a circular one does not compile.
        if depth < 8 {
            if let Some(target) = module.names.get(name) {
                let target = [&target[..], &rest[1..]].concat();
                return self.defining(&at, &target, depth + 1);
            }
            for glob in &module.globs {
                let Some(inner) = self.absolute(&at, glob) else {
                    continue;
                };
                if self
                    .0
                    .get(&inner)
                    .is_some_and(|module| module.defines(name))
                {
                    return Some(&self.0[&inner].file);
                }
            }
        }
        Some(&module.file)
    }

    /// The path from the crate's root of `path`, written in the module at
    /// `place`.
    fn absolute(&self, place: &[String], path: &[String]) -> Option<Path> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some([place, rest].concat()),
            "super" => {
                let above = &place[..place.len().checked_sub(1)?];
                match rest.first().map(String::as_str) {
                    Some("super") => self.absolute(above, rest),
                    _ => Some([above, rest].concat()),
                }
            }
            _ => {
                let below = [place, &path[..1]].concat();
                let here = self.0.contains_key(&below);
                here.then(|| [place, path].concat())
            }
        }
    }
}

impl Module {
    fn defines(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }
}

/// Collects the paths that items name.
#[derive(Default)]
struct PathReader {
    names: BTreeMap<String, Path>,
    globs: Vec<Path>,
    paths: Vec<Path>,
}

impl PathReader {
    fn take(&mut self, tree: &UseTree, above: &[String]) {
        match tree {
            UseTree::Path(path) => {
                let above = [above, &[path.ident.to_string()]].concat();
                self.take(&path.tree, &above);
            }
            UseTree::Name(name) if name.ident == "self" => self.bring(above.last(), above),
            UseTree::Name(name) => {
                let path = [above, &[name.ident.to_string()]].concat();
                self.bring(path.last(), &path);
            }
            UseTree::Rename(rename) => {
                let path = match rename.ident == "self" {
                    true => above.to_vec(),
                    false => [above, &[rename.ident.to_string()]].concat(),
                };
                self.bring(Some(&rename.rename.to_string()), &path);
            }
            UseTree::Glob(_) => self.globs.push(above.to_vec()),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.take(tree, above);
                }
            }
        }
    }

    fn bring(&mut self, name: Option<&String>, path: &[String]) {
        // A trait that is imported as `_` is still imported.
        match name.map(String::as_str) {
            Some("_") | None => self.paths.push(path.to_vec()),
            Some(name) => {
                self.names.insert(name.to_owned(), path.to_vec());
            }
        }
    }
}

impl<'ast> Visit<'ast> for PathReader {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = match item {
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            Item::Struct(item) => &item.attrs,
            Item::Const(item) => &item.attrs,
            _ => return visit::visit_item(self, item),
        };
        if !is_for_tests(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.take(&item.tree, &[]);
    }

    fn visit_item_macro(&mut self, _: &'ast ItemMacro) {}

    // `pub(in crate::above)` restricts visibility and imports nothing.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() && path.segments.len() > 1 {
            let segments = path
                .segments
                .iter()
                .map(|segment| segment.ident.to_string());
            self.paths.push(segments.collect());
        }
        visit::visit_path(self, path);
    }
}

/// Whether an item is compiled for tests alone: `#[cfg(test)]`.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<syn::Path>()
                .is_ok_and(|condition| condition.is_ident("test"))
    })
}

/// The strongly connected components of more than one node [Tarjan1972],
/// largest first.
fn components(edges: &BTreeMap<&str, BTreeSet<&str>>) -> Vec<Vec<String>> {
    let mut search = Search {
        edges,
        order: BTreeMap::new(),
        stack: Vec::new(),
        found: Vec::new(),
    };
    for node in edges.keys() {
        if !search.order.contains_key(node) {
            search.visit(node);
        }
    }
    let mut found = search.found;
    found.sort_by_key(|cycle| std::cmp::Reverse(cycle.len()));
    found
}

struct Search<'a> {
    edges: &'a BTreeMap<&'a str, BTreeSet<&'a str>>,
    /// The node's number, and the lowest number that it reaches.
    order: BTreeMap<&'a str, (usize, usize)>,
    stack: Vec<&'a str>,
    found: Vec<Vec<String>>,
}

impl<'a> Search<'a> {
    fn visit(&mut self, node: &'a str) -> usize {
        let number = self.order.len();
        let mut low = number;
        self.order.insert(node, (number, low));
        self.stack.push(node);
        let targets = self.edges.get(node).into_iter().flatten();
        for target in targets {
            match self.order.get(target) {
                None => low = low.min(self.visit(target)),
                Some((other, _)) if self.stack.contains(target) => low = low.min(*other),
                Some(_) => {}
            }
        }
        self.order.insert(node, (number, low));
        if low == number {
            let at = self.stack.iter().position(|other| *other == node);
            let mut cycle: Vec<String> = self
                .stack
                .drain(at.expect("a node stays on the stack until its cycle is found")..)
                .map(str::to_owned)
                .collect();
            if cycle.len() > 1 {
                cycle.sort();
                self.found.push(cycle);
            }
        }
        low
    }
}

#[test]
fn a_cycle_is_found_and_what_leads_out_of_it_is_not_in_it() {
    let edges = BTreeMap::from([
        ("a", BTreeSet::from(["b"])),
        ("b", BTreeSet::from(["c", "d"])),
        ("c", BTreeSet::from(["a"])),
        ("d", BTreeSet::from(["e"])),
        ("e", BTreeSet::from([])),
    ]);
    assert_eq!(components(&edges), [["a", "b", "c"]]);
}

#[test]
fn a_path_leads_through_re_exports_to_the_file_that_defines_its_item() {
    let mut modules = Modules(BTreeMap::new());
    for (path, text) in [
        ("", "mod a; mod b;"),
        ("a", "mod inner; pub use inner::Thing; pub struct Own;"),
        (
            "a/inner",
            "pub struct Thing; #[cfg(test)] mod tests { use crate::b; }",
        ),
        ("b", "use crate::a::Thing; fn f() { super::a::Own; }"),
    ] {
        let place = path.split('/').filter(|part| !part.is_empty());
        let items = syn::parse_file(text).unwrap().items;
        modules.add(place.map(str::to_owned).collect(), path, &items);
    }
    let edges = modules.edges();
    assert_eq!(edges["b"], BTreeSet::from(["a", "a/inner"]));
    assert_eq!(edges["a"], BTreeSet::from(["a/inner"]));
    assert_eq!(edges["a/inner"], BTreeSet::new());
}
