//! Random systems of processes that are state machines: context-sensitive DPOR finds the final states that
//! a naive semantics has. The seed is printed; `MAZURKA_SEED` sets it, `MAZURKA_PROGRAMS` the number of
//! systems.

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

const STATES: u64 = 3;
/// Numbers that are sent.
const NUMBERS: u64 = 3;

/// What each process does in each state at each input.
type Program = Vec<Vec<Vec<Reaction>>>;

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
struct Reaction {
    state: usize,
    /// To whom, and what.
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

/// The place of an input in the table of a state.
fn place(input: &Input<u32>) -> usize {
    match input {
        Input::Start => 0,
        Input::Timeout => 1,
        Input::Message(number) => 2 + *number as usize,
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
    /// How many reactions are left, but for the first.
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

/// The state after the next step of a process, if it has one.
fn step(program: &Program, system: &[Naive], number: usize) -> Option<Vec<Naive>> {
    let mut system = system.to_vec();
    let process = &mut system[number];
    let table = &program[number];
    if !process.is_started {
        process.is_started = true;
        process.react(table, Input::Start);
        return Some(system);
    }
    if let Some((to, sent)) = process.sends.pop_front() {
        system[to].mailbox.push(sent);
        return Some(system);
    }
    let mut letters = process.mailbox.iter();
    match letters.position(|&number| fits(process.then, number)) {
        Some(position) => {
            let number = process.mailbox.remove(position);
            process.react(table, Input::Message(number));
        }
        None if matches!(process.then, Then::Poll { .. }) => process.react(table, Input::Timeout),
        None => return None,
    }
    Some(system)
}

fn shown(process: &Naive) -> String {
    format!("{} {} {:?}", process.state, process.left, process.then)
}

/// The final states of all interleavings; none where there are too many states.
fn finals(program: &Program) -> Option<Finals> {
    let idle = Naive {
        is_started: false,
        state: 0,
        left: REACTIONS,
        mailbox: Vec::new(),
        sends: VecDeque::new(),
        then: Then::Stop,
    };
    let start = vec![idle; program.len()];
    let (mut seen, mut todo) = (BTreeSet::from([start.clone()]), vec![start]);
    let mut finals = Finals::new();
    while let Some(system) = todo.pop() {
        let steps = (0..program.len()).filter_map(|number| step(program, &system, number));
        let next: Vec<_> = steps.collect();
        if next.is_empty() {
            let states = system.iter().enumerate();
            let states = states.map(|(number, process)| (format!("p{number}"), shown(process)));
            let waits = system.iter().any(|process| process.then != Then::Stop);
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

/// How many reactions a process has after the first.
const REACTIONS: u32 = 2;

/// A process of the model.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Machine {
    number: usize,
    table: Arc<Vec<Vec<Reaction>>>,
    /// Empty until it has been told whom there is.
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
            Input::Message(Message::Number(number)) => Input::Message(number),
            Input::Message(Message::Meet(pids)) => {
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

fn run(program: &Program, window: &Window) {
    let system = actors::System::new(Delivery::MailboxOrder).unhandled(actors::Policy::Allow);
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
    for pid in &pids {
        pid.send(Message::Meet(pids.clone()));
    }
}

/// None if an algorithm has too much to do.
fn explored(program: &Program, algorithm: Algorithm) -> Option<(Finals, Report)> {
    let checker = Checker::new()
        .algorithm(algorithm)
        .max_executions(MOST_EXECUTIONS);
    let own = program.clone();
    let (finals, report) = window::explored(checker, move |window| run(&own, window));
    report.bounds.is_empty().then_some((finals, report))
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn context_sensitive_finds_the_final_states_of_random_state_machines() {
    let seed = number("MAZURKA_SEED").unwrap_or(1);
    let systems = number("MAZURKA_PROGRAMS").unwrap_or(60);
    println!("MAZURKA_SEED={seed}");
    let (mut compared, mut fewer, mut deadlocks, mut executions) = (0, 0, 0, [0, 0]);
    for tried in 0.. {
        let program = random_program(&mut Random::new(seed.wrapping_add(tried)));
        let Some(expected) = finals(&program) else {
            continue;
        };
        let Some((all, optimal)) = explored(&program, Algorithm::Optimal) else {
            continue;
        };
        assert_eq!(all, expected, "optimal of {program:?}");
        let Some((found, sensitive)) = explored(&program, Algorithm::ContextSensitive) else {
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
