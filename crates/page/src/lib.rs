//! Pages for a browser: the report of a check, safe schedules, a comparison of algorithms, and the
//! explorer.
//!
//! A page is one file, which contains its script, style and data. Its content security policy
//! permits no other scripts and no other resources; only the explorer connects to its server.
//! Everything that comes from a program is data, which the script shows as text.

#![forbid(unsafe_code)]

mod sources;

pub use sources::Sources;

use report::{Case, Comparison, Repair, Report, SafeTrace, ScheduleFile, Style};
use serde_json::Value;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const REPORT: Script = Script {
    text: concat!(include_str!("stepper.js"), include_str!("page.js")),
    digest: "uvObKSmGPezarVlihPlGaWDhZiqln0fPr5BJmjTegPI=",
};
const EXPLORER: Script = Script {
    text: concat!(include_str!("stepper.js"), include_str!("explorer.js")),
    digest: "w1vYIgvNBUT23D/uTWcxchd8Zth8GFpyL+M3lzg6I9s=",
};
const SAFE: Script = Script {
    text: concat!(include_str!("stepper.js"), include_str!("safe.js")),
    digest: "TSFi2OznEi3SNFCF2ce+DQLmQpE5ii7dSbinhzV7wlo=",
};
const COMPARISON: Script = Script {
    text: concat!(include_str!("stepper.js"), include_str!("comparison.js")),
    digest: "j61cknn7JsdtUtwjM7qFHdcYBuAarRfKTbC+kED+r+o=",
};

/// The digest of the style. A page's policy permits the style and the script by their digests. A
/// test checks all digests.
const STYLE_DIGEST: &str = "i8rKiI48u7IncLIS2s18qT2kPIXQA4lXBFWzR+lTgMU=";

/// The script of a page.
struct Script {
    text: &'static str,
    digest: &'static str,
}

/// Returns the page for a report, with lines of the program's source.
///
/// ```
/// let json = r#"{"verdict":"verified","program":"p","executions":1,"halted":0,"blocked":0,"deadlocks":0,"errors":[],"bounds":[],
///     "probes":0,"events":1,"max_depth":1,"algorithm":"optimal","elapsed_s":0.1,"peak_rss_bytes":0}"#;
/// let report: report::Report = serde_json::from_str(json).unwrap();
/// let page = page::page(&report, &page::Sources::default());
/// assert!(page.starts_with("<!doctype html>") && page.contains("verified: no interleaving of p has a bug"));
/// ```
pub fn page(report: &Report, sources: &Sources) -> String {
    let text = report.text(Style::default());
    let repairs = report.errors.iter().map(|found| found.repair.as_ref());
    let repairs = repairs.map(|repair| repair.map(Repair::sentence));
    let data = serde_json::json!({
        "report": report,
        "repairs": Value::from_iter(repairs),
        "text": text,
        "sources": Value::from(sources),
    });
    assembled(&REPORT, "", &text, &data)
}

/// Returns the page on which a person chooses the thread of the program that runs next. The page
/// sends requests to the server from which it was loaded, and starts with the given schedule, if
/// there is one.
///
/// ```
/// let page = page::explorer("queue.c", None);
/// assert!(page.contains("connect-src 'self'"));
/// ```
pub fn explorer(program: &str, schedule: Option<&ScheduleFile>) -> String {
    let data = serde_json::json!({ "program": program, "schedule": schedule });
    assembled(
        &EXPLORER,
        " connect-src 'self';",
        "This page needs JavaScript.",
        &data,
    )
}

/// Returns the page of safe schedules: the constraints as arrows between events, for each version
/// of the file. The last version is shown first.
///
/// ```
/// let trace = report::SafeTrace { program: "queue".to_owned(), ..report::SafeTrace::default() };
/// assert!(page::safe(&[trace], &page::Sources::default()).contains("queue"));
/// ```
pub fn safe(versions: &[SafeTrace], sources: &Sources) -> String {
    let case = |trace: &SafeTrace, case: &Case| {
        serde_json::json!({
            "condition": case.condition.to_string(),
            "headline": trace.headline(case),
            "diagram": case.diagram(),
        })
    };
    let cases = |trace: &SafeTrace| {
        Value::from_iter(trace.cases.iter().map(|verified| case(trace, verified)))
    };
    let last = versions.last().cloned().unwrap_or_default();
    let text = last.text();
    let data = serde_json::json!({
        "program": last.program,
        "versions": Value::from_iter(versions.iter().map(cases)),
        "text": text,
        "sources": Value::from(sources),
    });
    assembled(&SAFE, "", &text, &data)
}

/// Returns the page of a comparison of algorithms.
pub fn comparison(comparison: &Comparison) -> String {
    let text = comparison.text(Style::default());
    let data = serde_json::json!({ "comparison": comparison, "text": text });
    assembled(&COMPARISON, "", &text, &data)
}

/// Assembles a page. `connects` is the part of its policy that permits connections.
fn assembled(script: &Script, connects: &str, text: &str, data: &Value) -> String {
    let parts = [
        ("SCRIPT_HASH", script.digest.to_owned()),
        ("STYLE_HASH", STYLE_DIGEST.to_owned()),
        ("CONNECT", connects.to_owned()),
        ("STYLE", STYLE.to_owned()),
        ("TEXT", escaped(text)),
        ("DATA", harmless(&data.to_string())),
        ("SCRIPT", script.text.to_owned()),
    ];
    // Each placeholder is replaced once, from the front, so that no placeholder is looked for in
    // the inserted parts.
    let mut page = String::new();
    let mut rest = PAGE;
    for (name, part) in parts {
        let (before, after) = rest.split_once(name).expect("every placeholder exists");
        page.push_str(before);
        page.push_str(&part);
        rest = after;
    }
    page + rest
}

/// Escapes JSON so that it can be part of a script.
fn harmless(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for letter in json.chars() {
        match letter {
            '<' | '>' | '&' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' => {
                text.push_str(&format!("\\u{:04x}", u32::from(letter)));
            }
            letter => text.push(letter),
        }
    }
    text
}

/// Escapes text so that it can be part of the page.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    /// Returns the digest in base 64, as in a policy.
    fn digest(text: &str) -> String {
        const LETTERS: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let bytes = Sha256::digest(text);
        let mut encoded = String::new();
        for three in bytes.chunks(3) {
            let number = three
                .iter()
                .fold(0, |number, &byte| number << 8 | u32::from(byte));
            let number = number << (8 * (3 - three.len()));
            for letter in 0..=three.len() {
                let index = number >> (18 - 6 * letter) & 63;
                encoded.push(char::from(LETTERS[index as usize]));
            }
        }
        while !encoded.len().is_multiple_of(4) {
            encoded.push('=');
        }
        encoded
    }

    #[test]
    fn the_policy_allows_the_scripts_and_the_style_of_the_pages() {
        assert_eq!(STYLE_DIGEST, digest(STYLE),);
        for script in [REPORT, EXPLORER, SAFE, COMPARISON] {
            assert_eq!(script.digest, digest(script.text));
        }
    }

    #[test]
    fn data_cannot_end_the_script() {
        let json = harmless(r#""</script><!-- &amp;""#);
        assert!(!json.contains(['<', '>', '&']));
        let again: String = serde_json::from_str(&json).unwrap();
        assert_eq!(again, "</script><!-- &amp;");
    }
}
