//! Detects models with a spin loop that has no hint. These models would run thousands of executions
//! to the limit on operations. If that limit has its default value, the search ends after
//! [`Checker::patience`](super::Checker::patience).

use super::search::Search;
use report::quantity::count;
use report::{Conditions, Limit};
use std::time::Instant;

/// The first thread that reached the limit of operations.
#[derive(Clone)]
pub(super) struct Spin {
    since: Instant,
    /// The name of the thread, and the place of its last operation.
    thread: String,
}

impl Search {
    /// Looks for a thread that has reached the limit of operations, after an execution has ended.
    pub(super) fn find_spin(&mut self) {
        let is_wanted = self.spin.is_none()
            && self.settings.config.native.is_none()
            && !self.settings.is_commanded
            && self.settings.config.conditions.max_events == Conditions::default().max_events;
        if let Some(thread) = is_wanted.then(|| self.model.thread_at_limit()).flatten() {
            self.spin = Some(Spin {
                since: Instant::now(),
                thread,
            });
        }
    }

    /// Returns the limit if the search has spun for longer than the patience.
    pub(super) fn spins_too_long(&self) -> Option<Limit> {
        let spin = self.spin.as_ref()?;
        (spin.since.elapsed() >= self.settings.config.patience).then_some(Limit::Patience)
    }

    /// Describes the limit.
    pub(super) fn describe_spin(&self) -> String {
        let operations = count(self.settings.config.conditions.max_events.into());
        let thread = self.spin.as_ref().map_or("", |spin| &spin.thread);
        format!(
            "stopped after {:?} of executions in which a thread performs {operations} operations ({thread}): if it \
             waits for another thread in a loop, call mazurka::hint::spin_loop() or mazurka::thread::yield_now() in \
             that loop; otherwise raise max_events or patience",
            self.settings.config.patience
        )
    }
}
