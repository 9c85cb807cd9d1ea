//! Known coarsenings, as text that does not depend on the process. An object is *coarse* if more of
//! its operations count as dependent than usual, because of how the program uses it
//! ([`Coarsening`]). A schedule fits only if the same objects are coarse.
//!
//! `tried 0.1#3/2` says that an object is `Tried`: the object with two parts (each with its own id)
//! that thread `0.1` created as number 3, counted from 0. `polled 0.1` says that the end of that
//! thread is `Polled`. `ordered 0@stack:64.0/1` concerns an object named by its location in memory.
//! `merged 0#0/1 0#2/1` says that two objects are accessed as one.

use super::{Created, Names, UnknownThread};
use explore::{ObjectId, ThreadId};
use objects::Coarsening;

const WORDS: [(Coarsening, &str); 7] = [
    (Coarsening::Tried, "tried"),
    (Coarsening::Ordered, "ordered"),
    (Coarsening::Polled, "polled"),
    (Coarsening::Shared, "shared"),
    (Coarsening::Registered, "registered"),
    (Coarsening::Scanned, "scanned"),
    (Coarsening::Distinguished, "distinguished"),
];

const MERGED: &str = "merged";

impl Names {
    /// Returns the known coarsenings, including pairs of merged objects.
    pub fn save_coarse(&self) -> Vec<String> {
        let mut saved = Vec::new();
        for (coarsening, word) in WORDS {
            for index in 0..self.threads.len() {
                let thread = ThreadId::from_index(index);
                let path = self.spawn_path(thread);
                if self.is_coarse(self.end(thread), coarsening) {
                    saved.push(format!("{word} {path}"));
                }
                for (number, parts, object) in self.created(thread) {
                    if self.is_coarse(object, coarsening) {
                        saved.push(format!("{word} {path}#{number}/{parts}"));
                    }
                }
            }
            for (name, object) in self.residents() {
                if self.is_coarse(object, coarsening) {
                    saved.push(format!("{word} {name}"));
                }
            }
        }
        saved.extend(self.save_merged());
        saved
    }

    /// Returns the merged pairs in which threads created both objects. Other pairs are merged again
    /// when the program uses them together.
    fn save_merged(&self) -> impl Iterator<Item = String> {
        self.merged.iter().filter_map(|(&object, &other)| {
            let (object, other) = (self.path_of(object)?, self.path_of(other)?);
            Some(format!("{MERGED} {object} {other}"))
        })
    }

    /// Returns the name of an object that a thread created. Returns `None` for other objects.
    fn path_of(&self, object: ObjectId) -> Option<String> {
        let threads = (0..self.threads.len()).map(ThreadId::from_index);
        let mut named = threads.flat_map(|thread| {
            let created = self
                .created(thread)
                .filter(move |&(.., created_object)| created_object == object);
            created.map(move |(number, parts, _)| (thread, number, parts))
        });
        let (thread, number, parts) = named.next()?;
        Some(format!("{}#{number}/{parts}", self.spawn_path(thread)))
    }

    /// Adds the coarsenings that another process has saved.
    pub fn load_coarse(&mut self, saved: &[String]) -> Result<(), UnknownThread> {
        for text in saved {
            self.load_one(text)
                .ok_or_else(|| UnknownThread(text.clone()))?;
        }
        Ok(())
    }

    fn load_one(&mut self, text: &str) -> Option<()> {
        if let Some((MERGED, names)) = text.split_once(' ') {
            let (first, second) = names.split_once(' ')?;
            let (first, second) = (self.read_object(first)?, self.read_object(second)?);
            self.merge(first, second);
            return Some(());
        }
        let (coarsening, object) = self.read_coarse(text)?;
        self.coarsen(object, coarsening);
        Some(())
    }

    fn read_coarse(&mut self, text: &str) -> Option<(Coarsening, ObjectId)> {
        let (word, name) = text.split_once(' ')?;
        let (coarsening, _) = *WORDS.iter().find(|(_, known)| *known == word)?;
        if name.contains('#') || name.contains('@') {
            return Some((coarsening, self.read_object(name)?));
        }
        let thread = self.thread(name).ok()?;
        Some((coarsening, self.end(thread)))
    }

    fn read_object(&mut self, name: &str) -> Option<ObjectId> {
        if name.contains('@') {
            return self.read_resident(name);
        }
        let (path, object) = name.split_once('#')?;
        let thread = self.thread(path).ok()?;
        let (number, parts) = object.split_once('/')?;
        let (number, parts): (u16, u8) = (number.parse().ok()?, parts.parse().ok()?);
        self.skip_objects(thread, usize::from(number));
        Some(self.object(thread, u32::from(number), u32::from(parts)))
    }

    /// Adds placeholders for the objects that the thread created before this number. Their parts
    /// are not known yet.
    fn skip_objects(&mut self, thread: ThreadId, number: usize) {
        let objects = &mut self.threads[thread.index()].objects;
        while objects.len() < number {
            objects.push(Created {
                parts: 0,
                object: ObjectId::NONE,
                others: Vec::new(),
            });
        }
    }

    /// Returns number, parts and id of the objects that the thread created.
    fn created(&self, thread: ThreadId) -> impl Iterator<Item = (usize, u32, ObjectId)> {
        let objects = self.threads[thread.index()].objects.iter().enumerate();
        objects.flat_map(|(number, created)| {
            let first = std::iter::once((created.parts, created.object));
            let all = first.chain(created.others.iter().copied());
            all.map(move |(parts, object)| (number, parts, object))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_coarse_is_read_back_in_a_fresh_process() {
        let mut names = Names::default();
        let child = names.child(ThreadId::MAIN, 0);
        names.object(child, 0, 1);
        let lock = names.object(child, 1, 2);
        names.coarsen(lock, Coarsening::Tried);
        names.coarsen(names.end(child), Coarsening::Polled);
        let field = names.object(child, 2, 1);
        names.merge(lock, field);
        let saved = names.save_coarse();
        let expected = ["tried 0.0#1/2", "polled 0.0", "merged 0.0#2/1 0.0#1/2"];
        assert_eq!(saved, expected);

        let mut fresh = Names::default();
        fresh
            .load_coarse(&saved)
            .expect("what was saved is readable");
        let child = fresh.child(ThreadId::MAIN, 0);
        let first = fresh.object(child, 0, 1);
        let lock = fresh.object(child, 1, 2);
        assert!(fresh.is_coarse(lock, Coarsening::Tried));
        assert!(!fresh.is_coarse(first, Coarsening::Tried));
        assert!(fresh.is_coarse(fresh.end(child), Coarsening::Polled));
        let field = fresh.object(child, 2, 1);
        assert_eq!(fresh.representative(field), fresh.representative(lock));
        assert_eq!(fresh.save_coarse(), saved);
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "tried",
            "small 0",
            "tried x",
            "tried 0#1",
            "tried 0#1/x",
            "polled 1",
            "merged 0#1/1",
            "merged 0#1/1 0",
        ] {
            assert!(
                Names::default().load_coarse(&[text.to_owned()]).is_err(),
                "{text}"
            );
        }
    }
}
