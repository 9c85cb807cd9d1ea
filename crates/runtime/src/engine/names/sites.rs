//! Names of objects after the location in memory where they were first used.
//!
//! A thread's heap, its stack and the program's statics have the same layout in every execution,
//! relative to their beginnings. Which objects a location has held depends only on the past of the
//! thread that owns the memory: an object can replace an earlier one only when no thread uses the
//! earlier one any more. So neither the location nor the number of earlier objects there depends on
//! the order of independent operations.

use super::Names;
use explore::{ObjectId, ThreadId};
use serde::{Deserialize, Serialize};

/// A kind of memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) enum Region {
    Heap,
    /// A heap block that is too large for the arenas (`memory::arena`). The offset of its site is
    /// the number of the block.
    Large,
    Stack,
    /// Belongs to no thread.
    Static,
    /// The value of a static that is created in each execution. Belongs to no thread.
    Lazy,
}

/// The name of a location in memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) struct Site {
    pub(crate) region: Region,
    /// The thread that owns the memory, or the main thread if no thread owns it.
    pub(crate) thread: ThreadId,
    pub(crate) offset: u64,
}

impl Site {
    /// Returns the location `distance` bytes after this location.
    #[inline(always)]
    pub(crate) fn at(self, distance: usize) -> Site {
        Site {
            offset: self.offset + distance as u64,
            ..self
        }
    }
}

/// The name of an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) struct Resident {
    pub(crate) site: Site,
    /// The number of earlier objects at this location in the execution.
    pub(crate) predecessors: u32,
    /// The number of parts of the object. Each part has its own id.
    pub(crate) parts: u32,
}

const WORDS: [(Region, &str); 5] = [
    (Region::Heap, "heap"),
    (Region::Large, "large"),
    (Region::Stack, "stack"),
    (Region::Static, "static"),
    (Region::Lazy, "lazy"),
];

impl Names {
    /// Returns the object with this name.
    pub(crate) fn resident(&mut self, name: Resident) -> ObjectId {
        if let Some(&object) = self.residents.get(&name) {
            return object;
        }
        let object = self.add_object(name.parts);
        self.residents.insert(name, object);
        object
    }

    /// Returns the names of objects in memory, as text that does not depend on the process. For
    /// example, `0.1@heap:40.0/2` is the first object at offset 40 of the heap of thread `0.1`, and
    /// has two parts.
    pub(super) fn residents(&self) -> impl Iterator<Item = (String, ObjectId)> {
        self.residents.iter().map(|(name, &object)| {
            let Resident {
                site,
                predecessors,
                parts,
            } = name;
            let path = self.spawn_path(site.thread);
            let known = WORDS.iter().find(|(region, _)| *region == site.region);
            let (_, word) = known.expect("each region has a word");
            let text = format!("{path}@{word}:{}.{predecessors}/{parts}", site.offset);
            (text, object)
        })
    }

    /// Returns the object with a name that `residents` returned. Returns `None` for any other text.
    pub(super) fn read_resident(&mut self, text: &str) -> Option<ObjectId> {
        let (path, rest) = text.split_once('@')?;
        let (word, rest) = rest.split_once(':')?;
        let (offset, rest) = rest.split_once('.')?;
        let (predecessors, parts) = rest.split_once('/')?;
        let (region, _) = *WORDS.iter().find(|(_, known)| *known == word)?;
        let thread = self.thread(path).ok()?;
        let site = Site {
            region,
            thread,
            offset: offset.parse().ok()?,
        };
        let parts: u8 = parts.parse().ok()?;
        Some(self.resident(Resident {
            site,
            predecessors: predecessors.parse().ok()?,
            parts: u32::from(parts),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_at_one_place_one_after_the_other_have_different_names() {
        let mut names = Names::default();
        let site = Site {
            region: Region::Stack,
            thread: ThreadId::MAIN,
            offset: 64,
        };
        let nth = |predecessors| Resident {
            site,
            predecessors,
            parts: 2,
        };
        let (first, second) = (names.resident(nth(0)), names.resident(nth(1)));
        assert_ne!(first, second);
        assert_eq!(names.resident(nth(0)), first);
        let saved: Vec<String> = names.residents().map(|(text, _)| text).collect();
        assert_eq!(saved, ["0@stack:64.0/2", "0@stack:64.1/2"]);
        assert_eq!(names.read_resident(&saved[1]), Some(second));
        assert_eq!(names.read_resident("0@sea:64.0/2"), None);
    }
}
