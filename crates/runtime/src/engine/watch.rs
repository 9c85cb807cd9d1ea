//! What the guests watch in an execution. This determines when the engine calls the guests.

/// What is watched. Usually this is nothing.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Watch {
    /// Whether the execution is recorded for users.
    pub(crate) records: bool,
    /// Whether the places of events are recorded.
    pub(crate) samples: bool,
    /// Whether one of the two fields above is set.
    pub(crate) records_or_samples: bool,
    /// Whether the execution is audited for writes that no hook reports (`native::audit`).
    pub(crate) audits: bool,
    /// Whether memory is compared, to find synchronization that the model does not see.
    pub(crate) compares: bool,
    /// Whether data races are searched for.
    pub(crate) races: bool,
    /// Whether the await rule is in use.
    pub(crate) reads: bool,
    /// Whether the await rule compares the stacks of threads at the hints of spin loops.
    pub(crate) stacks: bool,
    /// Whether some thread or object reports its state.
    pub(crate) states: bool,
}

impl Watch {
    /// Returns whether anything has to be recorded at the end of each event.
    #[inline(always)]
    pub(crate) fn is_on(self) -> bool {
        self.records | self.races | self.reads | self.states
    }

    /// Returns whether the end of an effect has to be recorded.
    #[inline(always)]
    pub(crate) fn records_effects(self) -> bool {
        self.reads | self.compares
    }

    /// Returns whether hooks must report all accesses, including those that they usually omit as
    /// harmless.
    #[inline(always)]
    pub(crate) fn sees_all(self) -> bool {
        self.records | self.audits
    }

    /// Begins or ends recording executions.
    pub(crate) fn record(&mut self, records: bool) {
        self.records = records;
        self.records_or_samples = records | self.samples;
    }

    /// Begins or ends recording the places of events.
    pub(crate) fn sample(&mut self, samples: bool) {
        self.samples = samples;
        self.records_or_samples = samples | self.records;
    }
}
