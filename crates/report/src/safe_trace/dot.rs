//! Draws safe schedules as a Graphviz graph: a column for each thread, an arrow for each
//! constraint.

use super::{Case, Point, SafeTrace};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

impl SafeTrace {
    /// Returns the graph, for `dot -Tsvg`.
    pub fn dot(&self) -> String {
        let mut text = "digraph safe {\n  node [shape=box, fontname=monospace];\n".to_owned();
        let _ = writeln!(text, "  label={};", quoted(&self.program));
        for (number, case) in self.cases.iter().enumerate() {
            case.draw(number, &mut text);
        }
        text.push_str("}\n");
        text
    }
}

impl Case {
    fn draw(&self, number: usize, text: &mut String) {
        let constraints = self.constraints.iter();
        let points = constraints.flat_map(|constraint| [constraint.first, constraint.then]);
        let mut threads: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for point in points {
            threads.entry(point.thread).or_default().insert(point.index);
        }
        let label = quoted(&self.condition.to_string());
        let _ = writeln!(text, "  subgraph cluster_{number} {{\n    label={label};");
        for (thread, indices) in threads {
            let name = |index: u32| name(number, Point { thread, index });
            for &index in &indices {
                let label = quoted(&self.shown(Point { thread, index }));
                let _ = writeln!(
                    text,
                    "    {} [label={label}, group=t{thread}];",
                    name(index)
                );
            }
            let names: Vec<String> = indices.iter().map(|&index| name(index)).collect();
            if names.len() > 1 {
                let _ = writeln!(
                    text,
                    "    {} [style=dotted, arrowhead=none];",
                    names.join(" -> ")
                );
            }
        }
        for constraint in &self.constraints {
            let (first, then) = (
                name(number, constraint.first),
                name(number, constraint.then),
            );
            let _ = writeln!(text, "    {first} -> {then} [constraint=false];");
        }
        text.push_str("  }\n");
    }
}

fn name(case: usize, point: Point) -> String {
    format!("c{case}_t{}_e{}", point.thread, point.index)
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
