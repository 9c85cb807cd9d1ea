//! Exit signals of a process (Erlang/OTP, reference manual, "Processes": receiving exit signals).
//!
//! The signals of a process are an object. Sending a signal writes the receiver's object. The
//! receiver reads its object before each visible operation, and ends if a signal requires this.
//! While the process waits for a letter, it performs no operation. So a signal that ends it also
//! puts a letter into its mailbox, which wakes it.

/// The strength of an exit signal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Strength {
    /// A linked process ended normally. This ends no process.
    Normal,
    /// Ends a process, unless the process traps exits (gets a letter instead).
    Abnormal,
    /// Ends a process even if the process traps exits.
    Kill,
}

/// The effect of a signal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Signalled {
    /// The signal has no effect.
    Ignored,
    /// The process gets a letter about the signal.
    Delivered,
    /// The process ends.
    Ended,
}

/// The signals to a process. `R` is the exit reason.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Signals<R> {
    traps_exits: bool,
    exit: Option<R>,
}

impl<R> Default for Signals<R> {
    fn default() -> Signals<R> {
        Signals {
            traps_exits: false,
            exit: None,
        }
    }
}

impl<R> Signals<R> {
    /// Sets whether the process traps exits. If it does, signals other than [`Strength::Kill`] do
    /// not end it, but become letters.
    pub fn trap_exits(&mut self, traps: bool) {
        self.traps_exits = traps;
    }

    /// Records a signal and returns its effect. The first signal that ends the process counts.
    pub fn signal(&mut self, strength: Strength, reason: R) -> Signalled {
        match (strength, self.traps_exits) {
            (Strength::Normal | Strength::Abnormal, true) => Signalled::Delivered,
            (Strength::Normal, false) => Signalled::Ignored,
            (Strength::Abnormal, false) | (Strength::Kill, _) => {
                self.exit.get_or_insert(reason);
                Signalled::Ended
            }
        }
    }

    /// Returns the reason why the process must end, if it must.
    pub fn exit(&self) -> Option<&R> {
        self.exit.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_traps_exits_is_ended_only_by_a_kill() {
        let mut signals = Signals::default();
        assert_eq!(signals.signal(Strength::Normal, 1), Signalled::Ignored);
        signals.trap_exits(true);
        assert_eq!(signals.signal(Strength::Abnormal, 2), Signalled::Delivered);
        assert_eq!(signals.exit(), None);
        assert_eq!(signals.signal(Strength::Kill, 3), Signalled::Ended);
        assert_eq!(signals.signal(Strength::Kill, 4), Signalled::Ended);
        assert_eq!(signals.exit(), Some(&3));
    }

    #[test]
    fn others_are_ended_by_what_is_not_normal() {
        let mut signals = Signals::default();
        assert_eq!(signals.signal(Strength::Abnormal, 1), Signalled::Ended);
        assert_eq!(signals.exit(), Some(&1));
    }
}
