//! State machines as processes: context-sensitive DPOR finds the final states in fewer executions.

mod window;

use actors::{Actions, Behaviour, Delivery, Input, Next, Pid, Process, System};
use explore::{Program, Step, ThreadId};
use mazurka::{Algorithm, Checker, FailureKind, Report};
use runtime::{Config, Model, Opaque};
use std::time::Duration;
use window::{Finals, Window};

fn explored(algorithm: Algorithm, body: impl Fn(&Window) + 'static) -> (Finals, Report) {
    window::explored(Checker::new().algorithm(algorithm), body)
}

/// Returns the numbers of complete and blocked (redundant) executions of `context-sensitive`, and
/// the number of executions of `optimal`. Both must find the final states of brute force.
fn counts(body: impl Fn(&Window) + Clone + 'static) -> ((u64, u64), u64) {
    let (optimal, all) = explored(Algorithm::Optimal, body.clone());
    let (brute, _) = explored(Algorithm::Exhaustive, body.clone());
    let (found, fewer) = explored(Algorithm::ContextSensitive, body);
    assert_eq!(optimal, brute);
    assert_eq!(found, brute);
    assert!(fewer.executions <= all.executions);
    ((fewer.executions, fewer.blocked), all.executions)
}

/// Sends numbers one after the other.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Sender(Pid<u32>, Vec<u32>);

impl Behaviour for Sender {
    type Message = ();

    fn react(&mut self, _: Input<()>, actions: &mut Actions<()>) -> Next {
        for number in std::mem::take(&mut self.1) {
            actions.send(&self.0, number);
        }
        Next::Stop
    }
}

/// A function that combines numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Fold {
    Sum,
    Largest,
    Digits,
}

impl Fold {
    fn of(self, value: u32, number: u32) -> u32 {
        match self {
            Fold::Sum => value + number,
            Fold::Largest => value.max(number),
            Fold::Digits => 10 * value + number,
        }
    }
}

/// Combines numbers until it has received as many as it wants.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Accumulator {
    value: u32,
    missing: usize,
    fold: Fold,
    window: Window,
}

impl Behaviour for Accumulator {
    type Message = u32;

    fn react(&mut self, input: Input<u32>, _: &mut Actions<u32>) -> Next {
        if let Input::Message(number) = input {
            self.value = self.fold.of(self.value, number);
            self.missing -= 1;
        }
        self.window.show("accumulator", self.value);
        match self.missing {
            0 => Next::Stop,
            _ => Next::Receive,
        }
    }
}

/// Returns a system of an accumulator and one sender for each list of numbers.
fn accumulated(fold: Fold, sent: &'static [&'static [u32]]) -> impl Fn(&Window) + Clone + 'static {
    move |window| {
        let system = System::new(Delivery::MailboxOrder);
        let accumulator = Accumulator {
            value: 0,
            missing: sent.iter().map(|numbers| numbers.len()).sum(),
            fold,
            window: window.clone(),
        };
        let accumulator = system.spawn_machine("accumulator", accumulator);
        for numbers in sent {
            system.spawn_machine("sender", Sender(accumulator.clone(), numbers.to_vec()));
        }
    }
}

#[test]
fn equal_messages_in_either_order_are_one_execution() {
    assert_eq!(
        counts(accumulated(Fold::Digits, &[&[1], &[1], &[1]])),
        ((1, 3), 6)
    );
    assert_eq!(
        counts(accumulated(Fold::Digits, &[&[1, 1], &[1, 1]])),
        ((1, 2), 6)
    );
}

#[test]
fn an_accumulator_forgets_the_order_of_what_it_added() {
    assert_eq!(counts(accumulated(Fold::Sum, &[&[1], &[2]])), ((1, 1), 2));
    assert_eq!(
        counts(accumulated(Fold::Sum, &[&[1], &[2], &[3]])),
        ((1, 3), 6)
    );
    assert_eq!(
        counts(accumulated(Fold::Largest, &[&[1, 2], &[2, 3]])),
        ((1, 2), 6)
    );
}

#[test]
fn orders_that_come_to_something_else_are_all_explored() {
    assert_eq!(
        counts(accumulated(Fold::Digits, &[&[1], &[2], &[3]])),
        ((6, 0), 6)
    );
}

/// Starts guests, and hands out tickets to the processes that ask for one.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Office {
    tickets: u32,
    guests: usize,
    window: Window,
}

/// Asks for a ticket and waits for it with a timeout.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Guest {
    name: &'static str,
    office: Pid<Pid<u32>>,
    limit: Duration,
    window: Window,
}

impl Behaviour for Office {
    type Message = Pid<u32>;

    fn is_server(&self) -> bool {
        true
    }

