//! Conditions for ending a verification early: `constraints=3`, `time=5m`, `overhead=10%`.

use crate::time_limit::TimeLimit;
use std::str::FromStr;
use std::time::Duration;

/// A condition that ends a verification early.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum StopWhen {
    /// At most this many constraints remain.
    Constraints(usize),
    /// The verification has taken this long.
    Time(Duration),
    /// Enforced runs are slower by at most this fraction of the time of runs without enforcement.
    Overhead(f64),
}

/// A text that is not a condition.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0:?} is not a condition to stop at; write constraints=3, time=5m or overhead=10%")]
pub struct NoStop(String);

impl FromStr for StopWhen {
    type Err = NoStop;

    fn from_str(text: &str) -> Result<StopWhen, NoStop> {
        let no_stop = || NoStop(text.to_owned());
        let (what, value) = text.split_once('=').ok_or_else(no_stop)?;
        match what {
            "constraints" => value.parse().ok().map(StopWhen::Constraints),
            "time" => {
                let limit = value.parse().ok();
                limit.map(|TimeLimit(limit)| StopWhen::Time(limit))
            }
            "overhead" => {
                let percent = value.strip_suffix('%').unwrap_or(value).parse::<f64>();
                let percent = percent.ok().filter(|percent| *percent >= 0.0);
                percent.map(|percent| StopWhen::Overhead(percent / 100.0))
            }
            _ => None,
        }
        .ok_or_else(no_stop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_stop_at_is_a_word_and_a_number() {
        assert_eq!("constraints=3".parse(), Ok(StopWhen::Constraints(3)));
        let time = Duration::from_secs(90);
        assert_eq!("time=1.5m".parse(), Ok(StopWhen::Time(time)));
        assert_eq!("overhead=10%".parse(), Ok(StopWhen::Overhead(0.1)));
        assert_eq!("overhead=25".parse(), Ok(StopWhen::Overhead(0.25)));
    }

    #[test]
    fn everything_else_is_refused() {
        for text in [
            "",
            "3",
            "constraints",
            "constraints=-1",
            "time=x",
            "overhead=-1%",
            "overhead=nan%",
        ] {
            assert!(text.parse::<StopWhen>().is_err(), "{text}");
        }
    }
}
