//! Spawn paths. A spawn path names a thread. The path of the main thread is `0`. The path of any
//! other thread consists of the path of its parent and its number among the children of the parent.

use smallvec::SmallVec;
use std::fmt::Write;

/// The numbers on the path from the main thread on. A path that is not very deep needs no heap
/// memory, so that a starting thread need not set up a heap.
pub(crate) type Path = SmallVec<[u32; 16]>;

/// Parses a path written as `0.1.2`.
pub(crate) fn parse(text: &str) -> Option<Path> {
    text.split('.').map(|number| number.parse().ok()).collect()
}

/// Returns the path as text.
pub(crate) fn written(path: &Path) -> String {
    let mut text = String::new();
    for number in path {
        let point = if text.is_empty() { "" } else { "." };
        write!(text, "{point}{number}").expect("writing to a string succeeds");
    }
    text
}

/// Hash of the empty path, with which [`extended`] begins.
const NOWHERE: u64 = 0xcbf2_9ce4_8422_2325;

/// Returns the hash of a path with one more number, from the hash of the path without this number.
#[inline]
pub(crate) fn extended(hash: Option<u64>, number: u32) -> u64 {
    let mixed = (hash.unwrap_or(NOWHERE) ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 32
}

/// Returns the hash of a path, or `None` for the empty path.
pub(crate) fn hash(path: &[u32]) -> Option<u64> {
    path.iter()
        .fold(None, |hash, &number| Some(extended(hash, number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_read_as_it_is_written() {
        for text in ["0", "0.3", "0.10.2"] {
            assert_eq!(written(&parse(text).unwrap()), text);
        }
        assert_eq!(parse("0..1"), None);
        assert_eq!(parse(""), None);
    }
}
