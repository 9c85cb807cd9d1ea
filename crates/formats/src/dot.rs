//! Draws an execution as a graph, for `dot -Tsvg`.

use crate::diagram::{Meaning, arrows, label, line};
use report::Interleaving;
use std::fmt::Write;

/// Draws the execution: a column for each thread, time downwards, and arrows for messages, races
/// and data races.
pub fn dot(interleaving: &Interleaving) -> String {
    let mut text =
        "digraph execution {\n  node [shape=box, fontname=\"monospace\"];\n  splines=line;\n"
            .to_owned();
    let mut add = |arguments: std::fmt::Arguments<'_>| {
        writeln!(text, "  {arguments}").expect("writing to a string cannot fail");
    };
    for (thread, name) in interleaving.threads.iter().enumerate() {
        add(format_args!(
            "thread{thread} [label={}, shape=plaintext, group=g{thread}];",
            quoted(&line(name))
        ));
        let mut last = format!("thread{thread}");
        for (number, row) in interleaving.rows.iter().enumerate() {
            if row.thread != thread {
                continue;
            }
            let failed = match row.failed {
                true => ", color=red, penwidth=2",
                false => "",
            };
            let text = format!("{}. {}", number + 1, label(interleaving, number));
            add(format_args!(
                "e{number} [label={}, group=g{thread}{failed}];",
                quoted(&text)
            ));
            add(format_args!(
                "{last} -> e{number} [arrowhead=none, weight=8];"
            ));
            last = format!("e{number}");
        }
        if let Some(end) = interleaving.ends.get(thread).filter(|end| !end.is_empty()) {
            add(format_args!(
                "end{thread} [label={}, shape=plaintext, fontcolor=red, group=g{thread}];",
                quoted(&line(end))
            ));
            add(format_args!(
                "{last} -> end{thread} [arrowhead=none, weight=8];"
            ));
        }
    }
    // Time runs downwards: each event is below all earlier events, whatever their threads.
    for number in 1..interleaving.rows.len() {
        add(format_args!("e{} -> e{number} [style=invis];", number - 1));
    }
    for arrow in arrows(interleaving) {
        let style = match arrow.meaning {
            Meaning::Message => "label=\"message\"",
            Meaning::Race => "label=\"order matters\", color=red, style=dashed",
            Meaning::DataRace => "label=\"not ordered\", color=red, dir=both",
        };
        add(format_args!(
            "e{} -> e{} [constraint=false, {style}];",
            arrow.from, arrow.to
        ));
    }
    text.push_str("}\n");
    text
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
