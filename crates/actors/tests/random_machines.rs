//! Random systems of processes that are state machines. Under every model of delivery,
//! context-sensitive DPOR finds the final states that optimal DPOR finds. Unless the network is
//! causal, or loses or duplicates messages, these are also the final states of a *naive semantics*,
//! which performs every step in every reachable state. The seed is printed. `MAZURKA_SEED` sets it;
//! `MAZURKA_PROGRAMS` sets the number of systems.

mod window;

use actors::{Actions, Behaviour, Delivery, Input, Next, Pid};
use explore::Outcome;
use mazurka::{Algorithm, Checker, Report};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use testkit::random::Random;
use window::{Finals, Window};

/// Systems with more states, or more executions of `optimal`, are left out.
const MOST_STATES: usize = 20_000;
const MOST_EXECUTIONS: u64 = 500;

/// A debug build takes about ten times as long for each system.
const SYSTEMS: u64 = if cfg!(debug_assertions) { 12 } else { 60 };

const STATES: u64 = 3;
/// All numbers that are sent are less than this.
const NUMBERS: u64 = 3;

/// The reaction of each process in each state to each input.
type Program = Vec<Vec<Vec<Reaction>>>;

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
struct Reaction {
    state: usize,
    /// Receiver and number of each message.
    sends: Vec<(usize, u32)>,
    then: Then,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
enum Then {
    Receive { odd: bool },
    Poll { odd: bool },
    Stop,
}

fn fits(then: Then, number: u32) -> bool {
    match then {
        Then::Receive { odd } | Then::Poll { odd } => !odd || number % 2 == 1,
        Then::Stop => false,
    }
}

/// Returns the index of an input in the table of a state.
fn place(input: &Input<u32>) -> usize {
    match input {
        Input::Start => 0,
        Input::Timeout => 1,
        Input::Message(number) | Input::Answer(number) => 2 + *number as usize,
    }
}

fn random_program(random: &mut Random) -> Program {
    let processes = 2 + random.below(2);
    let mut reaction = |_| {
        let mut sends = Vec::new();
        for _ in 0..random.below(3) {
            let to = random.below(processes) as usize;
            sends.push((to, random.below(NUMBERS) as u32));
        }
        let odd = random.below(3) == 0;
        let then = match random.below(8) {
            0..5 => Then::Receive { odd },
            5 | 6 => Then::Poll { odd },
            _ => Then::Stop,
        };
        let state = random.below(STATES) as usize;
        Reaction { state, sends, then }
    };
    let mut table = |_| (0..2 + NUMBERS).map(&mut reaction).collect();
    let mut process = |_| (0..STATES).map(&mut table).collect();
    (0..processes).map(&mut process).collect()
}

/// A process of the naive semantics.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Naive {
    is_started: bool,
    state: usize,
    /// The number of reactions left, without the first.
    left: u32,
    mailbox: Vec<u32>,
    sends: VecDeque<(usize, u32)>,
    then: Then,
}

impl Naive {
    fn react(&mut self, table: &[Vec<Reaction>], input: Input<u32>) {
        let reaction = &table[self.state][place(&input)];
        self.state = reaction.state;
        self.sends = reaction.sends.iter().copied().collect();
        self.then = reaction.then;
        match self.left {
            0 => self.then = Then::Stop,
            _ => self.left -= 1,
        }
    }
}

/// The processes, and the letters in transit as (sender, receiver, number).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    processes: Vec<Naive>,
    letters: Vec<(usize, usize, u32)>,
}

impl State {
    /// Returns the state after the next step of a process, if it has a step.
    fn step(&self, program: &Program, delivery: Delivery, number: usize) -> Option<State> {
        let mut state = self.clone();
        let process = &mut state.processes[number];
        let table = &program[number];
        if !process.is_started {
            process.is_started = true;
            process.react(table, Input::Start);
            return Some(state);
        }
        if let Some((to, sent)) = process.sends.pop_front() {
            match delivery {
                Delivery::MailboxOrder => state.processes[to].mailbox.push(sent),
                _ => state.letters.push((number, to, sent)),
            }
            return Some(state);
        }
        let mut letters = process.mailbox.iter();
        match letters.position(|&number| fits(process.then, number)) {
            Some(position) => {
                let number = process.mailbox.remove(position);
                process.react(table, Input::Message(number));
            }
            None if matches!(process.then, Then::Poll { .. }) => {
                process.react(table, Input::Timeout);
            }
            None => return None,
        }
        Some(state)
    }

