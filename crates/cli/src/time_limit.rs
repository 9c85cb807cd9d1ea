//! Times as people write them: `30s`, `5m`, `1.5h`, `250ms`.

use std::str::FromStr;
use std::time::Duration;

/// A time from the command line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeLimit(pub Duration);

/// A text that is not a time.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0:?} is not a time; write a number followed by ms, s, m or h, for example 30s or 5m")]
pub struct NoTime(String);

impl FromStr for TimeLimit {
    type Err = NoTime;

    fn from_str(text: &str) -> Result<TimeLimit, NoTime> {
        let no_time = || NoTime(text.to_owned());
        let unit = text
            .find(|letter: char| letter.is_ascii_alphabetic())
            .unwrap_or(text.len());
        let (number, unit) = text.split_at(unit);
        let seconds = match unit {
            "ms" => 0.001,
            "s" | "" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            _ => return Err(no_time()),
        };
        let number: f64 = number.parse().map_err(|_| no_time())?;
        let limit = Duration::try_from_secs_f64(number * seconds).map_err(|_| no_time())?;
        if limit.is_zero() {
            return Err(no_time());
        }
        Ok(TimeLimit(limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_a_unit_make_a_time() {
        for (text, milliseconds) in [
            ("30s", 30_000),
            ("5m", 300_000),
            ("1.5h", 5_400_000),
            ("250ms", 250),
            ("2", 2_000),
        ] {
            assert_eq!(
                text.parse(),
                Ok(TimeLimit(Duration::from_millis(milliseconds))),
                "{text}"
            );
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for text in ["", "s", "-1s", "0s", "5 minutes", "1e99h", "nan", "5d"] {
            assert!(text.parse::<TimeLimit>().is_err(), "{text}");
        }
    }
}
