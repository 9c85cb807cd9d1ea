//! Finds the functions of an image by symbols and by unwinding tables, which stripped images keep.

use crate::names::Unwinding;
use iced_x86::{Decoder, DecoderOptions, Mnemonic};
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};
use std::fs;
use std::path::Path;

/// The functions of an image that compilers generated.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Functions {
    /// The address and the size of each function.
    pub found: Vec<(u64, u64)>,
    /// Whether there may be other functions.
    pub is_incomplete: bool,
}

impl Functions {
    /// Returns the functions of an image file, or no functions if the file cannot be read.
    pub fn of(image: &Path) -> Functions {
        let data = fs::read(image).unwrap_or_default();
        match object::File::parse(&*data) {
            Ok(file) => Functions::of_file(&file),
            Err(_) => Functions {
                is_incomplete: true,
                ..Functions::default()
            },
        }
    }

    fn of_file(file: &object::File<'_>) -> Functions {
        let symbols = file.symbols().filter(|symbol| {
            symbol.kind() == SymbolKind::Text && symbol.is_definition() && symbol.size() > 0
        });
        let (others, functions): (Vec<_>, Vec<_>) =
            symbols.partition(|symbol| symbol.name().is_ok_and(is_of_the_linker));
        let place = |symbol: &object::Symbol<'_, '_>| (symbol.address(), symbol.size());
        let mut found: Vec<(u64, u64)> = functions.iter().map(place).collect();
        let is_stripped = found.is_empty();
        let is_other = |start: u64| {
            start == file.entry() || others.iter().any(|symbol| symbol.address() == start)
        };
        let unwound = Unwinding::of(file).functions();
        let unwound = unwound.into_iter().filter(|&(start, size)| {
            size > 0 && !is_other(start) && texts(file).any(|(range, _)| range.contains(&start))
        });
        found.extend(unwound);
        found.sort_unstable();
        found.dedup_by_key(|&mut (address, _)| address);
        Functions {
            is_incomplete: is_stripped && has_other_code(file, &found),
            found,
        }
    }
}

/// Returns the sections with the program's code.
fn texts<'f>(file: &'f object::File<'_>) -> impl Iterator<Item = (std::ops::Range<u64>, &'f [u8])> {
    let sections = file.sections();
    let texts =
        sections.filter(|section| section.name().is_ok_and(|name| name.starts_with(".text")));
    texts.map(|section| {
        let start = section.address();
        (start..start + section.size(), section.data().unwrap_or(&[]))
    })
}

/// The largest size of the start code that the linker adds to a program.
const START: u64 = 256;

/// Checks whether an image has code outside these functions, which are sorted by address.
fn has_other_code(file: &object::File<'_>, functions: &[(u64, u64)]) -> bool {
    let mut has_text = false;
    for (range, bytes) in texts(file) {
        has_text = true;
        let mut at = match range.contains(&file.entry()) {
            // All images begin with functions of the linker.
            true => (file.entry() + START).max(range.start),
            false => range.start + START,
        };
        let inside = functions.iter().filter(|(start, _)| range.contains(start));
        for &(start, size) in inside.chain([&(range.end, 0)]) {
            if at < start && !is_padding(bytes, (at - range.start)..(start - range.start)) {
                return true;
            }
            at = at.max(start + size);
        }
    }
    !has_text
}

/// Checks whether these bytes are instructions without effect.
fn is_padding(bytes: &[u8], range: std::ops::Range<u64>) -> bool {
    let Some(bytes) = bytes.get(range.start as usize..range.end as usize) else {
        return false;
    };
    let mut decoder = Decoder::new(64, bytes, DecoderOptions::NONE);
    let does_nothing = |mnemonic| matches!(mnemonic, Mnemonic::Nop | Mnemonic::Int3);
    bytes.iter().all(|&byte| byte == 0)
        || decoder
            .iter()
            .all(|instruction| does_nothing(instruction.mnemonic()))
}

/// Checks whether the linker adds a function of this name. Every program runs these functions
/// before or after its own code.
fn is_of_the_linker(name: &str) -> bool {
    const NAMES: [&str; 9] = [
        "_start",
        "_init",
        "_fini",
        "__do_global_dtors_aux",
        "__libc_csu_init",
        "_dl_relocate_static_pie",
        "deregister_tm_clones",
        "frame_dummy",
        "register_tm_clones",
    ];
    // The unwinder of libgcc, if linked statically, accesses only exceptions of the thread that
    // throws.
    NAMES.contains(&name) || name.starts_with("_Unwind_")
}
