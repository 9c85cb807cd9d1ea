//! Compiled conversions of floating-point numbers (`std::from_chars`, `std::to_chars`).

use super::super::Reporter;
use super::super::entry::Arguments;

/// Returns the effects of the function with this mangled name, if it converts a number.
pub(super) fn call(name: &str) -> Option<fn(&Arguments, &mut Reporter)> {
    if let Some(kind) = name.strip_prefix("_ZSt10from_charsPKcS0_R") {
        return Some(match kind.as_bytes().first()? {
            b'f' => |arguments, reporter| read(arguments, 4, reporter),
            b'd' => |arguments, reporter| read(arguments, 8, reporter),
            _ => |arguments, reporter| read(arguments, 10, reporter),
        });
    }
    // The number of written characters is unknown before the call; it is at least one.
    name.starts_with("_ZSt8to_charsPcS_")
        .then_some(|arguments, reporter| {
            let [start, end] = [0, 1].map(|number| arguments.word(number));
            reporter.writes((start, usize::from(start < end)));
        })
}

/// Reports the read of a number from the text in the first two arguments into the third argument.
fn read(arguments: &Arguments, size: usize, reporter: &mut Reporter) {
    let [start, end, to] = [0, 1, 2].map(|number| arguments.word(number));
    let is_of_number = |&at: &usize| {
        // SAFETY: the program passes the text up to `end` to the function.
        let byte = unsafe { std::ptr::with_exposed_provenance::<u8>(at).read() };
        byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
    };
    let length = (start..end).take_while(is_of_number).count();
    reporter.reads((start, (length + 1).min(end.saturating_sub(start))));
    reporter.writes((to, size));
}
