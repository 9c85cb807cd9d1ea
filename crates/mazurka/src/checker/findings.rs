//! Turns the results of a search into its report. Failures are run again to be recorded.

use super::CheckError;
use super::failures::{Sighting, Symptom};
use super::linearization::{switches, with_few_switches};
use super::memory::peak_rss_bytes;
use super::search::{Search, UntilEnded, diverged, symptom_of};
use explore::{Interrupt, Outcome, Replay, Schedule, Strategy};
use report::{
    Conditions, Failure, FailureKind, LeftOut, Limit, Omission, Report, ScheduleFile, Verdict,
};

/// The warning that other findings may be missed because of a suppressed race.
const SUPPRESSED_RACE: &str = "a data race is suppressed: only one order of its accesses was explored, so results of \
    other orders may be missed (--plain sc explores all orders)";

/// The warning for a search without a complete execution.
const NEVER_COMPLETE: &str = "no execution is complete: each was halted before its end, so the rest of the program was \
    not checked";

impl Search {
    /// Returns the report of a search that has ended.
    pub(super) fn take_report(&mut self) -> Result<Report, CheckError> {
        self.is_raced_for |= self.contains_a_race();
        self.audit();
        let sightings = std::mem::take(&mut self.failures.sightings);
        let mut errors = Vec::new();
        for sighting in sightings {
            errors.push(self.failure(sighting)?);
        }
        if let (Some(path), Some(first)) = (&self.settings.schedule_file, errors.first_mut()) {
            first
                .schedule
                .save(path)
                .map_err(|error| CheckError::Unwritable {
                    path: path.clone(),
                    reason: error.problem.to_string(),
                })?;
            first.saved_as = Some(path.display().to_string());
        }
        let mut report = self.report_of(errors);
        report.tree = self.settings.draws.then(|| self.sample());
        self.add_repair(&mut report);
        Ok(report)
    }

    /// Returns the report with these failures.
    pub(super) fn report_of(&self, errors: Vec<Failure>) -> Report {
        let seen = self.seen();
        let limits = self.limits();
        let bounds: Vec<String> = limits.iter().map(|&limit| self.describe(limit)).collect();
        let verdict = self.verdict(&errors, &limits);
        let mut warnings = self.model.warnings();
        if verdict == Verdict::Verified {
            match self.tally.executions {
                0 => warnings.push(NEVER_COMPLETE.to_owned()),
                _ if self.settings.is_weak() || self.settings.uses_symmetry() => {}
                _ => warnings.extend(seen.warnings(self.tally.runs())),
            }
        }
        if self.model.has_suppressed_a_race() && !self.settings.config.conditions.interleaves_plain
        {
            warnings.push(SUPPRESSED_RACE.to_owned());
        }
        if let Some(path) = &self.settings.resume {
            let path = path.display();
            warnings.push(format!(
                "the search resumed from {path}: earlier results come from that file and were not checked again"
            ));
        }
        let mut report = Report {
            verdict,
            program: self.settings.name.clone(),
            executions: self.tally.executions,
            halted: self.tally.halted,
            blocked: self.tally.blocked,
            given_up: self.tally.given_up,
            restarts: self.tally.restarts.clone(),
            deadlocks: self.tally.deadlocks,
            errors,
            warnings,
            goals: self.model.goals().to_vec(),
            bounds,
            limits,
            suppressions: self.settings.suppressions.clone(),
            suppressed: self.model.suppressed(),
            accepted: Vec::new(),
            probes: self.tally.probes,
            extra: self.extra,
            events: self.tally.events,
            max_depth: self.tally.max_depth,
            coverage: seen.coverage(),
            tree: None,
            algorithm: self.settings.algorithm,
            memory: self.settings.memory(),
            symmetry: self.settings.uses_symmetry(),
            weak_ordering: self
                .model
                .names()
                .chosen_memory()
                .map(|(_, place)| place.to_owned()),
            jobs: 1,
            compile_s: None,
            elapsed_s: self.brake.elapsed_s(),
            peak_rss_bytes: peak_rss_bytes(),
        };
        let left_out = self.settings.left_out.iter().cloned();
        let suppressed = self.left_out_by_suppressions();
        for left_out in left_out.chain(self.model.left_out()).chain(suppressed) {
            report.leave_out(left_out, &self.settings.accepted);
        }
        report
    }

    /// Returns what was not explored because suppressed failures have ended threads.
    fn left_out_by_suppressions(&self) -> Vec<LeftOut> {
        let suppressed = self.model.suppressed();
        let mut kinds: Vec<FailureKind> = suppressed.iter().map(|finding| finding.kind).collect();
        kinds.retain(|kind| kind.ends_code());
        kinds.dedup();
        let left_out = |kind: FailureKind| {
            let what = format!(
                "what follows a suppressed failure ({}) is not explored",
                kind.name()
            );
            LeftOut::new(Omission::Suppressed, what)
        };
        kinds.into_iter().map(left_out).collect()
    }

