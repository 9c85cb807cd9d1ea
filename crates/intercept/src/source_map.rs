//! Names for addresses of the program, from its debug information and its symbols.

use crate::gate::Own;
use crate::image;
use crate::{block_numbers, blocks, callers, cancel, heap, library_calls, mappings};
use native::{Block, Content, Images, Variable};
use runtime::native::SourceMap;
use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The program's names.
pub(crate) struct Names;

/// The images, read when the first name is requested.
static IMAGES: Own<Option<Images>> = Own::new(None);

/// Paths below this folder are shown relative to it. By default the folder in which the process
/// runs.
static DIRECTORY: Own<Option<PathBuf>> = Own::new(None);

/// Sets the folder relative to which paths below it are shown.
pub(crate) fn show_from(folder: PathBuf) {
    *DIRECTORY.get() = Some(folder);
}

pub(crate) fn images() -> &'static Images {
    IMAGES.get().get_or_insert_with(|| {
        if DIRECTORY.get().is_none() {
            *DIRECTORY.get() = std::env::current_dir().ok();
        }
        loaded()
    })
}

/// Returns the place (`file:line` or `file:line:column`) of the call before a return address, if it
/// is known.
pub(crate) fn place(code: usize) -> Option<String> {
    let frame = images().place((code as u64).checked_sub(1)?)?;
    let file = PathBuf::from(frame.file?);
    let line = frame.line?;
    let directory = DIRECTORY.get().as_ref();
    let shown = directory.and_then(|folder| file.strip_prefix(folder).ok());
    let shown = shown.unwrap_or(&file).display();
    Some(match frame.column {
        Some(column) => format!("{shown}:{line}:{column}"),
        None => format!("{shown}:{line}"),
    })
}

impl SourceMap for Names {
    fn place(&self, code: usize) -> Option<String> {
        place(code)
    }

    fn functions(&self, code: usize) -> Vec<String> {
        let frames = images().frames((code as u64).saturating_sub(1));
        frames
            .into_iter()
            .filter_map(|frame| frame.function)
            .collect()
    }

    fn callers(&self, code: usize, stack_top: usize) -> Vec<String> {
        callers::functions(code, stack_top)
    }

    fn caller(&self, code: usize, stack_top: usize) -> usize {
        callers::own_call(code, stack_top)
    }

    fn continues_release_sequences(&self, code: usize) -> bool {
        images().continues_release_sequences(code as u64 - 1)
    }

    fn variable(&self, address: usize, length: usize) -> String {
        if heap::block(address).is_some() {
            return in_heap(address, length);
        }
        if let Some(name) = cancel::name_of(address) {
            return name;
        }
        if let Some(name) = library_calls::name_of(address) {
            return name.to_owned();
        }
        match variable(address, length) {
            Some(variable) => variable.name,
            None => format!("{address:#x}"),
        }
    }

    fn value(&self, address: usize, bytes: &[u8]) -> String {
        match variable(address, bytes.len()) {
            Some(variable) if variable.is_pointer() => address_shown(bytes),
            Some(variable) => variable.value(bytes),
            None => number(bytes),
        }
    }
}

/// Names a block by its type, its number and the place of its allocation: `node#2@queue.c:12.next`.
/// With length 0 this names the whole block, if the block begins there.
fn in_heap(address: usize, length: usize) -> String {
    let Some((start, _, site)) = heap::block(address) else {
        return format!("{address:#x}");
    };
    let offset = address - start;
    let place = place(site);
    let place = place.as_deref().and_then(short).unwrap_or("the heap");
    let number = match block_numbers::number_of(start, site) {
        1 => String::new(),
        number => format!("#{number}"),
    };
    match content(address, length) {
        Some(content) => {
            let kind = Some(content.type_name).filter(|name| !name.is_empty());
            let kind = kind.as_deref().unwrap_or("block");
            let part = match (offset, length) {
                (0, 0) => "",
                _ => &content.part.name,
            };
            format!("{kind}{number}@{place}{part}")
        }
        None if offset == 0 => format!("block{number}@{place}"),
        None => format!("block{number}@{place}+{offset}"),
    }
}

