//! Statics that contain plain data besides an object of the model, for example a lazy value with a
//! function and a state. Each execution must find the initial content, so the plain data is reset
//! when the first of the objects is used.

use object::read::ReadCache;
use object::{Object, ObjectSymbol, SymbolKind};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::File;
use std::ops::Range;
use std::sync::{LazyLock, Mutex, PoisonError};

/// The sizes of the program's statics by their addresses. Statics of libraries are unknown.
static STATICS: LazyLock<BTreeMap<usize, usize>> =
    LazyLock::new(|| read_statics().unwrap_or_default());

/// The content of a static when one of its objects was first used in this process. A thread uses an
/// object before it changes the data that the object guards, so this is the initial content.
static CONTENTS: Mutex<BTreeMap<usize, Vec<u8>>> = Mutex::new(BTreeMap::new());

/// Returns the static around this object, if the static contains more than the object.
pub(crate) fn static_around(object: &Range<usize>) -> Option<Range<usize>> {
    let (&start, &size) = STATICS.range(..=object.start).next_back()?;
    let whole = start..start + size;
    (whole.len() > object.len() && object.end <= whole.end).then_some(whole)
}

/// Resets the static to its initial content. The first call only records this content.
///
/// # Safety
///
/// The range must be that of a static, and no thread may use the static meanwhile.
pub(crate) unsafe fn put_back(whole: &Range<usize>) {
    let mut contents = CONTENTS.lock().unwrap_or_else(PoisonError::into_inner);
    let memory = whole.start as *mut u8;
    match contents.entry(whole.start) {
        Entry::Vacant(vacant) => {
            // SAFETY: as promised by the caller.
            let now = unsafe { std::slice::from_raw_parts(memory, whole.len()) };
            vacant.insert(now.to_vec());
        }
        // SAFETY: as above. The list contains only statics that can be written.
        Entry::Occupied(old) => unsafe {
            memory.copy_from_nonoverlapping(old.get().as_ptr(), whole.len());
        },
    }
}

fn read_statics() -> Option<BTreeMap<usize, usize>> {
    let cache = ReadCache::new(File::open("/proc/self/exe").ok()?);
    let file = object::File::parse(&cache).ok()?;
    let base = super::base();
    let symbols = file.symbols();
    let statics = symbols.filter(|symbol| symbol.kind() == SymbolKind::Data && symbol.size() > 0);
    let place = |symbol: object::Symbol<'_, '_, _>| {
        let address = base.wrapping_add(symbol.address() as usize);
        (address, symbol.size() as usize)
    };
    let statics = statics.map(place);
    Some(
        statics
            .filter(|&(address, _)| super::contains(address))
            .collect(),
    )
}
