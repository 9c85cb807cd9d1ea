//! A long failure.

use crate::command::run;
use report::Report;
use serde_json::{Value, json};

/// Returns a failure of six threads with this number of events.
pub fn long(events: usize) -> Report {
    let folder = tempfile::tempdir().unwrap();
    let mut json = run(folder.path(), "check lost-update --no-output --format json").json();
    let execution = &mut json["errors"][0]["interleaving"];
    let names: Vec<String> = (0..6).map(|thread| format!("T{thread}")).collect();
    execution["ends"] = vec![""; 6].into();
    execution["threads"] = names.into();
    execution["objects"] = vec!["x"].into();
    let row = |number: usize| {
        json!({ "thread": number % 6, "text": format!("x.fetch_add(1): {number} -> {}", number + 1), "location": "a.c:3:4",
            "failed": number + 1 == events, "sent_to": null, "sent_in": null, "object": 0, "state": number.to_string() })
    };
    execution["rows"] = (0..events).map(row).collect::<Vec<Value>>().into();
    execution["races"] = json!([{ "first": events / 2, "second": events / 2 + 1 }]);
    serde_json::from_value(json).unwrap()
}
