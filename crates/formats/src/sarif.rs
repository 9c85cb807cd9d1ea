//! Formats a report as SARIF 2.1.0, for code scanning. Each failure is a result whose code flow is
//! the interleaving. If there are no failures, each goal that a complete search did not reach is a
//! result.

use report::{Failure, FailureKind, Interleaving, Report, Row, Verdict, harmless, parts};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Formats the report as a SARIF log.
pub fn sarif(report: &Report) -> Value {
    let kinds: BTreeSet<FailureKind> = report.errors.iter().map(|failure| failure.kind).collect();
    let mut rules: Vec<Value> = kinds.into_iter().map(rule).collect();
    let mut results: Vec<Value> = report.errors.iter().map(result).collect();
    let is_missed = report.verdict == Verdict::Bug && report.errors.is_empty();
    for goal in report.unreached().filter(|_| is_missed) {
        if rules.is_empty() {
            rules.push(json!({
                "id": "goal",
                "shortDescription": { "text": "A goal is never reached." },
            }));
        }
        results.push(json!({
            "ruleId": "goal",
            "level": "error",
            "message": { "text": harmless(&format!("never reached: {}", goal.name)) },
            "locations": [location(Some(&goal.location), None)],
        }));
    }
    let notification = |level: &'static str| move |text: &String| json!({ "level": level, "message": { "text": harmless(text) } });
    let notifications: Vec<Value> = report
        .warnings
        .iter()
        .map(notification("warning"))
        .chain(report.bounds.iter().map(notification("note")))
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "Mazurka",
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules,
            } },
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": notifications,
            }],
            "results": results,
            "properties": {
                "program": harmless(&report.program),
                "verdict": report.verdict,
                "executions": report.executions,
                "algorithm": report.algorithm.name(),
            },
        }],
    })
}

fn rule(kind: FailureKind) -> Value {
    json!({
        "id": kind.id(),
        "name": kind.name(),
        "shortDescription": { "text": kind.description() },
    })
}

fn result(failure: &Failure) -> Value {
    let message = match failure.message.as_str() {
        "" => failure.kind.name(),
        message => message,
    };
    let mut result = json!({
        "ruleId": failure.kind.id(),
        "level": "error",
        "message": { "text": harmless(message) },
        "locations": [location(failure.location.as_deref(), None)],
    });
    if !failure.interleaving.rows.is_empty() {
        result["codeFlows"] = json!([code_flow(&failure.interleaving)]);
    }
    if let Some(command) = &failure.repeat_with {
        result["properties"] = json!({ "repeatWith": harmless(command) });
    }
    result
}

/// Returns a code flow with one thread flow for each thread that has events. `executionOrder` gives
/// their interleaving.
fn code_flow(interleaving: &Interleaving) -> Value {
    let deciding: BTreeSet<usize> = interleaving
        .races
        .iter()
        .chain(&interleaving.conflict)
        .flat_map(|pair| [pair.first, pair.second])
        .collect();
    let flow = |(thread, name): (usize, &String)| {
        let rows = interleaving.rows.iter().enumerate();
        let rows_of_thread = rows.filter(|(_, row)| row.thread == thread);
        let locations: Vec<Value> = rows_of_thread
            .map(|(number, row)| event(number, row, deciding.contains(&number)))
            .collect();
        (!locations.is_empty()).then(|| json!({ "id": harmless(name), "locations": locations }))
    };
    let threads = interleaving.threads.iter().enumerate();
    json!({ "threadFlows": threads.filter_map(flow).collect::<Vec<Value>>() })
}

fn event(number: usize, row: &Row, decides: bool) -> Value {
    json!({
        "location": location(row.location.as_deref(), Some(&row.text)),
        "executionOrder": number + 1,
        "importance": match row.failed || decides {
            true => "essential",
            false => "important",
        },
    })
}

fn location(place: Option<&str>, text: Option<&str>) -> Value {
    let mut location = Map::new();
    if let Some(place) = place {
        let (file, line, column) = parts(place);
        let mut region = Map::new();
        if let Some(line) = line.filter(|&line| line > 0) {
            region.insert("startLine".to_owned(), json!(line));
            if let Some(column) = column.filter(|&column| column > 0) {
                region.insert("startColumn".to_owned(), json!(column));
            }
        }
        let mut physical = json!({ "artifactLocation": { "uri": uri(file) } });
        if !region.is_empty() {
            physical["region"] = Value::Object(region);
        }
        location.insert("physicalLocation".to_owned(), physical);
    }
    if let Some(text) = text {
        location.insert("message".to_owned(), json!({ "text": harmless(text) }));
    }
    Value::Object(location)
}

/// Converts a path to a URI reference.
fn uri(path: &str) -> String {
    let scheme = match path.starts_with('/') {
        true => "file://",
        false => "",
    };
    let escaped = path.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    });
    format!("{scheme}{}", escaped.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_references() {
        assert_eq!(uri("src/a b.rs"), "src/a%20b.rs");
        assert_eq!(uri("/tmp/ü.c"), "file:///tmp/%C3%BC.c");
    }
}
