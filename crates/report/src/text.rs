//! Renders a report so that it is easy to read: the verdict, then the details, then the numbers.

use crate::control::{harmless, made_harmless};
use crate::layout::{Ink, Style, wrap};
use crate::outcome::{Failure, Goal, Report, Verdict};
use crate::quantity::{count, counted, duration, megabytes};
use crate::repair::Repair;
use std::fmt;

/// The number of lines of a failure's message that are shown.
const MESSAGE_LINES: usize = 20;

/// Renders the text for a terminal of 100 characters.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(Style::default()))
    }
}

impl Report {
    /// Renders the report in lines of at most `style.width` characters.
    pub fn text(&self, style: Style) -> String {
        if let Some(harmless) = made_harmless(self) {
            return harmless.text(style);
        }
        let mut text = self.headline(style);
        text.push('\n');
        for (index, failure) in self.errors.iter().enumerate() {
            if self.errors.len() > 1 {
                let heading = format!(
                    "failure {} of {}: {}",
                    index + 1,
                    self.errors.len(),
                    failure.kind.name()
                );
                text.push_str(&format!("\n{}\n", style.paint(Ink::Bad, &heading)));
            }
            text.push_str(&failure.text(style, self.runs() + self.given_up));
        }
        text.push_str(&self.missed(style));
        let remarks = self.warned(style).into_iter().chain(self.bounded(style));
        let remarks = remarks.chain(self.accepted(style));
        let remarks = remarks.chain(self.suppressed(style));
        for line in remarks.chain(self.numbers(style)) {
            text.push_str(&line);
            text.push('\n');
        }
        text
    }

    /// Returns the verdict in one line.
    pub fn headline(&self, style: Style) -> String {
        let name = match self.program.as_str() {
            "" => "the program",
            name => &harmless(name),
        };
        match (self.verdict, self.errors.as_slice()) {
            (Verdict::Verified, _) => {
                let but = match self.turned_off() {
                    Some(kinds) => format!(" other than those turned off ({kinds})"),
                    None => String::new(),
                };
                let executions = match self.memory.is_weak() {
                    true => "execution",
                    false => "interleaving",
                };
                // If all memory models agree, the text names none.
                let verified = match self.memory.is_weak() || self.weak_ordering.is_some() {
                    true => format!("verified under {}:", self.memory),
                    false => "verified:".to_owned(),
                };
                format!(
                    "{} no {executions} of {name} has a bug{but}",
                    style.paint(Ink::Good, &verified)
                )
            }
            (Verdict::Bounded, _) => format!(
                "{} no bug was found in {name}, but not everything was explored",
                style.paint(Ink::Mark, "bounded:")
            ),
            (Verdict::Bug, []) => format!(
                "{} no execution of {name} reaches {}",
                style.paint(Ink::Bad, "bug:"),
                match self.unreached().count() {
                    1 => "a goal".to_owned(),
                    number => format!("{number} goals"),
                }
            ),
            (Verdict::Bug, [failure]) => {
                format!(
                    "{} {} in {name}",
                    style.paint(Ink::Bad, "bug:"),
                    failure.kind.name()
                )
            }
            (Verdict::Bug, failures) => format!(
                "{} {} in {name}",
                style.paint(Ink::Bad, "bug:"),
                counted(failures.len() as u64, "distinct failure")
            ),
        }
    }

    /// Returns the goals that no execution reached.
    pub fn unreached(&self) -> impl Iterator<Item = &Goal> {
        self.goals.iter().filter(|goal| !goal.is_reached)
    }

    /// Describes the goals that were not reached. These goals are the bug if nothing else failed
    /// and the search is complete.
    fn missed(&self, style: Style) -> String {
        let is_bug = self.verdict == Verdict::Bug && self.errors.is_empty();
        let (ink, what) = match is_bug {
            true => (Ink::Bad, "never reached"),
            false => (Ink::Mark, "not reached so far"),
        };
        let mut text = String::new();
        for goal in self.unreached() {
            let name = format!("{what}: {}", goal.name);
            for line in wrap(&name, style.width.saturating_sub(2)) {
                text.push_str(&format!("  {}\n", style.paint(ink, &line)));
            }
            text.push_str(&format!("  at {}\n", goal.location));
        }
        match (text.is_empty(), is_bug) {
            (false, true) => format!("\n{text}\n"),
            _ => text,
        }
    }

