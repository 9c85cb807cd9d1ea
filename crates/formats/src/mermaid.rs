//! Draws an execution as a Mermaid sequence diagram, for documents and issues.

use crate::diagram::{label, line};
use report::Interleaving;
use std::fmt::Write;

/// Draws the execution: a lane for each thread, time downwards, arrows for messages, and notes for
/// races and data races.
pub fn mermaid(interleaving: &Interleaving) -> String {
    let mut text = "sequenceDiagram\n".to_owned();
    let mut add = |arguments: std::fmt::Arguments<'_>| {
        writeln!(text, "  {arguments}").expect("writing to a string cannot fail");
    };
    for (thread, name) in interleaving.threads.iter().enumerate() {
        add(format_args!(
            "participant t{thread} as {}",
            escaped(&line(name))
        ));
    }
    for (number, row) in interleaving.rows.iter().enumerate() {
        let thread = row.thread;
        let text = format!("{}. {}", number + 1, label(interleaving, number));
        let text = escaped(&text);
        let mark = match row.failed {
            true => "❌ ",
            false => "",
        };
        match row.sent_to {
            Some(to) if to != thread => add(format_args!("t{thread}->>t{to}: {mark}{text}")),
            Some(_) | None => add(format_args!("Note over t{thread}: {mark}{text}")),
        }
        let pairs = interleaving
            .races
            .iter()
            .map(|pair| (pair, "their order matters"));
        let conflict = interleaving
            .conflict
            .iter()
            .map(|pair| (pair, "nothing orders them"));
        for (pair, meaning) in pairs
            .chain(conflict)
            .filter(|(pair, _)| pair.second == number)
        {
            let first = interleaving.rows[pair.first].thread;
            add(format_args!(
                "Note over t{first},t{thread}: {} and {}: {meaning}",
                pair.first + 1,
                number + 1
            ));
        }
    }
    for (thread, end) in interleaving.ends.iter().enumerate() {
        if !end.is_empty() {
            add(format_args!("Note over t{thread}: {}", escaped(&line(end))));
        }
    }
    text
}

/// Replaces the characters that Mermaid would interpret with entities.
fn escaped(text: &str) -> String {
    let letters = text.chars().map(|letter| match letter {
        '#' | ';' | '<' | '>' | '&' | '"' | '`' | '%' | '{' | '}' => {
            format!("#{};", u32::from(letter))
        }
        letter => letter.to_string(),
    });
    letters.collect()
}
