//! The words of a litmus test, each with its line.

/// The error for a text that is not a litmus test.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: expected {expected}, found {found:?}")]
pub struct NotALitmusTest {
    /// The line, from 1.
    pub line: usize,
    expected: String,
    found: String,
}

/// The words of a text, read from left to right.
pub(super) struct Words<'a> {
    words: Vec<(usize, &'a str)>,
    next: usize,
}

/// The symbols of more than one character.
const SYMBOLS: [&str; 4] = ["==", "!=", "/\\", "\\/"];

/// The comments: how they begin and end.
const COMMENTS: [(&str, &str); 3] = [("//", "\n"), ("/*", "*/"), ("(*", "*)")];

impl<'a> Words<'a> {
    /// Splits a text whose first line has this number.
    pub(super) fn new(text: &'a str, mut line: usize) -> Words<'a> {
        let mut words = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            let comment = COMMENTS.iter().find(|(begin, _)| rest.starts_with(begin));
            let symbol = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol));
            let length = match (comment, symbol) {
                (Some((_, end)), _) => rest.find(end).map_or(rest.len(), |at| at + end.len()),
                (None, Some(symbol)) => symbol.len(),
                (None, None) if is_part(first) => {
                    rest.find(|letter| !is_part(letter)).unwrap_or(rest.len())
                }
                (None, None) => first.len_utf8(),
            };
            let (word, others) = rest.split_at(length);
            if comment.is_none() && !first.is_whitespace() {
                words.push((line, word));
            }
            line += word.matches('\n').count();
            rest = others;
        }
        words.push((line, ""));
        Words { words, next: 0 }
    }

    /// Returns the next word; "" at the end.
    pub(super) fn peek(&self) -> &'a str {
        self.words[self.next].1
    }

    pub(super) fn take(&mut self) -> &'a str {
        let word = self.peek();
        self.next = (self.next + 1).min(self.words.len() - 1);
        word
    }

    /// Takes the next word if it is this one.
    pub(super) fn takes(&mut self, word: &str) -> bool {
        let is_next = self.peek() == word;
        if is_next {
            self.take();
        }
        is_next
    }

    pub(super) fn expect(&mut self, word: &str) -> Result<(), NotALitmusTest> {
        match self.takes(word) {
            true => Ok(()),
            false => self.refuse(word),
        }
    }

    /// Takes the next word if `read` accepts it. Returns the result of `read`.
    pub(super) fn read<T>(
        &mut self,
        expected: &str,
        read: impl FnOnce(&'a str) -> Option<T>,
    ) -> Result<T, NotALitmusTest> {
        match read(self.peek()) {
            Some(value) => {
                self.take();
                Ok(value)
            }
            None => self.refuse(expected),
        }
    }

    pub(super) fn name(&mut self, expected: &str) -> Result<&'a str, NotALitmusTest> {
        let is_name = |word: &str| word.starts_with(|first: char| first.is_ascii_alphabetic());
        self.read(expected, |word| is_name(word).then_some(word))
    }

    /// Returns the error for a next word that is not as expected.
    pub(super) fn refuse<T>(&self, expected: &str) -> Result<T, NotALitmusTest> {
        let (line, found) = self.words[self.next];
        Err(unexpected(line, expected, found))
    }
}

pub(super) fn unexpected(line: usize, expected: &str, found: &str) -> NotALitmusTest {
    NotALitmusTest {
        line,
        expected: expected.to_owned(),
        found: found.to_owned(),
    }
}
