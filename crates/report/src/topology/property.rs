//! Properties of a test network, and their values in different cells.

/// The mark of a property that differs between cells.
pub(super) const MARK: &str = "*";

/// The most values that are listed.
const MOST_LISTED: usize = 4;

/// A property and its values, in the order of the cells.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Property {
    /// The name in front of the values; may be empty.
    key: String,
    values: Vec<String>,
    /// The value that need not be shown if no cell has another.
    usual: Option<&'static str>,
    /// The number of cells that have the property.
    cells: usize,
    /// Whether some cells lack it.
    is_partial: bool,
}

impl Property {
    /// A property with these values.
    pub(crate) fn new(key: impl Into<String>, values: Vec<String>) -> Self {
        Self {
            key: key.into(),
            values,
            usual: None,
            cells: 1,
            is_partial: false,
        }
    }

    /// A property with one value.
    pub(super) fn one(key: impl Into<String>, value: impl Into<String>) -> Self {
        Self::new(key, vec![value.into()])
    }

    /// A property that is not shown where all cells have the value `usual`;
    /// `None` stands for this value.
    pub(super) fn unless(key: &str, usual: &'static str, value: Option<String>) -> Self {
        Self {
            usual: Some(usual),
            ..Self::one(key, value.unwrap_or_else(|| usual.to_owned()))
        }
    }

    /// Whether it differs between cells.
    pub(crate) const fn varies(&self) -> bool {
        self.values.len() > 1 || self.is_partial
    }

    /// The property in words; `None` if it need not be shown.
    pub(crate) fn shown(&self) -> Option<String> {
        let is_usual = |usual: &str| self.values == [usual];
        (!self.usual.is_some_and(is_usual)).then(|| self.text())
    }

    /// The property in words, with a mark if it differs between cells.
    pub(crate) fn text(&self) -> String {
        let values = match self.values.as_slice() {
            [first, second, .., last] if self.values.len() > MOST_LISTED => {
                format!(
                    "{first}, {second} ... {last} ({} values)",
                    self.values.len()
                )
            }
            few => few.join(", "),
        };
        let mark = if self.varies() { MARK } else { "" };
        let value = format!("{values}{mark}");
        match self.key.is_empty() || value.is_empty() {
            true => format!("{}{value}", self.key),
            false => format!("{} {value}", self.key),
        }
    }

    /// Notes whether fewer than `cells` cells have the property.
    pub(super) const fn note_absence(&mut self, cells: usize) {
        self.is_partial = self.cells < cells;
    }
}

/// Adds the values of `others` to the properties with the same key.
pub(super) fn merge(properties: &mut Vec<Property>, others: Vec<Property>) {
    for other in others {
        let Some(own) = properties.iter_mut().find(|own| own.key == other.key) else {
            properties.push(other);
            continue;
        };
        own.cells += other.cells;
        for value in other.values {
            if !own.values.contains(&value) {
                own.values.push(value);
            }
        }
    }
}

/// A quantity with a space before its unit: `20 ms` for `20ms`.
pub(super) fn spaced(quantity: &str) -> String {
    let digits = quantity.find(|c: char| !c.is_ascii_digit() && c != '.');
    match digits {
        Some(place) if place > 0 => format!("{} {}", &quantity[..place], &quantity[place..]),
        _ => quantity.to_owned(),
    }
}
