//! Names for addresses of the program, from its debug information and its symbols.

use crate::gate::Own;
use crate::{cancel, heap};
use native::{Images, Variable};
use runtime::native::SourceMap;
use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The program's names.
pub(crate) struct Names;

/// Read when the first name is asked for.
static IMAGES: Own<Option<Images>> = Own::new(None);

/// Where the program was started: paths below are shown from there.
static DIRECTORY: Own<Option<PathBuf>> = Own::new(None);

fn images() -> &'static Images {
    IMAGES.get().get_or_insert_with(|| {
        *DIRECTORY.get() = std::env::current_dir().ok();
        loaded()
    })
}

/// The place of a return address: that of the call before it.
pub(crate) fn place(code: usize) -> Option<String> {
    let frames = images().frames(code as u64 - 1);
    let frame = frames.into_iter().find(|frame| frame.file.is_some())?;
    let file = PathBuf::from(frame.file?);
    let line = frame.line?;
    let own = DIRECTORY.get().as_ref();
    let shown = own.and_then(|own| file.strip_prefix(own).ok());
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

    fn variable(&self, address: usize, length: usize) -> String {
        if let Some((block, _, site)) = heap::block(address) {
            let site = place(site);
            let site = site.as_deref().and_then(short).unwrap_or("the heap");
            return match address - block {
                0 => format!("block@{site}"),
                offset => format!("block@{site}+{offset}"),
            };
        }
        if let Some(name) = cancel::name_of(address) {
            return name;
        }
        match variable(address, length) {
            Some(variable) => variable.name,
            None => format!("{address:#x}"),
        }
    }

    fn value(&self, address: usize, bytes: &[u8]) -> String {
        match variable(address, bytes.len()) {
            Some(variable) => images().value(&variable, bytes),
            None => number(bytes),
        }
    }
}

fn variable(address: usize, length: usize) -> Option<Variable> {
    images().variable(address as u64, length as u64)
}

/// `src/queue.c:12:3` → `queue.c:12`
fn short(place: &str) -> Option<&str> {
    let file = place.rsplit('/').next()?;
    let colons: Vec<usize> = file.match_indices(':').map(|(index, _)| index).collect();
    Some(match colons[..] {
        [_, second, ..] => &file[..second],
        _ => file,
    })
}

/// What bytes without a type are: small numbers may be negative, large ones are addresses.
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

/// A pointer by what it points to, if that has a name.
fn address_shown(bytes: &[u8]) -> String {
    let address = <[u8; 8]>::try_from(bytes).map(usize::from_le_bytes);
    match address {
        Ok(address) if heap::block(address).is_some() => format!("&{}", Names.variable(address, 1)),
        Ok(address) => match variable(address, 0) {
            Some(variable) => format!("&{}", variable.name),
            None => format!("{address:#x}"),
        },
        Err(_) => {
            let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            digits.join(" ")
        }
    }
}

/// The images of the process.
fn loaded() -> Images {
    let mut images = Images::default();
    // SAFETY: the callback gets what it is given here.
    unsafe { libc::dl_iterate_phdr(Some(add_image), (&raw mut images).cast()) };
    images
}

unsafe extern "C" fn add_image(
    info: *mut libc::dl_phdr_info,
    _size: libc::size_t,
    data: *mut libc::c_void,
) -> libc::c_int {
    // SAFETY: the loader passes what is valid, and our own data.
    let (info, images) = unsafe { (&*info, &mut *data.cast::<Images>()) };
    // SAFETY: a name is a string of C; the loader passes as many headers.
    let (name, headers) = unsafe {
        (
            CStr::from_ptr(info.dlpi_name),
            std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()),
        )
    };
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
    0
}