    /// Returns the warnings.
    fn warned(&self, style: Style) -> Vec<String> {
        self.warnings
            .iter()
            .flat_map(|warning| {
                wrap(
                    &format!("warning: {warning}"),
                    style.width.saturating_sub(2),
                )
            })
            .map(|line| style.paint(Ink::Mark, &format!("  {line}")))
            .collect()
    }

    /// Returns the reasons why the search is incomplete.
    fn bounded(&self, style: Style) -> Vec<String> {
        self.bounds
            .iter()
            .flat_map(|bound| wrap(&format!("bound: {bound}"), style.width.saturating_sub(2)))
            .map(|line| style.paint(Ink::Mark, &format!("  {line}")))
            .collect()
    }

    /// Returns the omissions that the user accepted.
    fn accepted(&self, style: Style) -> Vec<String> {
        self.accepted
            .iter()
            .flat_map(|left_out| {
                let text = format!("accepted ({}): {}", left_out.kind, left_out.what);
                wrap(&text, style.width.saturating_sub(2))
            })
            .map(|line| style.paint(Ink::Mark, &format!("  {line}")))
            .collect()
    }

    /// Returns the number of executions of every kind, except those after the failure.
    fn runs(&self) -> u64 {
        self.executions + self.halted + self.blocked
    }

    fn numbers(&self, style: Style) -> Vec<String> {
        let mut executions = vec![counted(self.executions, "execution")];
        for (number, what) in [
            (self.deadlocks, "of them deadlocked"),
            (
                self.halted,
                "halted at an assumption, a bound or in a spin loop",
            ),
            (self.blocked, "redundant and cut short"),
            (self.given_up, "before the search restarted"),
            (self.probes, "more runs to compare states"),
            (self.extra, "more after the failure to find a shorter one"),
        ] {
            if number > 0 {
                executions.push(format!("{} {what}", count(number)));
            }
        }
        let reached = self.goals.len() - self.unreached().count();
        if reached > 0 {
            executions.push(format!("{} reached", counted(reached as u64, "goal")));
        }
        let events = counted(self.events, "event");
        let longest = count(self.max_depth as u64);
        let memory = match self.peak_rss_bytes {
            0 => String::new(),
            bytes => format!(" and {}", megabytes(bytes)),
        };
        let compiling = match self.compile_s {
            Some(seconds) => format!(", after compiling for {}", duration(seconds)),
            None => String::new(),
        };
        let races = match self.verdict {
            Verdict::Verified | Verdict::Bounded => self.coverage.text(self.runs()),
            Verdict::Bug => None,
        };
        let mut lines = vec![
            executions.join(", "),
            format!("{events}, {longest} in the longest execution"),
        ];
        lines.extend(races);
        let chosen = self.weak_ordering.as_ref();
        let chosen = chosen.filter(|_| self.memory.is_weak());
        lines.extend(chosen.map(|place| {
            format!(
                "under {}, because the ordering at {} is not sequentially consistent",
                self.memory,
                harmless(place)
            )
        }));
        let jobs = match self.jobs {
            1 => String::new(),
            jobs => format!(", {}", counted(jobs as u64, "job")),
        };
        let searched = match self.memory.is_weak() {
            true => "execution graphs".to_owned(),
            false if self.symmetry => format!("{}, up to symmetry", self.algorithm),
            false => self.algorithm.to_string(),
        };
        lines.push(format!(
            "{}{memory} with {searched}{jobs}{compiling}",
            duration(self.elapsed_s),
        ));
        let lines = lines.iter();
        lines
            .flat_map(|line| wrap(line, style.width.saturating_sub(2)))
            .map(|line| format!("  {line}"))
            .collect()
    }
}

