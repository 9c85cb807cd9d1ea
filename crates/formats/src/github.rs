//! Formats a report for GitHub workflows: annotations at the lines of bugs, in addition to the
//! text.

use report::{Report, Verdict, harmless, parts};
use std::hash::{BuildHasher, RandomState};

/// Returns the text of the report, followed by annotations. Nothing in the text acts as a command.
pub fn github(report: &Report, text: &str) -> String {
    // GitHub ignores commands in the text up to this word, which the checked program cannot
    // predict.
    let word = format!("mazurka-{:016x}", RandomState::new().hash_one(0));
    let mut text = format!("::stop-commands::{word}\n{text}::{word}::\n");
    for failure in &report.errors {
        let properties = properties(failure.location.as_deref(), failure.kind.name());
        text.push_str(&command("error", &properties, &failure.message));
    }
    let is_missed = report.verdict == Verdict::Bug && report.errors.is_empty();
    for goal in report.unreached() {
        let (level, title) = match is_missed {
            true => ("error", "never reached"),
            false => ("notice", "not reached so far"),
        };
        let properties = properties(Some(&goal.location), title);
        text.push_str(&command(
            level,
            &properties,
            &format!("{title}: {}", goal.name),
        ));
    }
    for warning in &report.warnings {
        text.push_str(&command("warning", &properties(None, "Mazurka"), warning));
    }
    if report.verdict == Verdict::Bounded {
        let bounds = report.bounds.join("; ");
        let message = format!("not everything was explored: {bounds}");
        text.push_str(&command("warning", &properties(None, "Mazurka"), &message));
    }
    text
}

fn command(level: &str, properties: &str, message: &str) -> String {
    format!("::{level} {properties}::{}\n", escaped(message))
}

fn properties(place: Option<&str>, title: &str) -> String {
    let mut all = Vec::new();
    if let Some(place) = place {
        let (file, line, column) = parts(place);
        all.push(format!("file={}", escaped_property(file)));
        all.extend(line.map(|line| format!("line={line}")));
        all.extend(column.map(|column| format!("col={column}")));
    }
    all.push(format!("title={}", escaped_property(title)));
    all.join(",")
}

/// Escapes a text for a command. Line breaks and `%` are encoded for GitHub, which decodes them.
/// Other control characters, except tabs, become visible escapes such as `\r`.
fn escaped(text: &str) -> String {
    let lines: Vec<String> = text
        .split('\n')
        .map(|line| harmless(line).replace('%', "%25"))
        .collect();
    lines.join("%0A")
}

fn escaped_property(text: &str) -> String {
    escaped(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_in_commands_and_properties() {
        assert_eq!(escaped("1 % 2\n::error::x\r"), "1 %25 2%0A::error::x\\r");
        assert_eq!(
            properties(Some("a,b.c:3:4"), "data race"),
            "file=a%2Cb.c,line=3,col=4,title=data race"
        );
    }
}
