//! Measures the work of the browser during scrolling, with the browser's own trace.

use super::{ask, look_through, settle};
use serde_json::{Value, json};
use thirtyfour::LoggingPrefsLogLevel;
use thirtyfour::prelude::*;

/// Shows all events of a long execution.
pub const UNFOLD: &str =
    "for (let fold; (fold = document.querySelector('tr.fold button'));) fold.click();";

/// Work that a page did while it was scrolled.
pub struct Work {
    /// The name in the trace: `FunctionCall`, `Layout`, `Paint`.
    pub name: String,
    pub milliseconds: f64,
    /// Whether a script ran.
    pub is_script: bool,
}

/// Opens and prepares a page, and scrolls it down. Passes the work and the distance to `see`.
pub fn scrolled(address: &str, prepare: &str, pixels: u32, see: impl FnOnce(Vec<Work>, f64)) {
    let mut capabilities = DesiredCapabilities::chrome();
    capabilities
        .set_logging_prefs("performance", LoggingPrefsLogLevel::All)
        .unwrap();
    let categories = json!({ "traceCategories": "devtools.timeline" });
    capabilities
        .add_experimental_option("perfLoggingPrefs", categories)
        .unwrap();
    look_through(capabilities, address, 1400, async |browser| {
        browser.execute(prepare, Vec::new()).await?;
        settle(browser).await?;
        let start = "window.scrollTo(0, 0); console.timeStamp('start')";
        browser.execute(start, Vec::new()).await?;
        let gesture =
            json!({ "x": 400, "y": 400, "yDistance": -i64::from(pixels), "speed": 20_000 });
        let cdp = browser.cdp();
        cdp.send_raw("Input.synthesizeScrollGesture", gesture)
            .await?;
        // The driver records until its log is read for the first time.
        let log = browser.get_log("performance").await?;
        let entries = log.iter().map(|entry| serde_json::from_str(&entry.message));
        let entries: Vec<Value> = entries.map(Result::unwrap).collect();
        let depth = ask(browser, "window.scrollY").await?;
        see(after_start(&entries), depth.as_f64().unwrap());
        Ok(())
    });
}

/// Returns the work of the page's process after the mark at the start of scrolling.
fn after_start(entries: &[Value]) -> Vec<Work> {
    let traced = entries.iter().map(|entry| &entry["message"]);
    let traced = traced.filter(|entry| entry["method"] == "Tracing.dataCollected");
    let traced: Vec<&Value> = traced.map(|entry| &entry["params"]).collect();
    let start = traced.iter().find(|event| event["name"] == "TimeStamp");
    let start = start.expect("the page said when scrolling began");
    let is_own = |event: &&&Value| {
        event["pid"] == start["pid"] && event["ts"].as_f64() > start["ts"].as_f64()
    };
    let work = |event: &&Value| Work {
        name: event["name"].as_str().unwrap_or_default().to_owned(),
        milliseconds: event["dur"].as_f64().unwrap_or(0.0) / 1000.0,
        is_script: ["EvaluateScript", "FunctionCall"]
            .iter()
            .any(|script| event["name"] == *script),
    };
    traced.iter().filter(is_own).map(work).collect()
}