    /// Determines the verdict. A goal that no execution reached is a bug if the search is complete.
    fn verdict(&self, errors: &[Failure], limits: &[Limit]) -> Verdict {
        let is_missed = self.model.goals().iter().any(|goal| !goal.is_reached);
        match (errors.is_empty(), limits.is_empty() && is_missed) {
            (false, _) | (true, true) => Verdict::Bug,
            (true, false) if limits.is_empty() => Verdict::Verified,
            (true, false) => Verdict::Bounded,
        }
    }

    /// Returns the failure, with the execution that showed it first, or with a shorter one if the
    /// search has found one.
    fn failure(&mut self, sighting: Sighting) -> Result<Failure, CheckError> {
        // Threads must stop in the same loops as in the search.
        self.model.find_loops(false);
        let failure = self.repeated(sighting);
        self.model.find_loops(true);
        failure
    }

    /// Repeats the schedule of a failure, to record and explain it.
    fn repeated(&mut self, sighting: Sighting) -> Result<Failure, CheckError> {
        let shortest = self.shortest.take();
        self.model.want_failure(sighting.symptom.wanted());
        let mut sighting = self.of_operations(sighting)?;
        if let Some(Ok(shorter)) = shortest.map(|shortest| self.of_operations(shortest))
            && switches(&shorter.schedule) < switches(&sighting.schedule)
        {
            sighting = shorter;
        }
        self.shown(sighting.symptom, sighting.execution, sighting.schedule)
    }

    /// Refines the schedule to one step per operation. Then groups the steps of each thread, if the
    /// grouped schedule still fails.
    fn of_operations(&mut self, sighting: Sighting) -> Result<Sighting, CheckError> {
        let schedule = self.model.refine(&sighting.schedule).map_err(diverged)?;
        // Under a weak memory model, a step that reads an old value names the write by its
        // position. Grouping would change the positions.
        let grouped = match self.settings.is_weak() {
            true => None,
            false => self.grouped(&schedule, &sighting.symptom)?,
        };
        Ok(Sighting {
            schedule: grouped.unwrap_or(schedule),
            ..sighting
        })
    }

    /// Returns the failure with the recorded execution of this schedule.
    pub(super) fn shown(
        &mut self,
        symptom: Symptom,
        execution: u64,
        schedule: Schedule,
    ) -> Result<Failure, CheckError> {
        let trace = self.model.trace(&schedule).map_err(diverged)?;
        // Only the recorded execution has the names of the objects.
        let symptom = match trace.failure {
            Some(shown) if shown.kind == symptom.kind => Symptom::of(shown),
            Some(_) | None if self.is_raced_for => symptom,
            // A thread in a loop is recognized by bytes of its stack. Recording changes some bytes.
            Some(_) | None
                if symptom.kind == FailureKind::Stuck && self.shows(&schedule, &symptom) =>
            {
                symptom
            }
            other => {
                return Err(CheckError::Inconstant {
                    before: symptom.kind,
                    now: other.map(|shown| shown.kind),
                });
            }
        };
        let (why, passing) = match self.settings.explains && !self.settings.is_weak() {
            true => self.explain(&schedule, &trace.rows, &trace.races),
            false => (None, None),
        };
        Ok(Failure {
            kind: symptom.kind,
            schedule: self.file(&symptom, &schedule),
            message: symptom.message,
            location: symptom.location,
            execution,
            saved_as: None,
            repeat_with: None,
            interleaving: trace.interleaving,
            why,
            repair: None,
            passing,
        })
    }

    /// Returns an equivalent schedule with fewer context switches that shows the failure, if any.
    fn grouped(
        &mut self,
        schedule: &Schedule,
        symptom: &Symptom,
    ) -> Result<Option<Schedule>, CheckError> {
        let mut replay = Replay::new(schedule.clone());
        match explore::explore(&mut self.model, &mut replay, &mut UntilEnded::default()) {
            Err(Interrupt::Coarsened) => return Ok(None),
            result => result.map_err(diverged)?,
        };
        let failed = self.model.failure().and_then(|shown| shown.event);
        let grouped = with_few_switches(replay.execution(), failed);
        if switches(&grouped) >= switches(schedule) {
            return Ok(None);
        }
        Ok(self.shows(&grouped, symptom).then_some(grouped))
    }

    /// Checks whether the schedule shows this failure when nothing is recorded.
    fn shows(&mut self, schedule: &Schedule, symptom: &Symptom) -> bool {
        let mut replay = Replay::new(schedule.clone());
        let mut ended = UntilEnded::default();
        let run = explore::explore(&mut self.model, &mut replay, &mut ended);
        run.is_ok()
            && ended.outcome.is_some_and(Outcome::is_bug)
            && symptom_of(&self.model) == *symptom
    }

    pub(super) fn file(&self, symptom: &Symptom, schedule: &Schedule) -> ScheduleFile {
        ScheduleFile {
            program: self.settings.name.clone(),
            kind: symptom.kind,
            message: symptom.message.clone(),
            conditions: Conditions {
                memory: self.settings.memory(),
                ..self.settings.config.conditions
            },
            coarse: self.model.names().save_coarse(),
            recipe: None,
            by_accesses: false,
            steps: self.model.names().save(schedule),
        }
    }
}
