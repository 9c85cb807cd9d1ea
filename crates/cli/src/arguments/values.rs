//! Parsers for the values of options.

use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser, TypedValueParser};
use explore::{Algorithm, MemoryModel};
use report::{Input, Omission, Shortcut};
use std::ffi::OsString;

/// Parses `n=3`.
pub(super) fn value(text: &str) -> Result<(String, i64), String> {
    let parsed = text
        .split_once('=')
        .and_then(|(name, value)| Some((name.to_owned(), value.parse().ok()?)));
    parsed
        .filter(|(name, _)| !name.is_empty())
        .ok_or_else(|| "an input is a name and its value: n=3".to_owned())
}

/// Parses `n=1..4`.
pub(super) fn input(text: &str) -> Result<Input, String> {
    let parsed = text.split_once('=').and_then(|(name, range)| {
        let (lowest, highest) = range.split_once("..")?;
        Some(Input {
            name: name.to_owned(),
            lowest: lowest.parse().ok()?,
            highest: highest.trim_start_matches('=').parse().ok()?,
        })
    });
    match parsed {
        Some(input) if input.lowest <= input.highest && !input.name.is_empty() => Ok(input),
        Some(_) | None => Err("an input is a name and its values: n=1..4".to_owned()),
    }
}

/// Parses a command, which must not be empty.
pub(super) fn command() -> impl TypedValueParser<Value = OsString> {
    NonEmptyStringValueParser::new().map(OsString::from)
}

pub(super) fn shortcut() -> impl TypedValueParser<Value = Shortcut> {
    PossibleValuesParser::new(Shortcut::ALL.map(Shortcut::name)).map(|name| {
        let mut all = Shortcut::ALL.into_iter();
        let named = all.find(|shortcut| shortcut.name() == name);
        named.expect("only names of shortcuts are possible")
    })
}

pub(super) fn omission() -> impl TypedValueParser<Value = Omission> {
    // Hidden synchronization is accepted by programs in Rust themselves, not here.
    let all = Omission::ALL.into_iter();
    let kinds = all.filter(|&kind| kind != Omission::Hidden);
    PossibleValuesParser::new(kinds.map(Omission::name))
        .map(|name| name.parse().expect("only names of kinds are possible"))
}

pub(super) fn algorithm() -> impl TypedValueParser<Value = Algorithm> {
    PossibleValuesParser::new(Algorithm::ALL.map(Algorithm::name))
        .map(|name| name.parse().expect("only names of algorithms are possible"))
}

pub(super) fn memory() -> impl TypedValueParser<Value = MemoryModel> {
    PossibleValuesParser::new(MemoryModel::ALL.map(MemoryModel::name))
        .map(|name| name.parse().expect("only names of models are possible"))
}
