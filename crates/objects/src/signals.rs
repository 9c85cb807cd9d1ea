//! The exit signals of a process (Erlang/OTP, reference manual, "Processes": receiving exit signals).
//!
//! A signal is written; before each visible operation the process reads what was signalled, and ends there.
//! A process that waits for letters is not at such a point, so a signal that ends it also puts a letter into
//! its mailbox, which wakes it.

/// How strong an exit signal is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Strength {
    /// A linked process ended in good order.
    Normal,
    /// Ends a process that does not trap exits.
    Abnormal,
    /// Ends every process.
    Kill,
}

/// What a signal does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Signalled {
    /// Nothing.
    Ignored,
    /// The process gets a letter about it.
    Told,
    /// The process ends.
    Ended,
}

/// What was signalled to a process; `R` is the reason it is to end with.
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
    /// Whether the process gets letters about signals instead of ending.
    pub fn trap_exits(&mut self, traps: bool) {
        self.traps_exits = traps;
    }

    /// A signal comes. The first one that ends the process counts.
    pub fn signal(&mut self, strength: Strength, reason: R) -> Signalled {
        match (strength, self.traps_exits) {
            (Strength::Normal | Strength::Abnormal, true) => Signalled::Told,
            (Strength::Normal, false) => Signalled::Ignored,
            (Strength::Abnormal, false) | (Strength::Kill, _) => {
                self.exit.get_or_insert(reason);
                Signalled::Ended
            }
        }
    }

    /// Why the process has to end, if it has to.
    pub fn exit(&self) -> Option<&R> {
        self.exit.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_traps_exits_is_ended_by_a_kill_only() {
        let mut signals = Signals::default();
        assert_eq!(signals.signal(Strength::Normal, 1), Signalled::Ignored);
        signals.trap_exits(true);
        assert_eq!(signals.signal(Strength::Abnormal, 2), Signalled::Told);
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
