//! Lays out text in columns of limited width, with or without colour.

/// The style of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style {
    /// The number of characters in a line.
    pub width: usize,
    /// Whether the terminal supports colours.
    pub colour: bool,
    /// Whether long executions are shown in full.
    pub all_events: bool,
}

impl Default for Style {
    fn default() -> Style {
        Style {
            width: 100,
            colour: false,
            all_events: false,
        }
    }
}

/// The role of a piece of text, which decides its colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ink {
    /// Text.
    Plain,
    /// Headings.
    Bold,
    /// Less important text.
    Faint,
    /// Good news.
    Good,
    /// Bad news.
    Bad,
    /// Text to pay attention to.
    Mark,
}

impl Style {
    /// Returns the text in its colour.
    pub(crate) fn paint(self, ink: Ink, text: &str) -> String {
        let code = match ink {
            Ink::Plain => return text.to_owned(),
            Ink::Bold => "1",
            Ink::Faint => "2",
            Ink::Good => "1;32",
            Ink::Bad => "1;31",
            Ink::Mark => "33",
        };
        if self.colour && !text.trim().is_empty() {
            return format!("\u{1b}[{code}m{text}\u{1b}[0m");
        }
        text.to_owned()
    }
}

/// Returns the number of columns that a text needs: one for each character.
pub(crate) fn length(text: &str) -> usize {
    text.chars().count()
}

/// Appends spaces to a text until it has this width.
pub(crate) fn pad(text: &str, width: usize) -> String {
    format!("{text:<width$}")
}

/// Breaks a text into lines of at most `width` characters, between words if possible.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if length(line) + 1 + length(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.extend(pieces(word, width)),
        }
    }
    lines
}

/// Splits a long word. A piece ends after a punctuation mark if its second half contains a
/// punctuation mark.
fn pieces(word: &str, width: usize) -> Vec<String> {
    let mut letters: &[char] = &word.chars().collect::<Vec<char>>();
    let mut pieces = Vec::new();
    while letters.len() > width {
        let sign = letters[..width]
            .iter()
            .rposition(|letter| ".:,;/(<[{_-".contains(*letter));
        let cut = sign
            .map(|sign| sign + 1)
            .filter(|&cut| cut * 2 > width)
            .unwrap_or(width);
        pieces.push(letters[..cut].iter().collect());
        letters = &letters[cut..];
    }
    pieces.push(letters.iter().collect());
    pieces
}

/// Returns the widths of columns that would need `wanted` and share `available`. The widest columns
/// shrink first.
pub(crate) fn share(wanted: &[usize], available: usize) -> Vec<usize> {
    let mut by_width: Vec<usize> = wanted.to_vec();
    by_width.sort_unstable();
    let mut left = available;
    for (index, &width) in by_width.iter().enumerate() {
        let equal = left / (by_width.len() - index);
        if width > equal {
            return wanted.iter().map(|&wanted| wanted.min(equal)).collect();
        }
        left -= width;
    }
    wanted.to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_long_words_inside() {
        assert_eq!(wrap("a load of x", 6), ["a load", "of x"]);
        assert_eq!(wrap("exchanged", 7), ["exchang", "ed"]);
        assert_eq!(
            wrap("AtomicU32@main.rs:16.load()", 22),
            ["AtomicU32@main.rs:16.", "load()"]
        );
        assert_eq!(wrap("a.bcdefghijk", 6), ["a.bcde", "fghijk"]);
        assert!(wrap("", 5).is_empty());
    }

    #[test]
    fn the_widest_columns_give_way() {
        assert_eq!(share(&[5, 30, 10], 100), [5, 30, 10]);
        assert_eq!(share(&[5, 30, 10], 30), [5, 15, 10]);
        assert_eq!(share(&[50, 50], 31), [15, 15]);
        assert!(share(&[], 10).is_empty());
    }

    #[test]
    fn colour_is_only_used_where_it_is_wanted() {
        let coloured = Style {
            width: 80,
            colour: true,
            all_events: false,
        };
        assert_eq!(Style::default().paint(Ink::Bad, "bug"), "bug");
        assert_eq!(coloured.paint(Ink::Bad, "bug"), "\u{1b}[1;31mbug\u{1b}[0m");
    }
}
