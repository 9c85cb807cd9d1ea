//! State machines that use tables, names, links, monitors and signals, or make choices:
//! context-sensitive DPOR finds the final states of brute force.

mod window;

use actors::{
    Actions, Behaviour, Delivery, Down, Exit, ExitReason, Input, Next, Pid, Process, System, Table,
};
use explore::Outcome;
use mazurka::{Algorithm, Checker, FailureKind};
use std::hash::{Hash, Hasher};
use window::{Finals, Window};

/// Returns the numbers of executions of `context-sensitive` and `optimal`, and the final states
/// that brute force finds.
fn counts(body: impl Fn(&Window) + Clone + 'static) -> ([u64; 2], Finals) {
    let explored = |algorithm| {
        let checker = Checker::new().algorithm(algorithm);
        let (finals, report) = window::explored(checker, body.clone());
        (finals, report.executions)
    };
    let (brute, _) = explored(Algorithm::Exhaustive);
    let [(found, fewer), (all, more)] =
        [Algorithm::ContextSensitive, Algorithm::Optimal].map(explored);
    assert_eq!(all, brute);
    assert_eq!(found, brute);
    ([fewer, more], brute)
}

fn mailbox_order() -> System {
    System::new(Delivery::MailboxOrder)
}

/// Returns the distinct final states that a process shows.
fn ends(finals: &Finals, process: &str) -> Vec<String> {
    let shown = finals.iter().filter_map(|(shown, _)| shown.get(process));
    let mut shown: Vec<String> = shown.cloned().collect();
    shown.dedup();
    shown
}

/// Raises the value of a key to the number of this process, if that number is larger.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Raiser {
    table: Table<u32, u32>,
    number: u32,
    window: Window,
}

impl Behaviour for Raiser {
    type Message = bool;

    fn react(&mut self, input: Input<bool>, actions: &mut Actions<bool>) -> Next {
        match input {
            Input::Start => {
                let on = (self.table.clone(), self.number);
                actions.ask(on, |_, (table, number)| {
                    // Two operations: the result of the first one is part of the state.
                    let value = table.lookup(&0).unwrap().unwrap_or(0);
                    if value < number {
                        table.insert(0, number).unwrap();
                    }
                    value < number
                });
                Next::Receive
            }
            Input::Answer(has_raised) => {
                self.window
                    .show(&format!("raiser {}", self.number), has_raised);
                Next::Stop
            }
            Input::Message(_) | Input::Timeout => unreachable!("nobody sends anything"),
        }
    }
}

#[test]
fn an_action_may_be_several_operations() {
    let raisers = |window: &Window| {
        let system = mailbox_order();
        let table = system.table("table");
        for number in [1, 2, 2] {
            let (table, window) = (table.clone(), window.clone());
            system.spawn_machine(
                "raiser",
                Raiser {
                    table,
                    number,
                    window,
                },
            );
        }
    };
    let ([fewer, more], _) = counts(raisers);
    assert!(fewer < more, "{fewer} of {more}");
}

/// Owns a table, sends it to others, and ends at a message.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Owner(Vec<Pid<Table<u32, u32>>>);

/// Uses the table that it gets.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Guest {
    window: Window,
}

impl Behaviour for Owner {
    type Message = ();

    fn react(&mut self, _: Input<()>, actions: &mut Actions<()>) -> Next {
        let table = actions.table("of the owner");
        for guest in &self.0 {
            actions.send(guest, table.clone());
        }
        Next::Stop
    }
}

impl Behaviour for Guest {
    type Message = Table<u32, u32>;

    fn react(&mut self, input: Input<Self::Message>, actions: &mut Actions<Self::Message>) -> Next {
        match input {
            Input::Start => Next::Receive,
            Input::Message(table) => {
                actions.perform((table, self.window.clone()), |_, (table, window)| {
                    let result = table.update_counter(&0, 1).map(|sum| sum.is_some());
                    window.show("guest", format!("{result:?}"));
                });
                Next::Stop
            }
            Input::Answer(_) | Input::Timeout => unreachable!("it asks for nothing"),
        }
    }
}

#[test]
fn the_table_of_a_state_machine_dies_with_it() {
    let owned = |window: &Window| {
        let system = mailbox_order();
        let guest = || Guest {
            window: window.clone(),
        };
        let guests = [(); 2].map(|()| system.spawn_machine("guest", guest()));
        system.spawn_machine("owner", Owner(guests.to_vec()));
    };
    let (_, finals) = counts(owned);
    let ends = ends(&finals, "guest");
    assert!(ends.contains(&"Err(TableGone)".to_owned()), "{ends:?}");
    assert!(ends.contains(&"Ok(false)".to_owned()), "{ends:?}");
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Event {
    Exit(Exit),
    Down(Down),
    Work(u32),
}

/// Starts workers that are linked or monitored, and shows how they end.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Parent {
    is_linked: bool,
    left: u32,
    sum: usize,
    window: Window,
}

/// Chooses whether to panic.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Worker;

impl Behaviour for Worker {
    type Message = Event;

    fn react(&mut self, input: Input<Event>, actions: &mut Actions<Event>) -> Next {
        match input {
            Input::Start => {
                actions.ask((), |_, ()| Event::Work(mazurka::choose(2)));
                Next::Receive
            }
            Input::Answer(Event::Work(0)) => Next::Stop,
            _ => {
                actions.perform((), |me, ()| me.exit(ExitReason::Other("no".to_owned())));
                Next::Receive
            }
        }
    }
}

impl Behaviour for Parent {
    type Message = Event;

