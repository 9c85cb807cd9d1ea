//! Describes safe schedules for people.

use super::{Case, Point, SafeTrace};
use crate::quantity::{count, counted};
use std::fmt::Write;
use std::path::Path;

impl SafeTrace {
    /// Describes the safe schedules, constraint by constraint.
    pub fn text(&self) -> String {
        let mut text = format!("{}: safe schedules\n", self.program);
        for input in &self.inputs {
            let (name, lowest, highest) = (&input.name, input.lowest, input.highest);
            let _ = writeln!(text, "input {name}: {lowest} to {highest}");
        }
        for case in &self.cases {
            let _ = write!(text, "\n{}\n", self.headline(case));
            for constraint in &case.constraints {
                let first = case.shown(constraint.first);
                let then = case.shown(constraint.then);
                let _ = writeln!(text, "  {first}\n    before {then}");
            }
            for choice in &case.choices {
                let at = case.shown(choice.at);
                let _ = writeln!(text, "  {at}: alternative {}", choice.alternative);
            }
        }
        text
    }

    /// Returns a line for each case, and the file that contains them.
    pub fn summary(&self, file: &Path) -> String {
        if self.cases.is_empty() {
            return "found no execution without a bug or a data race, so nothing is saved\n"
                .to_owned();
        }
        let mut text = String::new();
        for case in &self.cases {
            let _ = writeln!(text, "{}", self.headline(case));
        }
        let file = file.display();
        let _ = writeln!(
            text,
            "saved as {file}; `mazurka show {file}` lists the constraints"
        );
        text
    }

    /// Describes how far a case is verified.
    pub fn headline(&self, case: &Case) -> String {
        let mut line = match self.inputs.is_empty() {
            true => String::new(),
            false => format!("for {}: ", case.condition),
        };
        let executions = counted(case.executions, "execution");
        let at_first = case.constraints_at_first;
        let _ = match case.constraints.len() as u64 {
            0 if case.is_complete => write!(line, "everything is verified, after {executions}"),
            0 => write!(line, "0 of {at_first} constraints left, after {executions}"),
            left => {
                let left = count(left);
                write!(
                    line,
                    "{left} of {at_first} constraints left, after {executions}"
                )
            }
        };
        for excluded in &case.excluded {
            let excluded = excluded.lines().next().unwrap_or_default();
            let _ = write!(line, "; they prevent: {excluded}");
        }
        line
    }
}

impl Case {
    /// Returns the name of the thread with this number.
    pub(super) fn thread_name(&self, thread: u32) -> String {
        let path = self.threads.get(thread as usize);
        match path.map_or("?", String::as_str) {
            "0" => "main".to_owned(),
            path => format!("thread {path}"),
        }
    }

    /// Describes an event: its thread, its operation and its place.
    pub(super) fn shown(&self, point: Point) -> String {
        let thread = self.thread_name(point.thread);
        let event = format!("{thread}, event {}", point.index);
        let described = self.events.iter().find(|event| event.at == point);
        match described {
            None => event,
            Some(own) => {
                let place = own.place.iter().map(|place| format!(" at {place}"));
                let place: String = place.collect();
                format!("{event}: {}{place}", own.operation)
            }
        }
    }
}