    /// Returns the state after the delivery of a letter, if that is allowed.
    fn deliver(&self, delivery: Delivery, position: usize) -> Option<State> {
        let (from, to, _) = self.letters[position];
        let before = &self.letters[..position];
        let is_later = before
            .iter()
            .any(|&(one, other, _)| (one, other) == (from, to));
        if delivery == Delivery::FifoPerPair && is_later {
            return None;
        }
        let mut state = self.clone();
        let (_, to, number) = state.letters.remove(position);
        state.processes[to].mailbox.push(number);
        Some(state)
    }

    fn next(&self, program: &Program, delivery: Delivery) -> Vec<State> {
        let processes = 0..self.processes.len();
        let steps = processes.filter_map(|number| self.step(program, delivery, number));
        let letters = 0..self.letters.len();
        let deliveries = letters.filter_map(|position| self.deliver(delivery, position));
        steps.chain(deliveries).collect()
    }
}

fn shown(process: &Naive) -> String {
    format!("{} {} {:?}", process.state, process.left, process.then)
}

/// Returns the final states of all interleavings; `None` if there are too many states.
fn finals(program: &Program, delivery: Delivery) -> Option<Finals> {
    let idle = Naive {
        is_started: false,
        state: 0,
        left: REACTIONS,
        mailbox: Vec::new(),
        sends: VecDeque::new(),
        then: Then::Stop,
    };
    let start = State {
        processes: vec![idle; program.len()],
        letters: Vec::new(),
    };
    let (mut seen, mut todo) = (BTreeSet::from([start.clone()]), vec![start]);
    let mut finals = Finals::new();
    while let Some(system) = todo.pop() {
        let next = system.next(program, delivery);
        if next.is_empty() {
            let states = system.processes.iter().enumerate();
            let states = states.map(|(number, process)| (format!("p{number}"), shown(process)));
            let mut processes = system.processes.iter();
            let waits = processes.any(|process| process.then != Then::Stop);
            let outcome = match waits {
                true => Outcome::Deadlock,
                false => Outcome::Completed,
            };
            finals.insert((states.collect::<BTreeMap<_, _>>(), outcome));
        }
        todo.extend(
            next.into_iter()
                .filter(|system| seen.insert(system.clone())),
        );
        if seen.len() > MOST_STATES {
            return None;
        }
    }
    Some(finals)
}

/// The number of reactions of a process after the first.
const REACTIONS: u32 = 2;

/// A process of the model.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Machine {
    number: usize,
    table: Arc<Vec<Vec<Reaction>>>,
    /// Empty until the process has received the addresses of all processes.
    pids: Vec<Pid<Message>>,
    state: usize,
    left: u32,
    then: Then,
    window: Window,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Message {
    Meet(Vec<Pid<Message>>),
    Number(u32),
}

impl Behaviour for Machine {
    type Message = Message;

    fn fits(&self, message: &Message) -> bool {
        match message {
            Message::Meet(_) => true,
            Message::Number(number) => !self.pids.is_empty() && fits(self.then, *number),
        }
    }

    fn react(&mut self, input: Input<Message>, actions: &mut Actions<Message>) -> Next {
        let input = match input {
            Input::Start => return Next::Receive,
            Input::Timeout => Input::Timeout,
            Input::Message(Message::Number(number)) | Input::Answer(Message::Number(number)) => {
                Input::Message(number)
            }
            Input::Message(Message::Meet(pids)) | Input::Answer(Message::Meet(pids)) => {
                self.pids = pids;
                Input::Start
            }
        };
        self.act(input, actions);
        match self.then {
            Then::Receive { .. } => Next::Receive,
            Then::Poll { .. } => Next::ReceiveWithin(Duration::ZERO),
            Then::Stop => Next::Stop,
        }
    }
}

impl Machine {
    fn act(&mut self, input: Input<u32>, actions: &mut Actions<Message>) {
        let reaction = self.table[self.state][place(&input)].clone();
        for (to, number) in reaction.sends {
            actions.send(&self.pids[to], Message::Number(number));
        }
        (self.state, self.then) = (reaction.state, reaction.then);
        match self.left {
            0 => self.then = Then::Stop,
            _ => self.left -= 1,
        }
        let shown = format!("{} {} {:?}", self.state, self.left, self.then);
        self.window.show(&format!("p{}", self.number), shown);
    }
}

/// Sends the addresses of all processes to each, and ends.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Starter(Vec<Pid<Message>>);

