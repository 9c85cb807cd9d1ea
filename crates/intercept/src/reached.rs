//! Records which lines of the program with calls to hooks are reached by executions. Each return
//! address of a call to a hook has a bit, which the call sets.

use crate::gate::Own;
use crate::source_map;
use crate::unhooked::{self, Image};
use crate::unknown_calls::{self, Detours, Marks};
use native::has_hooks;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// Greatest size in bytes of an image whose calls get bits.
const LARGEST: usize = 64 << 20;

/// Greatest number of calls to hooks, for each image, whose lines are looked up.
const MOST: usize = 50_000;

/// The program's images with their bits, and the instructions that set these bits.
struct Reached {
    images: Vec<(Image, &'static [u64])>,
    detours: Detours,
}

static REACHED: Own<Option<Reached>> = Own::new(None);

/// Whether bits are set from the next execution on.
static IS_ON: Own<bool> = Own::new(false);

/// Sets whether the lines that executions reach are noted from the next execution on.
pub(crate) fn switch(is_on: bool) {
    *IS_ON.get() = is_on;
    match (REACHED.get(), is_on) {
        (reached @ None, true) => *reached = Reached::new(),
        (Some(reached), false) => reached.detours.switch(false),
        (Some(_), true) | (None, false) => {}
    }
}

/// Begins an execution. The restoring of the program's memory may have reset its slots, that is,
/// the words with the addresses of called functions. So the instructions that set bits are switched
/// on again.
pub(crate) fn begin() {
    if let (Some(reached), true) = (REACHED.get(), *IS_ON.get()) {
        reached.detours.switch(true);
    }
}

/// Returns the lines with calls to hooks that were not reached, as `file:line`. Leaves out files
/// that are not below the user's folder.
pub(crate) fn unreached() -> Vec<String> {
    let Some(reached) = REACHED.get() else {
        return Vec::new();
    };
    let slots: FxHashSet<usize> = unknown_calls::slots_of_hooks().into_iter().collect();
    let mut lines: BTreeMap<(String, u32), bool> = BTreeMap::new();
    for (image, bits) in &reached.images {
        for code in unhooked::returns_of(image, &slots).into_iter().take(MOST) {
            let offset = code - image.addresses.start;
            let is_reached = bits[offset / 64] & 1 << (offset % 64) != 0;
            if let Some(line) = source_map::place(code).and_then(|place| own_line(&place)) {
                *lines.entry(line).or_default() |= is_reached;
            }
        }
    }
    let unreached = lines.into_iter().filter(|(_, is_reached)| !is_reached);
    unreached
        .map(|((file, line), _)| format!("{file}:{line}"))
        .collect()
}

/// Returns the file and the line of a place, unless the file is outside the user's folder.
fn own_line(place: &str) -> Option<(String, u32)> {
    let (file, line, _) = report::parts(place);
    (!file.starts_with('/')).then_some((file.to_owned(), line?))
}

impl Reached {
    fn new() -> Option<Reached> {
        let images = unhooked::images().into_iter();
        let images: Vec<(Image, &'static [u64])> = images
            .filter(|image| image.addresses.len() <= LARGEST && has_hooks(&image.file))
            .map(|image| {
                let words = image.addresses.len().div_ceil(64);
                (image, &*vec![0; words].leak())
            })
            .collect();
        let marks = |place: usize| {
            let mut images = images.iter();
            let (image, bits) = images.find(|(image, _)| image.addresses.contains(&place))?;
            Some(Marks {
                start: image.addresses.start,
                size: image.addresses.len() as u32,
                bits: bits.as_ptr().expose_provenance(),
            })
        };
        let detours = Detours::with_marks(marks).ok()?;
        Some(Reached { images, detours })
    }
}
