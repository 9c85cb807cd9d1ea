//! Formats numbers for people.

/// Formats a count with commas: `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a count with its noun: `1 execution`, `2 executions`.
pub fn counted(number: u64, noun: &str) -> String {
    format!(
        "{} {noun}{}",
        count(number),
        if number == 1 { "" } else { "s" }
    )
}

/// Formats a time: `0.012 s`, `3.40 s`, `5 min 07 s`, `3 h 02 min`.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => format!("{s:.3} s"),
        s if s < 10.0 => format!("{s:.2} s"),
        s if s < 60.0 => format!("{s:.1} s"),
        s if s < 3600.0 => format!("{} min {:02} s", (s / 60.0) as u64, (s % 60.0) as u64),
        s => format!(
            "{} h {:02} min",
            (s / 3600.0) as u64,
            (s % 3600.0 / 60.0) as u64
        ),
    }
}

/// Formats a size of memory in units of 1,000,000 bytes: `9.1 MB`.
pub fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_by_three() {
        let shown = [0, 12, 999, 1_000, 147_456, 1_234_567].map(count);
        assert_eq!(shown, ["0", "12", "999", "1,000", "147,456", "1,234,567"]);
        assert_eq!(counted(1, "event"), "1 event");
        assert_eq!(counted(0, "event"), "0 events");
    }

    #[test]
    fn times_have_the_unit_that_fits() {
        let shown = [0.0123, 3.456, 12.34, 307.0, 10_920.0].map(duration);
        assert_eq!(
            shown,
            ["0.012 s", "3.46 s", "12.3 s", "5 min 07 s", "3 h 02 min"]
        );
    }
}