    fn react(&mut self, input: Input<Pid<u32>>, actions: &mut Actions<Pid<u32>>) -> Next {
        match input {
            Input::Start => {
                for name in ["ann", "ben"].into_iter().take(self.guests) {
                    let guest = Guest {
                        name,
                        office: actions.pid(),
                        limit: Duration::ZERO,
                        window: self.window.clone(),
                    };
                    actions.spawn(name, guest);
                }
            }
            Input::Message(guest) => {
                self.tickets += 1;
                actions.send(&guest, self.tickets);
            }
            Input::Answer(_) | Input::Timeout => unreachable!("an office asks nobody"),
        }
        Next::Receive
    }
}

impl Behaviour for Guest {
    type Message = u32;

    fn fits(&self, ticket: &u32) -> bool {
        *ticket > 0
    }

    fn react(&mut self, input: Input<u32>, actions: &mut Actions<u32>) -> Next {
        match input {
            Input::Start => {
                actions.send(&self.office, actions.pid());
                return Next::ReceiveWithin(self.limit);
            }
            Input::Message(ticket) | Input::Answer(ticket) => self.window.show(self.name, ticket),
            Input::Timeout => self.window.show(self.name, "nothing"),
        }
        Next::Stop
    }
}

#[test]
fn a_server_that_starts_its_clients_tells_its_state() {
    let office = |window: &Window| {
        let system = System::new(Delivery::MailboxOrder);
        let office = Office {
            tickets: 0,
            guests: 2,
            window: window.clone(),
        };
        system.spawn_machine("office", office);
    };
    assert_eq!(counts(office), ((8, 0), 8));
}

/// Panics at the first message that is not the next number.
#[derive(Clone, PartialEq, Eq, Hash)]
struct InOrder(u32);

impl Behaviour for InOrder {
    type Message = u32;

    fn is_server(&self) -> bool {
        true
    }

    fn react(&mut self, input: Input<u32>, _: &mut Actions<u32>) -> Next {
        if let Input::Message(number) = input {
            self.0 += 1;
            assert_eq!(number, self.0, "out of order");
        }
        Next::Receive
    }
}

#[test]
fn a_panic_of_one_order_is_found() {
    let body = || {
        let system = System::new(Delivery::MailboxOrder);
        let listener = system.spawn_machine("listener", InOrder(0));
        for number in [1, 2, 3] {
            system.spawn_machine("sender", Sender(listener.clone(), vec![number]));
        }
    };
    let checker = Checker::new().algorithm(Algorithm::ContextSensitive);
    let report = checker.check(body);
    assert_eq!(report.errors[0].kind, FailureKind::Panic);
}

/// Sends in a reaction, without an action.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Hasty(Pid<u32>);

impl Behaviour for Hasty {
    type Message = ();

    fn react(&mut self, _: Input<()>, _: &mut Actions<()>) -> Next {
        self.0.send(1);
        Next::Stop
    }
}

#[test]
fn an_operation_in_a_reaction_is_an_error() {
    let report = Checker::new().check(|| {
        let system = System::new(Delivery::MailboxOrder);
        let listener = system.spawn_machine("listener", InOrder(0));
        system.spawn_machine("hasty", Hasty(listener));
    });
    let message = &report.errors[0].message;
    assert!(message.contains("add it to the actions"), "{message}");
}

/// Returns the reason why the model does not report its whole state after its main thread has
/// ended, or `None` if it does.
fn opaque(body: impl Fn() + 'static) -> Option<Opaque> {
    let mut model = Model::new(Config::default(), body);
    model.reset();
    while model.pending()[0].enabled().is_some() {
        let step = Step::of(ThreadId::MAIN);
        model.step(step).unwrap();
    }
    model.opaque()
}

#[test]
fn only_systems_of_state_machines_report_their_state() {
    let machine = |system: &System| system.spawn_machine("listener", InOrder(0));
    let of = |delivery| move || drop(machine(&System::new(delivery).losing(1)));
    for delivery in Delivery::ALL {
        assert_eq!(opaque(of(delivery)), None);
    }
    let closure = || {
        let system = System::new(Delivery::MailboxOrder);
        system.spawn_server("closure", |me: &Process<u32>| {
            me.receive();
        });
    };
    assert_eq!(opaque(closure), Some(Opaque::Object));
    let sends = move || machine(&System::new(Delivery::MailboxOrder)).send(1);
    assert_eq!(opaque(sends), None);
    let posts = move || machine(&System::new(Delivery::Unordered)).send(1);
    assert!(matches!(opaque(posts), Some(Opaque::Thread(_))));
}

#[test]
fn states_include_what_the_main_thread_does_with_names_signals_and_tables() {
    let check = |act: fn(&System, &Pid<u32>)| {
        let checker = Checker::new().algorithm(Algorithm::ContextSensitive);
        let report = checker.check(move || {
            let system = System::new(Delivery::MailboxOrder);
            let listener = system.spawn_machine("listener", InOrder(0));
            act(&system, &listener);
        });
        assert!(report.errors.is_empty(), "{report:?}");
    };
    check(|system, listener| system.register("name", listener).unwrap());
    check(|_, listener| listener.kill());
    check(|_, listener| assert!(listener.is_alive()));
    check(|system, _| system.table("table").insert(1, 1).unwrap());
}
