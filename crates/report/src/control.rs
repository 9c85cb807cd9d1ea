//! Escapes control characters in texts from programs and files, so that no terminal interprets
//! them.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::borrow::Cow;

/// Checks whether a terminal interprets a character: C0 except line breaks and tabs, DEL, C1, and
/// characters that change the direction or the lines of a text.
fn is_control(letter: char) -> bool {
    let is_shown = matches!(letter, '\n' | '\t');
    let is_layout = matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    letter.is_control() && !is_shown || is_layout
}

/// Escapes the control characters of a text as in Rust: `\u{1b}`.
///
/// ```
/// assert_eq!(report::harmless("a\u{1b}[2Jb\tc"), "a\\u{1b}[2Jb\tc");
/// ```
pub fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    let escaped = text.chars().map(|letter| match is_control(letter) {
        true => letter.escape_default().to_string(),
        false => letter.to_string(),
    });
    Cow::Owned(escaped.collect())
}

/// Escapes the control characters of a JSON text. JSON itself escapes only C0; the other control
/// characters can occur only in strings.
///
/// ```
/// assert_eq!(report::harmless_json("[\"\u{9b}2J\"]"), r#"["\u009b2J"]"#);
/// ```
pub fn harmless_json(json: &str) -> Cow<'_, str> {
    if !json.contains(is_control) {
        return Cow::Borrowed(json);
    }
    let escaped = json.chars().map(|letter| match is_control(letter) {
        true => format!("\\u{:04x}", u32::from(letter)),
        false => letter.to_string(),
    });
    Cow::Owned(escaped.collect())
}

/// Returns the same data with harmless texts, or `None` if all texts are already harmless.
pub(crate) fn made_harmless<T: Serialize + DeserializeOwned>(data: &T) -> Option<T> {
    let mut value = serde_json::to_value(data).ok()?;
    match clean(&mut value) {
        true => serde_json::from_value(value).ok(),
        false => None,
    }
}

/// Makes the texts of a value harmless. Returns whether this changed any text.
fn clean(value: &mut Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
        Value::String(text) => {
            let Cow::Owned(escaped) = harmless(text) else {
                return false;
            };
            *text = escaped;
            true
        }
        Value::Array(values) => values
            .iter_mut()
            .fold(false, |changed, value| clean(value) | changed),
        Value::Object(values) => values
            .values_mut()
            .fold(false, |changed, value| clean(value) | changed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_control_characters_are_escaped() {
        for letter in [
            "\u{1b}", "\u{0}", "\u{7}", "\u{8}", "\r", "\u{7f}", "\u{9b}", "\u{85}", "\u{202e}",
            "\u{2066}", "\u{200f}",
        ] {
            let text = harmless(letter);
            assert!(
                text.starts_with('\\') && !text.contains(is_control),
                "{text}"
            );
        }
        assert_eq!(harmless("Ünïcode → a\tb\n"), "Ünïcode → a\tb\n");
    }

    #[test]
    fn texts_are_cleaned_wherever_they_are() {
        let data = vec![
            vec!["fine".to_owned()],
            vec!["\u{1b}]0;title\u{7}".to_owned()],
        ];
        let cleaned = made_harmless(&data).unwrap();
        assert_eq!(cleaned, [["fine"], ["\\u{1b}]0;title\\u{7}"]]);
        assert_eq!(made_harmless(&cleaned), None);
    }
}
