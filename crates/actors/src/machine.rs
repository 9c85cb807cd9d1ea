//! How a process runs that is a state machine.
//!
//! It tells its behaviour, what it has still to do of its last reaction, and how it goes on. What it has
//! received is in none of these, and what it will receive its mailbox tells.

use crate::{Actions, Behaviour, Input, Next, Process};
use runtime::Fingerprint;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::Location;
use std::rc::Rc;
use std::time::Duration;

type Place = &'static Location<'static>;

/// What a process is while it waits at an operation.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Local<B: Behaviour> {
    behaviour: B,
    /// What it reacts to, if the reaction is not over: it panicked.
    input: Option<Input<B::Message>>,
    /// What it has still to do.
    actions: VecDeque<Fingerprint>,
    /// What it has asked for, and not reacted to.
    answers: VecDeque<B::Message>,
    next: Next,
}

/// A process that runs.
struct Running<'p, B: Behaviour> {
    me: &'p Process<B::Message>,
    local: Rc<RefCell<Local<B>>>,
}

/// The code of a process that is started at this place.
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
        let (told, ties) = (Rc::clone(&local), Rc::clone(&me.ties));
        runtime::tell_state(move || (told.borrow().clone(), ties.snapshot()));
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

    /// None where the process ends.
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

    /// No event: the reaction belongs to the one that brought the input.
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
        let told = actions.actions.iter().map(|action| action.told.clone());
        let local = Local {
            behaviour,
            input: None,
            actions: told.collect(),
            answers,
            next,
        };
        let _before = self.local.replace(local);
        runtime::forget();
        actions
    }

    /// What an action learns on its way belongs to the state until its answer does.
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
