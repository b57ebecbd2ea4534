//! The product of the plausible values of all unstated settings.

/// One value of each unstated setting, as its position in their lists. The first
/// values are those that `run` uses.
pub type Point = Vec<usize>;

/// All points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    sizes: Vec<usize>,
}

impl Space {
    /// The space of settings with these numbers of values, each at least 1.
    pub fn new(sizes: Vec<usize>) -> Self {
        debug_assert!(sizes.iter().all(|&size| size > 0));
        Self { sizes }
    }

    /// How many values each setting has.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// How many points there are; `None` of more than can be counted.
    pub fn len(&self) -> Option<usize> {
        let mut sizes = self.sizes.iter();
        sizes.try_fold(1_usize, |all, &size| all.checked_mul(size))
    }

    /// Whether there is nothing to search: the default is all there is.
    pub fn is_empty(&self) -> bool {
        self.sizes.iter().all(|&size| size == 1)
    }

    /// The point of the first values.
    pub fn default_point(&self) -> Point {
        vec![0; self.sizes.len()]
    }

    /// The point that is `number`th where the last setting changes fastest.
    pub(super) fn point(&self, mut number: usize) -> Point {
        let mut point = self.default_point();
        for (value, &size) in point.iter_mut().zip(&self.sizes).rev() {
            *value = number % size;
            number /= size;
        }
        point
    }

    /// The points that differ from `point` in one setting, in the order of
    /// settings and values.
    pub(super) fn neighbours(&self, point: &Point) -> impl Iterator<Item = Point> {
        let settings = self.sizes.iter().enumerate();
        settings.flat_map(move |(setting, &size)| {
            let own = point[setting];
            (0..size)
                .filter(move |&value| value != own)
                .map(move |value| {
                    let mut other = point.clone();
                    other[setting] = value;
                    other
                })
        })
    }
}

/// In which settings two points differ.
pub(super) fn differing(one: &[usize], other: &[usize]) -> Vec<usize> {
    let pairs = one.iter().zip(other).enumerate();
    pairs
        .filter(|(_, (one, other))| one != other)
        .map(|(setting, _)| setting)
        .collect()
}

/// How far two points are apart: in how many settings, and by how many values in
/// all of them together.
pub(super) fn distance(one: &[usize], other: &[usize]) -> (usize, usize) {
    let steps = one
        .iter()
        .zip(other)
        .map(|(one, other)| one.abs_diff(*other));
    (differing(one, other).len(), steps.sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_numbered_and_have_their_neighbours() {
        let space = Space::new(vec![2, 1, 3]);
        assert_eq!(space.len(), Some(6));
        let all: Vec<Point> = (0..6).map(|number| space.point(number)).collect();
        assert_eq!(all[0], space.default_point());
        assert!(all.is_sorted() && all[5] == [1, 0, 2]);
        let near: Vec<Point> = space.neighbours(&all[0]).collect();
        assert_eq!(near, [[1, 0, 0], [0, 0, 1], [0, 0, 2]]);
        assert!(near.iter().all(|near| distance(near, &all[0]).0 == 1));
        assert_eq!(distance(&all[0], &all[5]), (2, 3));
        assert_eq!(Space::new(vec![usize::MAX, 2]).len(), None);
    }
}
