//! Formats and parses places in a source.

use std::panic::Location;

/// Formats a place as `file:line:column`, with a normalized path: `a/b/../c.rs:1:2` becomes
/// `a/c.rs:1:2`.
///
/// ```
/// let here = std::panic::Location::caller();
/// let shown = report::place(here);
/// assert!(shown.ends_with(&format!(":{}:{}", here.line(), here.column())));
/// ```
pub fn place(location: &Location<'_>) -> String {
    let (line, column) = (location.line(), location.column());
    format!("{}:{line}:{column}", direct(location.file()))
}

/// The link through which the package of the corpus contains the directory `corpus`.
const CORPUS: &str = "crates/corpus/programs/";

fn direct(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        let turns_back =
            part == ".." && parts.last().is_some_and(|last| !matches!(*last, "" | ".."));
        match turns_back {
            true => parts.truncate(parts.len() - 1),
            false => parts.push(part),
        }
    }
    let path = parts.join("/");
    match path.strip_prefix(CORPUS) {
        Some(program) => format!("corpus/{program}"),
        None => path,
    }
}

/// Splits a place into the file, and the line and the column if they are known.
///
/// ```
/// assert_eq!(report::parts("src/a.rs:12:5"), ("src/a.rs", Some(12), Some(5)));
/// assert_eq!(report::parts("src/a.rs"), ("src/a.rs", None, None));
/// ```
pub fn parts(place: &str) -> (&str, Option<u32>, Option<u32>) {
    let cut = |text: &'_ str| -> Option<(usize, u32)> {
        let (before, number) = text.rsplit_once(':')?;
        Some((before.len(), number.parse().ok()?))
    };
    let Some((first, last)) = cut(place) else {
        return (place, None, None);
    };
    match cut(&place[..first]) {
        Some((file, line)) => (&place[..file], Some(line), Some(last)),
        None => (&place[..first], Some(last), None),
    }
}

/// Returns the file name: `src/a/b.rs:12:5` → `b.rs`.
pub(crate) fn file(location: &str) -> &str {
    let name = location.rsplit(['/', '\\']).next().unwrap_or(location);
    name.split(':').next().unwrap_or(name)
}

/// Returns the file name and the line: `src/a/b.rs:12:5` → `b.rs:12`.
pub(crate) fn short_place(location: &str) -> String {
    let name = location.rsplit(['/', '\\']).next().unwrap_or(location);
    match name.match_indices(':').nth(1) {
        Some((column, _)) => name[..column].to_owned(),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_shown_without_detours() {
        for (path, shown) in [
            ("crates/corpus/src/../programs/a.rs", "corpus/a.rs"),
            ("a/b/../c.rs", "a/c.rs"),
            ("../../a.rs", "../../a.rs"),
            ("/../a.rs", "/../a.rs"),
        ] {
            assert_eq!(direct(path), shown);
        }
    }

    #[test]
    fn places_are_short() {
        assert_eq!(short_place("src/a/b.rs:12:5"), "b.rs:12");
        assert_eq!(short_place("b.rs:12"), "b.rs:12");
        assert_eq!(short_place("b.rs"), "b.rs");
    }
}