    fn react(&mut self, input: Input<Event>, actions: &mut Actions<Event>) -> Next {
        let reason = match input {
            Input::Start => {
                self.start(actions);
                return Next::Receive;
            }
            Input::Message(Event::Exit(exit)) => exit.reason,
            Input::Message(Event::Down(down)) => down.reason,
            other => unreachable!("{other:?}"),
        };
        self.sum += usize::from(reason == ExitReason::Normal);
        self.left -= 1;
        self.window.show("parent", self.sum);
        match self.left {
            0 => Next::Stop,
            _ => Next::Receive,
        }
    }
}

impl Parent {
    fn start(&self, actions: &mut Actions<Event>) {
        if self.is_linked {
            actions.perform((), |me, ()| me.trap_exits(Event::Exit));
        }
        for number in 0..self.left {
            let name = format!("worker {number}");
            match self.is_linked {
                true => drop(actions.spawn_link(&name, Worker)),
                false => drop(actions.spawn_monitor(&name, Worker, Event::Down)),
            }
        }
    }
}

#[test]
fn children_of_state_machines_can_be_linked_and_monitored() {
    for (is_linked, delivery) in [true, false]
        .into_iter()
        .flat_map(|is_linked| Delivery::ALL.map(|delivery| (is_linked, delivery)))
    {
        let family = move |window: &Window| {
            let parent = Parent {
                is_linked,
                left: 2,
                sum: 0,
                window: window.clone(),
            };
            System::new(delivery).spawn_machine("parent", parent);
        };
        let ([fewer, more], finals) = counts(family);
        assert_eq!(ends(&finals, "parent"), ["0", "1", "2"]);
        assert!(fewer < more, "{fewer} of {more}, {delivery:?}");
    }
}

/// A message to a process of a pair: the id of its partner.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Meet(Pid<Meet>);

/// Links to its partner and ends with a reason, or unlinks from it and waits.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Partner {
    unlinks: bool,
}

impl Behaviour for Partner {
    type Message = Meet;

    fn react(&mut self, input: Input<Meet>, actions: &mut Actions<Meet>) -> Next {
        match input {
            Input::Message(Meet(other)) if self.unlinks => {
                actions.perform(other, |me, other| me.unlink(&other));
            }
            Input::Message(Meet(other)) => actions.perform(other, |me, other| {
                me.link(&other);
                me.exit(ExitReason::Other("ends".to_owned()));
            }),
            _ => {}
        }
        Next::Receive
    }
}

/// Introduces two partners to each other.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Matchmaker([Pid<Meet>; 2]);

impl Behaviour for Matchmaker {
    type Message = ();

    fn react(&mut self, _: Input<()>, actions: &mut Actions<()>) -> Next {
        let [one, other] = &self.0;
        actions.send(one, Meet(other.clone()));
        actions.send(other, Meet(one.clone()));
        Next::Stop
    }
}

#[test]
fn whether_processes_are_linked_is_a_part_of_the_state() {
    let pair = |_: &Window| {
        let system = mailbox_order();
        let partner = |unlinks| system.spawn_machine("partner", Partner { unlinks });
        let pair = [partner(false), partner(true)];
        system.spawn_machine("matchmaker", Matchmaker(pair));
    };
    let (_, finals) = counts(pair);
    // The link has ended the waiting process (completed), or it still waits (deadlock).
    let outcomes: Vec<Outcome> = finals.into_iter().map(|(_, outcome)| outcome).collect();
    assert_eq!(outcomes, [Outcome::Deadlock, Outcome::Completed]);
}

/// Performs one reaction.
#[derive(Clone)]
struct Once(fn(&mut Actions<u32>));

/// A system has only one `Once`, so all values are equal.
impl PartialEq for Once {
    fn eq(&self, _: &Once) -> bool {
        true
    }
}

impl Eq for Once {}

impl Hash for Once {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl Behaviour for Once {
    type Message = u32;

    fn react(&mut self, input: Input<u32>, actions: &mut Actions<u32>) -> Next {
        if input == Input::Start {
            (self.0)(actions);
        }
        Next::Stop
    }
}

fn failure(act: fn(&mut Actions<u32>)) -> (FailureKind, String) {
    let body = move || drop(mailbox_order().spawn_machine("once", Once(act)));
    let mut report = Checker::new().check(body);
    let error = report.errors.remove(0);
    (error.kind, error.message)
}

#[test]
fn an_action_that_receives_is_an_error() {
    let (kind, message) = failure(|actions| actions.ask((), |me, ()| me.receive()));
    assert_eq!(kind, FailureKind::Panic);
    assert!(message.contains("Next::Receive"), "{message}");
}

#[test]
fn conversions_of_notices_to_a_state_machine_capture_nothing() {
    let (kind, message) = failure(|actions| {
        actions.perform(7, |me, number| {
            me.trap_exits(move |_| number);
        });
    });
    assert_eq!(kind, FailureKind::Panic);
    assert!(message.contains("captures"), "{message}");
}

#[test]
fn a_state_machine_that_starts_a_closure_tells_no_state() {
    let checker = Checker::new().algorithm(Algorithm::ContextSensitive);
    let result = checker.try_check(|| {
        let act: fn(&mut Actions<u32>) = |actions| {
            actions.perform((), |me, ()| {
                me.system().spawn("closure", |_: &Process<()>| ());
            });
        };
        mailbox_order().spawn_machine("once", Once(act));
    });
    let message = result.unwrap_err().to_string();
    assert!(message.contains("closures"), "{message}");
}
