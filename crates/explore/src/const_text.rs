//! Comparison of texts in constants.

/// Compares texts in constants, where `==` is not available.
pub(crate) const fn is_same(one: &[u8], other: &[u8]) -> bool {
    match (one, other) {
        ([], []) => true,
        ([first, one @ ..], [second, other @ ..]) => *first == *second && is_same(one, other),
        ([], [..]) | ([..], []) => false,
    }
}
