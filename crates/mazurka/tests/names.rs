//! The book's table of mirrored names has every name that the modules export.

const TABLE: &str = include_str!("../../../docs/book/src/loom.md");

const MODULES: [&str; 8] = [
    include_str!("../src/alloc.rs"),
    include_str!("../src/cell.rs"),
    include_str!("../src/future.rs"),
    include_str!("../src/hint.rs"),
    include_str!("../src/sync.rs"),
    include_str!("../src/sync/atomic.rs"),
    include_str!("../src/sync/mpsc.rs"),
    include_str!("../src/thread.rs"),
];

/// Returns the names that a module declares or re-exports.
fn exported(source: &str) -> Vec<String> {
    let mut names = Vec::new();
    let items = source.split("\npub ").skip(1);
    for item in items {
        let mut words = item.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        match words.next() {
            Some("use") => {
                let list = item.split(';').next().unwrap_or_default();
                let list = list.rsplit("::").next().unwrap_or_default();
                let words = list.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
                names.extend(words.filter(|name| !name.is_empty()).map(str::to_owned));
            }
            Some("fn" | "struct" | "unsafe") => {
                let name = words.find(|word| !matches!(*word, "fn" | "struct" | ""));
                names.extend(name.map(str::to_owned));
            }
            _ => {}
        }
    }
    names
}

/// Checks whether the name is that of an atomic integer. The table lists those with a size as a
/// range.
fn is_in_range(name: &str) -> bool {
    name.starts_with("AtomicI") || name.starts_with("AtomicU")
}

#[test]
fn the_table_has_every_name() {
    for source in MODULES {
        let names = exported(source);
        assert!(!names.is_empty());
        for name in names {
            let is_listed = TABLE.contains(&format!("`{name}`")) || is_in_range(&name);
            assert!(is_listed, "{name} is missing in docs/book/src/loom.md");
        }
    }
}

#[test]
fn names_are_found_in_sources() {
    let source =
        "//!\n\npub use a::{B, c};\npub use d::E;\n\n#[x]\npub fn f<T>() {}\npub struct G(H);\n";
    assert_eq!(exported(source), ["B", "c", "E", "f", "G"]);
}
