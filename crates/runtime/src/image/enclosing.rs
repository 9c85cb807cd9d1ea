//! Statics that hold an object of the model beside plain data, as a lazy value does that has a function and a state. Each execution has
//! statics of its own: the plain data is put back when the first of the objects is used.

use object::read::ReadCache;
use object::{Object, ObjectSymbol, SymbolKind};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::File;
use std::ops::Range;
use std::sync::{LazyLock, Mutex, PoisonError};

/// The sizes of the program's statics by their addresses. Those of libraries are not known.
static STATICS: LazyLock<BTreeMap<usize, usize>> =
    LazyLock::new(|| read_statics().unwrap_or_default());

/// What a static held when one of its objects was used for the first time in this process. A thread uses an object before it changes the
/// data that the object guards, so this is what the static held at the start.
static CONTENTS: Mutex<BTreeMap<usize, Vec<u8>>> = Mutex::new(BTreeMap::new());

/// The static that has more than this object.
pub(crate) fn static_around(object: &Range<usize>) -> Option<Range<usize>> {
    let (&start, &size) = STATICS.range(..=object.start).next_back()?;
    let whole = start..start + size;
    (whole.len() > object.len() && object.end <= whole.end).then_some(whole)
}

/// Puts the static back.
///
/// # Safety
///
/// It is one, and no thread uses it.
pub(crate) unsafe fn put_back(whole: &Range<usize>) {
    let mut contents = CONTENTS.lock().unwrap_or_else(PoisonError::into_inner);
    let memory = whole.start as *mut u8;
    match contents.entry(whole.start) {
        Entry::Vacant(vacant) => {
            // SAFETY: as promised by the caller.
            let now = unsafe { std::slice::from_raw_parts(memory, whole.len()) };
            vacant.insert(now.to_vec());
        }
        // SAFETY: as above, and statics that can be written were asked for.
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