impl Failure {
    /// Describes the failure: its message and place, the execution, and how to repeat it. `runs` is
    /// the number of executions of the search.
    fn text(&self, style: Style, runs: u64) -> String {
        let mut text = String::from("\n");
        for line in self.message(style) {
            text.push_str(&format!("  {line}\n"));
        }
        if let Some(location) = &self.location {
            text.push_str(&format!("  at {location}\n"));
        }
        let events = counted(self.interleaving.rows.len() as u64, "event");
        let heading = match self.execution {
            execution if execution <= runs => {
                format!("Execution {} shows it ({events}):", count(execution))
            }
            // Executions that ran after the failure have higher numbers.
            _ => format!(
                "An execution with fewer context switches, run after the failure, shows it ({events}):"
            ),
        };
        text.push_str(&format!("\n{}\n\n", style.paint(Ink::Bold, &heading)));
        text.push_str(&self.interleaving.text(style));
        text.push('\n');
        let why = self
            .why
            .as_ref()
            .map(|why| why.sentence(&self.interleaving));
        let repair = self.repair.as_ref().map(Repair::sentence);
        for sentence in why.into_iter().chain(repair) {
            for line in wrap(&sentence, style.width) {
                text.push_str(&format!("{line}\n"));
            }
            text.push('\n');
        }
        if let Some(path) = &self.saved_as {
            text.push_str(&format!("  schedule:   {path}\n"));
        }
        if let Some(command) = &self.repeat_with {
            text.push_str(&format!("  repeat it:  {command}\n"));
        }
        if self.saved_as.is_some() || self.repeat_with.is_some() {
            text.push('\n');
        }
        text
    }

    /// Returns the lines of the message, wrapped.
    fn message(&self, style: Style) -> Vec<String> {
        let width = style.width.saturating_sub(2);
        let mut lines = Vec::new();
        for line in self.message.lines() {
            let indent = line.len() - line.trim_start().len();
            let indent = " ".repeat(indent.min(8));
            lines.extend(
                wrap(line, width.saturating_sub(indent.len()))
                    .iter()
                    .map(|line| format!("{indent}{line}")),
            );
        }
        if lines.len() > MESSAGE_LINES {
            let more = lines.len() - MESSAGE_LINES;
            lines.truncate(MESSAGE_LINES);
            lines.push(format!("… {} …", counted(more as u64, "more line")));
        }
        lines
            .iter()
            .map(|line| style.paint(Ink::Bad, line))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Conditions, Coverage, FailureKind, Interleaving, Row, SavedStep, ScheduleFile};
    use explore::{Algorithm, MemoryModel};
    use std::collections::BTreeMap;

    fn verified() -> Report {
        Report {
            verdict: Verdict::Verified,
            program: "mutex:3,4".to_owned(),
            executions: 34_650,
            halted: 0,
            blocked: 0,
            given_up: 0,
            restarts: BTreeMap::new(),
            deadlocks: 0,
            errors: Vec::new(),
            warnings: Vec::new(),
            goals: Vec::new(),
            bounds: Vec::new(),
            limits: Vec::new(),
            suppressions: Vec::new(),
            suppressed: Vec::new(),
            accepted: Vec::new(),
            probes: 0,
            extra: 0,
            events: 2_217_600,
            max_depth: 64,
            coverage: Coverage::default(),
            tree: None,
            algorithm: Algorithm::Parsimonious,
            memory: MemoryModel::Sc,
            weak_ordering: None,
            symmetry: false,
            jobs: 1,
            elapsed_s: 0.2134,
            compile_s: None,
            peak_rss_bytes: 8_912_896,
        }
    }

