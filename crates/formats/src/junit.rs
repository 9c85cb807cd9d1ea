//! Formats a report as JUnit XML, for continuous integration: a checked program is a test case.

use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};
use report::{Report, Style, Verdict, harmless};
use std::time::Duration;

/// Formats the report as a test suite with one test case. An incomplete search is a skipped test
/// case, because the unexplored part may have a bug.
///
/// # Panics
///
/// Never panics, because all texts can be written as XML.
pub fn junit(report: &Report) -> String {
    let text = report.text(Style::default());
    let mut status = match report.verdict {
        Verdict::Verified => TestCaseStatus::success(),
        Verdict::Bug => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Verdict::Bounded => TestCaseStatus::skipped(),
    };
    if report.verdict != Verdict::Verified {
        status.set_message(harmless(&message(report)).as_ref());
    }
    if report.verdict == Verdict::Bug {
        let kind = report.errors.first().map(|failure| failure.kind.id());
        status.set_type(kind.unwrap_or_else(|| "goal".to_owned()));
        status.set_description(text.as_str());
    }
    let name = match report.program.as_str() {
        "" => "program",
        name => name,
    };
    let time = Duration::try_from_secs_f64(report.elapsed_s).unwrap_or_default();
    let mut case = TestCase::new(harmless(name).as_ref(), status);
    case.set_classname("mazurka").set_time(time);
    case.set_system_out(text);
    let mut suite = TestSuite::new("mazurka");
    suite.set_time(time).add_test_case(case);
    let mut all = quick_junit::Report::new("mazurka");
    all.set_time(time).add_test_suite(suite);
    let text = all.to_string();
    let text = text.expect("writing to memory cannot fail");
    // XML does not permit these characters.
    text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

/// Returns the short message of the test case, which viewers show in their lists of test cases.
fn message(report: &Report) -> String {
    match report.errors.as_slice() {
        [] => {
            let plain = Style::default();
            let bounds = report.bounds.join("; ");
            match report.verdict {
                Verdict::Bounded => format!("not everything was explored: {bounds}"),
                Verdict::Bug | Verdict::Verified => report.headline(plain),
            }
        }
        failures => {
            let texts = failures.iter().map(|failure| failure.message.as_str());
            texts.collect::<Vec<&str>>().join("\n")
        }
    }
}
