//! What is known to be coarse, in words that do not depend on the process: a schedule fits only where the
//! same objects are coarse.
//!
//! `tried 0.1#3/2`: the object that thread `0.1` created as its third (from 0), of two parts; `polled 0.1`:
//! the end of that thread.

use super::{Created, Names, UnknownThread};
use explore::{ObjectId, ThreadId};
use objects::Coarsening;

const WORDS: [(Coarsening, &str); 6] = [
    (Coarsening::Tried, "tried"),
    (Coarsening::Ordered, "ordered"),
    (Coarsening::Polled, "polled"),
    (Coarsening::Shared, "shared"),
    (Coarsening::Registered, "registered"),
    (Coarsening::Scanned, "scanned"),
];

impl Names {
    /// The objects that are known to be coarse.
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
        }
        saved
    }

    /// Takes over what another process knew.
    pub fn load_coarse(&mut self, saved: &[String]) -> Result<(), UnknownThread> {
        for text in saved {
            let (coarsening, object) = self
                .read_coarse(text)
                .ok_or_else(|| UnknownThread(text.clone()))?;
            self.coarsen(object, coarsening);
        }
        Ok(())
    }

    fn read_coarse(&mut self, text: &str) -> Option<(Coarsening, ObjectId)> {
        let (word, name) = text.split_once(' ')?;
        let (coarsening, _) = *WORDS.iter().find(|(_, known)| *known == word)?;
        let Some((path, object)) = name.split_once('#') else {
            let thread = self.thread(name).ok()?;
            return Some((coarsening, self.end(thread)));
        };
        let thread = self.thread(path).ok()?;
        let (number, parts) = object.split_once('/')?;
        let (number, parts): (u16, u8) = (number.parse().ok()?, parts.parse().ok()?);
        self.skip_objects(thread, usize::from(number));
        Some((
            coarsening,
            self.object(thread, u32::from(number), u32::from(parts)),
        ))
    }

    /// Makes room for the objects before this one, which will be met with their parts.
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

    /// Number, parts and id of what the thread created.
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
        let saved = names.save_coarse();
        assert_eq!(saved, ["tried 0.0#1/2", "polled 0.0"]);

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
        ] {
            assert!(
                Names::default().load_coarse(&[text.to_owned()]).is_err(),
                "{text}"
            );
        }
    }
}
