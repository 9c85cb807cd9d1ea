//! Runs a process that is a state machine.
//!
//! The state of the process consists of its behaviour, the remaining actions of its last reaction,
//! the answers ([`Actions::ask`]) to which it has not reacted yet, what it does next, and its
//! [ties](crate::ties). If a reaction panics, its input is also part of the state. Otherwise the
//! state contains no message that the process has received. The mailbox reports the messages that
//! the process has not received.

use crate::{Actions, Behaviour, Input, Next, Process};
use runtime::Fingerprint;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::Location;
use std::rc::Rc;
use std::time::Duration;

type Place = &'static Location<'static>;

/// The state of a process while it waits at an operation.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Local<B: Behaviour> {
    behaviour: B,
    /// The input of the current reaction, which stays here if the reaction panics.
    input: Option<Input<B::Message>>,
    /// The actions still to be performed.
    actions: VecDeque<Fingerprint>,
    /// The answers to which the process has not reacted yet.
    answers: VecDeque<B::Message>,
    /// How the process continues after its actions.
    next: Next,
}

/// A running process.
struct Running<'p, B: Behaviour> {
    me: &'p Process<B::Message>,
    local: Rc<RefCell<Local<B>>>,
}

/// Returns the code of a process. `start` is the place in the source that starts the process.
pub(crate) fn body<B: Behaviour>(
    behaviour: B,
    start: Place,
) -> impl FnOnce(&Process<B::Message>) + Send + 'static {
    move |me| {
        if behaviour.is_server() {
            runtime::serve();
        }
        runtime::stand_at(Some(start));
        let local = Rc::new(RefCell::new(Local {
            behaviour,
            input: None,
            actions: VecDeque::new(),
            answers: VecDeque::new(),
            next: Next::Receive,
        }));
        me.ties.of_machine();
        let (state, ties) = (Rc::clone(&local), Rc::clone(&me.ties));
        runtime::report_state(move || (state.borrow().clone(), ties.snapshot()));
        Running { me, local }.run();
    }
}

impl<B: Behaviour> Running<'_, B> {
    fn run(&self) {
        let mut input = Input::Start;
        loop {
            let actions = self.react(input);
            self.perform(actions);
            let Some(next) = self.next_input() else {
                return;
            };
            input = next;
        }
    }

    /// Returns the next input; `None` when the process ends.
    fn next_input(&self) -> Option<Input<B::Message>> {
        let fits = |message: &B::Message| self.local.borrow().behaviour.fits(message);
        let next = self.local.borrow().next;
        let limit = match next {
            Next::Stop => return None,
            Next::Receive => Duration::MAX,
            Next::ReceiveWithin(limit) => limit,
        };
        let answer = self.local.borrow_mut().answers.pop_front();
        Some(match answer {
            Some(answer) => Input::Answer(answer),
            None => {
                let message = self.me.receive_if_within(limit, fits);
                message.map_or(Input::Timeout, Input::Message)
            }
        })
    }

    /// Runs one reaction, which belongs to the event that delivered the input.
    fn react(&self, input: Input<B::Message>) -> Actions<B::Message> {
        let Local {
            mut behaviour,
            answers,
            ..
        } = self.local.borrow().clone();
        self.local.borrow_mut().input = Some(input.clone());
        let mut actions = Actions::of(self.me);
        let before = runtime::operations();
        let next = behaviour.react(input, &mut actions);
        assert!(runtime::operations() == before, "{OPERATES}");
        let fingerprints = actions
            .actions
            .iter()
            .map(|action| action.fingerprint.clone());
        let local = Local {
            behaviour,
            input: None,
            actions: fingerprints.collect(),
            answers,
            next,
        };
        let _before = self.local.replace(local);
        runtime::forget();
        actions
    }

    /// Performs the actions. The values that an action reads are part of the state until the action
    /// is done. After that, only its answer (if it has one) is part of the state.
    fn perform(&self, actions: Actions<B::Message>) {
        for action in actions.actions {
            let start = runtime::stand_at(Some(action.location));
            self.me.ties.is_acting.set(true);
            let answer = (action.perform)(self.me);
            self.me.ties.is_acting.set(false);
            runtime::stand_at(start);
            let mut local = self.local.borrow_mut();
            let _done = local.actions.pop_front();
            local.answers.extend(answer);
            drop(local);
            runtime::forget();
        }
    }
}

const OPERATES: &str =
    "a process that is a state machine performed an operation in a reaction: add it to the actions";
