//! Spawn paths: 0 for the main thread, and for each other thread that of its parent and its number among the children.

use smallvec::SmallVec;
use std::fmt::Write;

/// The numbers from the main thread's on. Those of threads that are not started by very many generations need no memory of the
/// heap, so that a thread that starts does not have to set up one.
pub(crate) type Path = SmallVec<[u32; 16]>;

/// What people write as `0.1.2`.
pub(crate) fn parse(text: &str) -> Option<Path> {
    text.split('.').map(|number| number.parse().ok()).collect()
}

/// What people write.
pub(crate) fn written(path: &Path) -> String {
    let mut text = String::new();
    for number in path {
        let point = if text.is_empty() { "" } else { "." };
        write!(text, "{point}{number}").expect("a string takes all");
    }
    text
}

/// Of the path without numbers: what [`extended`] begins with.
const NOWHERE: u64 = 0xcbf2_9ce4_8422_2325;

/// A hash of a path with one more number, from that of the path without it.
#[inline]
pub(crate) fn extended(hash: Option<u64>, number: u32) -> u64 {
    let mixed = (hash.unwrap_or(NOWHERE) ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 32
}

/// The hash of a path; none of one without numbers.
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