    fn failure(message: &str) -> Failure {
        Failure {
            kind: FailureKind::Panic,
            message: message.to_owned(),
            location: Some("src/lib.rs:20:5".to_owned()),
            execution: 3,
            schedule: ScheduleFile {
                program: "lost-update".to_owned(),
                kind: FailureKind::Panic,
                message: message.to_owned(),
                conditions: Conditions::default(),
                coarse: Vec::new(),
                recipe: None,
                by_accesses: false,
                steps: vec![SavedStep {
                    thread: "0".to_owned(),
                    choices: vec![0],
                    reads: Vec::new(),
                }],
            },
            saved_as: Some("lost-update.schedule.json".to_owned()),
            repeat_with: Some("mazurka replay lost-update.schedule.json".to_owned()),
            interleaving: Interleaving {
                threads: vec!["main".to_owned()],
                rows: vec![Row {
                    thread: 0,
                    text: "n.load() -> 1".to_owned(),
                    location: Some("src/lib.rs:20:7".to_owned()),
                    failed: true,
                    ..Row::default()
                }],
                races: Vec::new(),
                unseen: Vec::new(),
                conflict: None,
                objects: Vec::new(),
                ends: vec!["panicked".to_owned()],
            },
            why: None,
            repair: None,
            passing: None,
        }
    }

    #[test]
    fn a_proof_is_short() {
        insta::assert_snapshot!(verified().to_string());
    }

    #[test]
    fn an_unreached_goal_is_reported_as_the_failure() {
        let goal = |name: &str, is_reached| Goal {
            name: name.to_owned(),
            location: "src/lib.rs:7:9".to_owned(),
            is_reached,
        };
        let goals = vec![goal("the sum is 2", true), goal("the sum is 1", false)];
        let report = Report {
            verdict: Verdict::Bug,
            goals,
            ..verified()
        };
        let text = report.to_string();
        assert!(
            text.starts_with("bug: no execution of mutex:3,4 reaches a goal\n"),
            "{text}"
        );
        assert!(
            text.contains("\n  never reached: the sum is 1\n  at src/lib.rs:7:9\n"),
            "{text}"
        );
        assert!(text.contains(", 1 goal reached\n"), "{text}");
        let verdict = Verdict::Bounded;
        let text = Report { verdict, ..report }.to_string();
        assert!(
            text.contains("\n  not reached so far: the sum is 1\n"),
            "{text}"
        );
    }

    #[test]
    fn a_warning_is_shown_with_a_proof() {
        let warnings = vec!["a message to server was never received".to_owned()];
        let report = Report {
            warnings,
            ..verified()
        };
        let text = report.to_string();
        assert!(text.starts_with("verified:"), "{text}");
        assert!(text.contains("\n  warning: a message to server was never received\n"));
    }

    #[test]
    fn a_bound_is_named() {
        let report = Report {
            verdict: Verdict::Bounded,
            halted: 2,
            blocked: 17,
            bounds: vec!["10,000 executions (--max-executions)".to_owned()],
            algorithm: Algorithm::Classic,
            ..verified()
        };
        insta::assert_snapshot!(report.to_string());
    }

    #[test]
    fn a_bug_says_what_where_and_how_to_repeat_it() {
        let message = "assertion `left == right` failed: an update was lost\n  left: 1\n right: 2";
        let report = Report {
            verdict: Verdict::Bug,
            program: "lost-update".to_owned(),
            executions: 3,
            events: 33,
            max_depth: 11,
            errors: vec![failure(message)],
            ..verified()
        };
        insta::assert_snapshot!(report.to_string());
    }

    #[test]
    fn several_failures_are_numbered_and_long_messages_cut() {
        let long: String = (0..30).map(|line| format!("line {line}\n")).collect();
        let report = Report {
            verdict: Verdict::Bug,
            errors: vec![failure("one"), failure(&long)],
            ..verified()
        };
        insta::assert_snapshot!(report.to_string());
    }

    #[test]
    fn json_has_the_fields_that_scripts_rely_on() {
        let json = serde_json::to_value(verified()).unwrap();
        for field in [
            "verdict",
            "executions",
            "halted",
            "blocked",
            "deadlocks",
            "errors",
            "probes",
            "events",
            "max_depth",
            "algorithm",
            "memory",
            "elapsed_s",
            "peak_rss_bytes",
        ] {
            assert!(json.get(field).is_some(), "{field}");
        }
        assert_eq!(json["verdict"], "verified");
        assert_eq!(json["algorithm"], "parsimonious");
        let again: Report = serde_json::from_value(json).unwrap();
        assert_eq!(again.executions, 34_650);
    }
}
