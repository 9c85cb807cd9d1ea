//! Adapts the schedule of a failure after objects have become coarser (see `search.rs`).
//!
//! When a thread's end becomes an event because another thread polls for it, the schedule lacks
//! that event. Each end is inserted as early as possible, which is where the end happened before.
//!
//! If the search has fallen back to sequential consistency, each step reads the newest value.

use super::failures::Sighting;
use super::search::symptom_of;
use explore::{Interrupt, OpKind, Pending, Program, ReadsFrom, Schedule, Step, ThreadId};
use report::{LeftOut, Omission};
use runtime::Model;

/// Adapts the schedule. Returns whether the adapted schedule still shows the failure. If not, the
/// restarted search finds the failure again, unless it exists only under a weak memory model that
/// the search has given up. Then the failure counts as left out.
pub(super) fn refit(sighting: &mut Sighting, model: &mut Model) -> bool {
    let mut steps = sighting.schedule.iter_mut();
    let falls_back = !model.is_weak() && steps.any(|step| step.reads_from != ReadsFrom::LAST);
    if falls_back {
        let steps = sighting.schedule.iter_mut();
        steps.for_each(|step| step.reads_from = ReadsFrom::LAST);
    }
    model.want_failure(sighting.symptom.wanted());
    let shows_it = refit_wanted(sighting, model);
    model.want_failure(None);
    if falls_back && !shows_it {
        let failure = &sighting.symptom.message;
        model.leave_out(vec![LeftOut::new(
            Omission::Memory,
            format!(
                "RC11 allows another failure, but the program is checked under sequential consistency only: {failure}; \
                 without --keep-going, it is reported"
            ),
        )]);
    }
    shows_it
}

fn refit_wanted(sighting: &mut Sighting, model: &mut Model) -> bool {
    let Ok(schedule) = refitted(&sighting.schedule, model) else {
        return false;
    };
    let shows_it = model.outcome().is_bug() && symptom_of(model) == sighting.symptom;
    if shows_it {
        sighting.schedule = schedule;
    }
    shows_it
}

fn refitted(schedule: &Schedule, model: &mut Model) -> Result<Schedule, Interrupt> {
    let mut refitted = Schedule::new();
    model.reset();
    for &step in schedule {
        end_threads(model, &mut refitted)?;
        if model.pending().get(step.thread.index()) != Some(&Pending::Finished) {
            model.step(step)?;
            refitted.push(step);
        }
    }
    end_threads(model, &mut refitted)?;
    Ok(refitted)
}

/// Performs the enabled `End` events until none is left, and appends their steps to the schedule.
fn end_threads(model: &mut Model, schedule: &mut Schedule) -> Result<(), Interrupt> {
    let is_end = |thread: &Pending| {
        let request = thread.enabled();
        request.is_some_and(|request| request.op.kind == OpKind::End)
    };
    while let Some(index) = model.pending().iter().position(is_end) {
        let step = Step::of(ThreadId::from_index(index));
        model.step(step)?;
        schedule.push(step);
    }
    Ok(())
}
