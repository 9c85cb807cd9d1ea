//! Objects that are accessed as one object: a union-find structure over their ids.

use super::Names;
use explore::ObjectId;

impl Names {
    /// Returns the representative of all objects that are merged with this object. An object that
    /// is not merged is its own representative.
    #[inline]
    pub(crate) fn representative(&self, object: ObjectId) -> ObjectId {
        if self.merged.is_empty() {
            return object;
        }
        let mut representative = object;
        while let Some(&other) = self.merged.get(&representative) {
            representative = other;
        }
        representative
    }

    /// Merges the two objects into one from now on. Returns whether they were not merged before.
    pub(crate) fn merge(&mut self, first: ObjectId, second: ObjectId) -> bool {
        let (first, second) = (self.representative(first), self.representative(second));
        let is_news = first != second;
        if is_news {
            self.merged.insert(first.max(second), first.min(second));
        }
        is_news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_that_are_merged_have_one_representative() {
        let mut names = Names::default();
        let objects = [7, 5, 9, 11].map(ObjectId);
        assert!(names.merge(objects[0], objects[1]));
        assert!(names.merge(objects[2], objects[0]));
        assert!(!names.merge(objects[1], objects[2]));
        let representatives = objects.map(|object| names.representative(object));
        assert_eq!(representatives[..3], [ObjectId(5); 3]);
        assert_eq!(representatives[3], objects[3]);
    }
}