impl Behaviour for Starter {
    type Message = ();

    fn react(&mut self, _: Input<()>, actions: &mut Actions<()>) -> Next {
        for pid in &self.0 {
            actions.send(pid, Message::Meet(self.0.clone()));
        }
        Next::Stop
    }
}

/// The network between the processes.
#[derive(Clone, Copy)]
struct Net {
    delivery: Delivery,
    /// How many messages of each process may be lost, and how many duplicated.
    mishaps: u32,
}

fn run(program: &Program, net: Net, window: &Window) {
    let system = actors::System::new(net.delivery).unhandled(actors::Policy::Allow);
    let system = system.losing(net.mishaps).duplicating(net.mishaps);
    let machine = |(number, table): (usize, &Vec<Vec<Reaction>>)| {
        let machine = Machine {
            number,
            table: Arc::new(table.clone()),
            pids: Vec::new(),
            state: 0,
            left: REACTIONS,
            then: Then::Stop,
            window: window.clone(),
        };
        system.spawn_machine(&format!("p{number}"), machine)
    };
    let pids: Vec<_> = program.iter().enumerate().map(machine).collect();
    system.spawn_machine("starter", Starter(pids));
}

/// Explores the system. Returns `None` if the algorithm needs too many executions.
fn explored(program: &Program, net: Net, algorithm: Algorithm) -> Option<(Finals, Report)> {
    let checker = Checker::new()
        .algorithm(algorithm)
        .max_executions(MOST_EXECUTIONS);
    let shared = program.clone();
    let (finals, report) = window::explored(checker, move |window| run(&shared, net, window));
    report.bounds.is_empty().then_some((finals, report))
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn context_sensitive_finds_the_final_states_of_random_state_machines() {
    check_many(Net {
        delivery: Delivery::MailboxOrder,
        mishaps: 0,
    });
}

#[test]
fn context_sensitive_finds_the_final_states_where_letters_come_in_fifo_per_pair() {
    check_many(Net {
        delivery: Delivery::FifoPerPair,
        mishaps: 0,
    });
}

#[test]
fn context_sensitive_finds_the_final_states_where_letters_come_in_causally() {
    check_many(Net {
        delivery: Delivery::Causal,
        mishaps: 0,
    });
}

#[test]
fn context_sensitive_finds_the_final_states_where_letters_come_in_without_order() {
    check_many(Net {
        delivery: Delivery::Unordered,
        mishaps: 0,
    });
}

#[test]
fn context_sensitive_finds_the_final_states_where_letters_are_lost_and_duplicated() {
    check_many(Net {
        delivery: Delivery::Unordered,
        mishaps: 1,
    });
}

/// Compares `context-sensitive` with `optimal`. Also compares `optimal` with the naive semantics,
/// except for what this semantics does not model: causal delivery, and lost or duplicated messages.
fn check_many(net: Net) {
    let seed = number("MAZURKA_SEED").unwrap_or(1);
    let systems = number("MAZURKA_PROGRAMS").unwrap_or(SYSTEMS);
    println!("MAZURKA_SEED={seed}");
    let (mut compared, mut fewer, mut deadlocks, mut executions) = (0, 0, 0, [0, 0]);
    for tried in 0.. {
        let program = random_program(&mut Random::new(seed.wrapping_add(tried)));
        let Some((expected, optimal)) = explored(&program, net, Algorithm::Optimal) else {
            continue;
        };
        if net.delivery != Delivery::Causal && net.mishaps == 0 {
            let Some(all) = finals(&program, net.delivery) else {
                continue;
            };
            assert_eq!(expected, all, "optimal of {program:?}");
        }
        let explored = explored(&program, net, Algorithm::ContextSensitive);
        let Some((found, sensitive)) = explored else {
            continue;
        };
        assert_eq!(found, expected, "context-sensitive of {program:?}");
        assert!(sensitive.executions <= optimal.executions, "{program:?}");
        compared += 1;
        fewer += u64::from(sensitive.executions < optimal.executions);
        deadlocks += u64::from(expected.iter().any(|(_, end)| *end == Outcome::Deadlock));
        executions[0] += sensitive.executions;
        executions[1] += optimal.executions;
        if compared == systems {
            break;
        }
    }
    println!(
        "{compared} systems, {deadlocks} with deadlocks, {fewer} with fewer executions: {executions:?}"
    );
    assert!(fewer * 10 > systems && deadlocks * 10 > systems, "too tame");
}