fn variable(address: usize, length: usize) -> Option<Variable> {
    if heap::block(address).is_some() {
        return content(address, length).map(|content| content.part);
    }
    let bytes = (address as u64, length as u64);
    let fixed = images().variable(bytes.0, bytes.1);
    let in_thread_local = || {
        let (image, offset) = blocks::within(address)?;
        images().thread_local(image as u64, offset as u64, bytes.1)
    };
    fixed.or_else(in_thread_local).or_else(|| {
        mappings::refresh_for(bytes.0);
        images().on_stack(bytes, &mappings::read)
    })
}

/// Returns the content of a part of a heap block, as far as its type is known.
fn content(address: usize, length: usize) -> Option<Content> {
    let (start, size, site) = heap::block(address)?;
    mappings::refresh_for(site as u64);
    let block = Block {
        returns_to: site as u64,
        size: size as u64,
    };
    let bytes = ((address - start) as u64, length as u64);
    images().in_block(block, bytes, &mappings::read)
}

/// Shortens a place: `src/queue.c:12:3` → `queue.c:12`.
fn short(place: &str) -> Option<&str> {
    let file = place.rsplit('/').next()?;
    let colons: Vec<usize> = file.match_indices(':').map(|(index, _)| index).collect();
    Some(match colons[..] {
        [_, second, ..] => &file[..second],
        _ => file,
    })
}

/// Shows bytes whose type is unknown: as a signed number, or as an address if the number is large.
fn number(bytes: &[u8]) -> String {
    match *bytes {
        [byte] => (byte as i8).to_string(),
        [a, b] => i16::from_le_bytes([a, b]).to_string(),
        [a, b, c, d] => i32::from_le_bytes([a, b, c, d]).to_string(),
        _ => match <[u8; 8]>::try_from(bytes).map(i64::from_le_bytes) {
            Ok(number) if number.unsigned_abs() < 1 << 32 => number.to_string(),
            Ok(0..) | Err(_) | Ok(i64::MIN..0) => address_shown(bytes),
        },
    }
}

/// Shows a pointer by its target, if the target has a name.
fn address_shown(bytes: &[u8]) -> String {
    let address = <[u8; 8]>::try_from(bytes).map(usize::from_le_bytes);
    match address {
        Ok(0) => "NULL".to_owned(),
        Ok(address) if heap::block(address).is_some() => format!("&{}", in_heap(address, 0)),
        Ok(address) => match (variable(address, 0), function(address)) {
            (Some(variable), _) => format!("&{}", variable.name),
            (None, Some(function)) => function,
            (None, None) => format!("{address:#x}"),
        },
        Err(_) => {
            let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            digits.join(" ")
        }
    }
}

/// Returns the name of the function that contains an address, if it is known.
fn function(address: usize) -> Option<String> {
    images().frames(address as u64).pop()?.function
}

/// Returns the images of the process.
pub(crate) fn loaded() -> Images {
    let mut images = Images::default();
    image::for_each(|info| add_image(info, &mut images));
    images
}

fn add_image(info: &libc::dl_phdr_info, images: &mut Images) {
    // SAFETY: a name is a terminated string.
    let name = unsafe { CStr::from_ptr(info.dlpi_name) };
    let headers = image::headers(info);
    let path = match name.to_bytes() {
        // The program itself.
        b"" => Path::new("/proc/self/exe"),
        name => Path::new(OsStr::from_bytes(name)),
    };
    let loaded = headers
        .iter()
        .filter(|header| header.p_type == libc::PT_LOAD)
        .map(|header| (header.p_vaddr, header.p_vaddr + header.p_memsz));
    let start = loaded.clone().map(|(start, _)| start).min();
    let end = loaded.map(|(_, end)| end).max();
    if let (Some(start), Some(end), true) = (start, end, path.exists()) {
        let base = info.dlpi_addr;
        images.add(path.to_owned(), base, base + start..base + end);
    }
}
