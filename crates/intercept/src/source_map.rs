//! Names for addresses of the program: from its debug information, or what the loader knows.

use runtime::native::SourceMap;
use std::ffi::CStr;
use std::mem::MaybeUninit;

/// The program's names.
pub(crate) struct Names;

/// The place of a return address: that of the call before it.
pub(crate) fn place(code: usize) -> Option<String> {
    Names.place(code)
}

impl SourceMap for Names {
    fn place(&self, code: usize) -> Option<String> {
        symbol(code - 1).map(|(name, offset)| format!("{name}+{offset:#x}"))
    }

    fn variable(&self, address: usize, _length: usize) -> String {
        match symbol(address) {
            Some((name, 0)) => name,
            Some((name, offset)) => format!("{name}+{offset}"),
            None => format!("{address:#x}"),
        }
    }

    fn value(&self, _address: usize, bytes: &[u8]) -> String {
        let mut wide = [0; 16];
        let length = bytes.len().min(16);
        wide[..length].copy_from_slice(&bytes[..length]);
        u128::from_le_bytes(wide).to_string()
    }
}

/// The symbol that an address is in, and how far.
fn symbol(address: usize) -> Option<(String, usize)> {
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: the loader fills the structure, or says that it does not.
    unsafe {
        if libc::dladdr(address as *const libc::c_void, info.as_mut_ptr()) == 0 {
            return None;
        }
        let info = info.assume_init();
        if info.dli_sname.is_null() {
            return None;
        }
        let name = CStr::from_ptr(info.dli_sname)
            .to_string_lossy()
            .into_owned();
        Some((name, address - info.dli_saddr as usize))
    }
}
