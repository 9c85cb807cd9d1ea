//! The two languages of sources, distinguished by file extension as compilers do.

use std::path::Path;

/// The language of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Language {
    /// C.
    C,
    /// C++.
    CPlusPlus,
}

const C: [&str; 2] = ["c", "i"];
const C_PLUS_PLUS: [&str; 8] = ["cc", "cp", "cxx", "cpp", "CPP", "c++", "C", "ii"];

impl Language {
    /// Returns the language of a file with this name, or `None` if the file is not a source.
    ///
    /// ```
    /// use mazurka_native::Language;
    /// assert_eq!(Language::of("queue.c".as_ref()), Some(Language::C));
    /// assert_eq!(Language::of("queue.cpp".as_ref()), Some(Language::CPlusPlus));
    /// assert_eq!(Language::of("queue.o".as_ref()), None);
    /// ```
    pub fn of(source: &Path) -> Option<Language> {
        let ending = source.extension()?.to_str()?;
        if C.contains(&ending) {
            return Some(Language::C);
        }
        C_PLUS_PLUS.contains(&ending).then_some(Language::CPlusPlus)
    }

    /// Returns the language for linking a program with several sources: C++ if any of them is C++.
    ///
    /// ```
    /// use mazurka_native::Language;
    /// let sources = ["main.cc", "queue.c"];
    /// assert_eq!(Language::of_all(&sources), Some(Language::CPlusPlus));
    /// ```
    pub fn of_all(sources: &[impl AsRef<Path>]) -> Option<Language> {
        let languages = sources
            .iter()
            .filter_map(|source| Language::of(source.as_ref()));
        languages.max()
    }
}
