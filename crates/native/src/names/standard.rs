//! The rule for release sequences in the language standard of a unit.

use super::information::Information;
use gimli::{DwLang, Reader as _, constants};

/// Endings of standards since C++20, in the name of the language or in `-std=`.
const SINCE_CPP20: [&str; 6] = ["++20", "++2a", "++23", "++2b", "++26", "++2c"];

/// Checks whether a relaxed store continues the release sequence of its thread, as in C and in C++
/// before C++20. Compilers record the standard in the name of the producer: gcc always does, clang
/// only with its whole command line (`-grecord-command-line`). Returns false if the standard is
/// unknown: shorter release sequences order less, so no race is missed.
pub fn continues_release_sequences(information: &Information, unit: usize) -> bool {
    let Some(unit) = information.units.get(unit) else {
        return false;
    };
    let mut entries = unit.entries();
    let Ok(Some(root)) = entries.next_dfs() else {
        return false;
    };
    let Some(gimli::AttributeValue::Language(language)) =
        root.attr_value(constants::DW_AT_language)
    else {
        return false;
    };
    match language {
        constants::DW_LANG_C
        | constants::DW_LANG_C89
        | constants::DW_LANG_C99
        | constants::DW_LANG_C11
        | constants::DW_LANG_C17 => true,
        constants::DW_LANG_C_plus_plus
        | constants::DW_LANG_C_plus_plus_03
        | constants::DW_LANG_C_plus_plus_11
        | constants::DW_LANG_C_plus_plus_14
        | constants::DW_LANG_C_plus_plus_17 => {
            let producer = root.attr_value(constants::DW_AT_producer);
            let producer =
                producer.and_then(|value| information.dwarf.attr_string(unit, value).ok());
            let producer =
                producer.and_then(|text| Some(text.to_string_lossy().ok()?.into_owned()));
            producer.is_some_and(|producer| !is_since_cpp20(&producer))
        }
        DwLang(_) => false,
    }
}

/// Checks whether the last standard in the producer's name is C++20 or later.
fn is_since_cpp20(producer: &str) -> bool {
    let mut words = producer.split_whitespace().rev();
    let standard = words.find(|word| word.starts_with("-std=") || word.starts_with("C++"));
    standard.is_some_and(|standard| SINCE_CPP20.iter().any(|since| standard.ends_with(since)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_standard_counts() {
        for (producer, is_since) in [
            ("GNU C++17 12.2.0 -mtune=generic -O0 -g", false),
            ("GNU C++20 12.2.0 -std=c++20 -O0", true),
            (
                "Debian clang version 14.0.6 /usr/bin/clang -O0 -g -std=c++20 x.cpp",
                true,
            ),
            (
                "clang version 14.0.6 clang -std=gnu++2a -std=c++17 x.cpp",
                false,
            ),
            ("Debian clang version 14.0.6", false),
        ] {
            assert_eq!(is_since_cpp20(producer), is_since, "{producer}");
        }
    }
}
