//! Random systems of state machines with tables, names, links, monitors, signals and every model of
//! delivery. Context-sensitive DPOR finds the final states of the *naive semantics*, which performs
//! every step in every reachable state (`testkit::processes`). The seed is printed. `MAZURKA_SEED`
//! sets it; `MAZURKA_PROGRAMS` sets the number of systems.

mod window;

use actors::{
    Actions, Behaviour, Delivery, Down, Exit, ExitReason, Input, Next, Pid, Policy, Table,
};
use explore::Outcome;
use mazurka::{Algorithm, Checker, Report};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use testkit::processes::{Body, Statement, System, finals};
use testkit::random::Random;
use window::{Finals, Window};

/// Systems with more states, or more executions with an algorithm, are left out.
const MOST_STATES: usize = 20_000;
const MOST_EXECUTIONS: u64 = 500;

/// A debug build takes about ten times as long for each system.
const SYSTEMS: u64 = if cfg!(debug_assertions) { 12 } else { 80 };

/// How much a process remembers. The less it remembers, the more orders of messages lead to the
/// same state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Memory {
    All,
    Last,
}

impl Memory {
    fn add(self, notes: &mut Vec<String>, note: String) {
        match self {
            Memory::All => {}
            Memory::Last => notes.clear(),
        }
        notes.push(note);
    }
}

/// All processes, known before the first starts. They never change, so no state contains them.
#[derive(Clone, Default)]
struct Pids(Arc<Mutex<Vec<Pid<Message>>>>);

impl PartialEq for Pids {
    fn eq(&self, _: &Pids) -> bool {
        true
    }
}

impl Eq for Pids {}

impl Hash for Pids {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Message {
    Number(u32),
    /// The result of an operation.
    Note(String),
}

/// A process that performs its statements.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Runner {
    number: usize,
    body: Body,
    next: usize,
    last: u32,
    memory: Memory,
    notes: Vec<String>,
    pids: Pids,
    table: Table<u32, u32>,
    window: Window,
}

impl Behaviour for Runner {
    type Message = Message;

    fn fits(&self, message: &Message) -> bool {
        let Message::Number(number) = message else {
            unreachable!("nobody sends notes")
        };
        let odd = match self.body[self.next - 1] {
            Statement::Receive { odd } | Statement::ReceiveWithin { odd, .. } => odd,
            _ => unreachable!("the last statement receives"),
        };
        !odd || number % 2 == 1
    }

    fn react(&mut self, input: Input<Message>, actions: &mut Actions<Message>) -> Next {
        match input {
            Input::Start => {}
            Input::Message(Message::Number(number)) => {
                self.last = number;
                self.note(format!("received {number}"));
            }
            Input::Timeout => self.note("nothing".to_owned()),
            Input::Answer(Message::Note(note)) => self.note(note),
            Input::Message(_) | Input::Answer(_) => unreachable!("only answers are notes"),
        }
        if self.notes.last().is_some_and(|note| note == "end") {
            return Next::Stop;
        }
        while let Some(&statement) = self.body.get(self.next) {
            self.next += 1;
            if let Some(next) = self.perform(statement, actions) {
                return next;
            }
        }
        actions.ask((), |_, ()| Message::Note("end".to_owned()));
        Next::Receive
    }
}

impl Runner {
    fn note(&mut self, note: String) {
        self.memory.add(&mut self.notes, note);
        let shown = self.notes.join(", ");
        self.window.show(&format!("p{}", self.number), shown);
    }

    fn pid(&self, of: usize) -> Pid<Message> {
        self.pids.0.lock().unwrap()[of].clone()
    }

    /// Adds the actions of a statement. Returns how the process continues if it has to wait.
    fn perform(&self, statement: Statement, actions: &mut Actions<Message>) -> Option<Next> {
        match statement {
            Statement::Receive { .. } => return Some(Next::Receive),
            Statement::ReceiveWithin { zero, .. } => {
                let limit = if zero { 0 } else { 1 };
                return Some(Next::ReceiveWithin(Duration::from_secs(limit)));
            }
            Statement::Send(to, number) => actions.send(&self.pid(to), Message::Number(number)),
            Statement::Forward(to) => {
                actions.send(&self.pid(to), Message::Number(self.last + 10));
            }
            Statement::Kill(to) => actions.perform(self.pid(to), |_, to| to.kill()),
            Statement::Signal(to) => {
                actions.perform(self.pid(to), |_, to| {
                    to.exit(ExitReason::Other("other".to_owned()));
                });
            }
            Statement::Exit => {
                actions.perform((), |me, ()| me.exit(ExitReason::Other("other".to_owned())));
            }
            Statement::Link(to) => actions.perform(self.pid(to), |me, to| me.link(&to)),
            Statement::Unlink(to) => actions.perform(self.pid(to), |me, to| me.unlink(&to)),
            Statement::Monitor(to) => {
                actions.perform(self.pid(to), |me, to| {
                    drop(me.monitor(&to, message_of_down))
                });
            }
            Statement::TrapExits => actions.perform((), |me, ()| me.trap_exits(message_of_exit)),
            asks => {
                self.ask(asks, actions);
                return Some(Next::Receive);
            }
        }
        None
    }

    fn ask(&self, statement: Statement, actions: &mut Actions<Message>) {
        match statement {
            Statement::IsAlive(of) => actions.ask(self.pid(of), |_, of| {
                Message::Note(format!("alive {}", of.is_alive()))
            }),
            Statement::Register => actions.ask((), |me, ()| {
                let result = me.system().register("name", &me.pid());
                let shown = result.map_or("taken", |()| "registered");
                Message::Note(shown.to_owned())
            }),
            Statement::Unregister => actions.ask((), |me, ()| {
                Message::Note(format!("unregister {}", me.system().unregister("name")))
            }),
            Statement::WhereIs => actions.ask((), |me, ()| {
                let found = me.system().whereis::<Message>("name");
                let number = found.map(|pid| process_number(pid.name()));
                Message::Note(format!("whereis {number:?}"))
            }),
            table => {
                let on = (self.table.clone(), table);
                actions.ask(on, |_, (on, table)| use_table(&on, table));
            }
        }
    }
}

fn use_table(table: &Table<u32, u32>, statement: Statement) -> Message {
    let result = match statement {
        Statement::Insert(key, value) => table.insert(key, value).map(|()| "inserted".to_owned()),
        Statement::InsertNew(key, value) => {
            let is_new = table.insert_new(key, value);
            is_new.map(|is_new| format!("new {is_new}"))
        }
        Statement::Lookup(key) => table.lookup(&key).map(|value| format!("found {value:?}")),
        Statement::Count(key) => {
            let sum = table.update_counter(&key, 1);
            sum.map(|sum| format!("counted {sum:?}"))
        }
        Statement::Delete(key) => table.delete(&key).map(|value| format!("deleted {value:?}")),
        Statement::Scan => {
            let rows = table.scan().map(BTreeMap::from_iter);
            rows.map(|rows: BTreeMap<u32, u32>| format!("all {rows:?}"))
        }
        other => unreachable!("{other:?} is not about the table"),
    };
    Message::Note(result.unwrap_or_else(|_| "gone".to_owned()))
}

/// Returns the number in the name of a process: 2 for `p2`.
fn process_number(name: &str) -> usize {
    let number = name[1..].parse();
    number.expect("processes are called p and a number")
}

fn reason_number(reason: &ExitReason) -> u32 {
    match reason {
        ExitReason::Normal => 0,
        ExitReason::Killed => 1,
        ExitReason::NoProcess => 2,
        ExitReason::Panic(_) | ExitReason::Other(_) => 3,
    }
}

fn message_of_down(down: Down) -> Message {
    let reason = reason_number(&down.reason);
    Message::Number(1000 + 100 * reason + process_number(down.process.name()) as u32)
}

fn message_of_exit(exit: Exit) -> Message {
    let process = exit.process.expect("only processes send signals");
    let reason = reason_number(&exit.reason);
    Message::Number(2000 + 100 * reason + process_number(process.name()) as u32)
}

fn run(program: &System, memory: Memory, window: &Window) {
    let system = actors::System::new(program.delivery)
        .losing(program.losses)
        .duplicating(program.duplicates)
        .unhandled(Policy::Allow);
    let pids = Pids::default();
    let table = system.table("table");
    let runners = program
        .processes
        .iter()
        .enumerate()
        .map(|(number, body)| Runner {
            number,
            body: body.clone(),
            next: 0,
            last: 0,
            memory,
            notes: Vec::new(),
            pids: pids.clone(),
            table: table.clone(),
            window: window.clone(),
        });
    system.spawn_machine("starter", Starter(runners.collect()));
}

/// Starts all processes.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Starter(Vec<Runner>);

impl Behaviour for Starter {
    type Message = ();

    fn react(&mut self, _: Input<()>, actions: &mut Actions<()>) -> Next {
        for runner in std::mem::take(&mut self.0) {
            let pids = runner.pids.clone();
            let pid = actions.spawn(&format!("p{}", runner.number), runner);
            pids.0.lock().unwrap().push(pid);
        }
        Next::Stop
    }
}

/// Returns a random system whose table no process owns.
fn random_system(seed: u64) -> System {
    System {
        is_owned: false,
        ..System::random(&mut Random::new(seed))
    }
}

/// Returns what processes with this memory show in the final states of the naive semantics. Returns
/// `None` if the system has too many states.
fn expected(program: &System, memory: Memory) -> Option<Finals> {
    let all = finals(program, MOST_STATES)?;
    let shown = all.into_iter().map(|(notes, waits)| {
        let processes = notes.into_iter().enumerate();
        let kept = processes.filter_map(|(number, notes)| {
            let mut kept = Vec::new();
            for note in notes {
                memory.add(&mut kept, note);
            }
            (!kept.is_empty()).then(|| (format!("p{number}"), kept.join(", ")))
        });
        let outcome = match waits {
            true => Outcome::Deadlock,
            false => Outcome::Completed,
        };
        (kept.collect(), outcome)
    });
    Some(shown.collect::<BTreeSet<_>>())
}

/// Explores the system. Returns `None` if the algorithm needs too many executions.
fn explored(program: &System, memory: Memory, checker: Checker) -> Option<(Finals, Report)> {
    let checker = checker.timeouts(10).max_executions(MOST_EXECUTIONS);
    let shared = program.clone();
    let (finals, report) = window::explored(checker, move |window| run(&shared, memory, window));
    report.bounds.is_empty().then_some((finals, report))
}

/// Checks the final states that the algorithms find. Returns the numbers of executions of
/// `context-sensitive` and `optimal`; `None` if the system is too large.
fn compared(program: &System, memory: Memory) -> Option<[u64; 2]> {
    let expected = expected(program, memory)?;
    let by = |algorithm| Checker::new().algorithm(algorithm);
    let (found, optimal) = explored(program, memory, by(Algorithm::Optimal))?;
    assert_eq!(found, expected, "optimal of {program:?}");
    let sensitive = by(Algorithm::ContextSensitive);
    let (found, fewer) = explored(program, memory, sensitive)?;
    assert_eq!(found, expected, "context-sensitive of {program:?}");
    Some([fewer.executions, optimal.executions])
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Checks random systems. For more than a twentieth of them, `context-sensitive` must need fewer
/// executions than `optimal`.
fn check_many(memory: Memory) {
    let seed = number("MAZURKA_SEED").unwrap_or(1);
    let systems = number("MAZURKA_PROGRAMS").unwrap_or(SYSTEMS);
    println!("MAZURKA_SEED={seed}");
    let (mut done, mut fewer, mut executions) = (0, 0, [0, 0]);
    for tried in 0.. {
        let program = random_system(seed.wrapping_add(tried));
        let Some(counts) = compared(&program, memory) else {
            continue;
        };
        done += 1;
        fewer += u64::from(counts[0] < counts[1]);
        executions = [executions[0] + counts[0], executions[1] + counts[1]];
        if done == systems {
            break;
        }
    }
    println!("{done} systems, {fewer} with fewer executions: {executions:?}");
    assert!(fewer * 20 > systems, "too tame");
}

#[test]
fn context_sensitive_finds_the_final_states_of_processes_that_remember_everything() {
    check_many(Memory::All);
}

#[test]
fn context_sensitive_finds_the_final_states_of_processes_that_forget() {
    check_many(Memory::Last);
}

#[test]
fn the_models_of_delivery_are_all_tried() {
    let delivery = |seed| random_system(seed).delivery;
    let tried: BTreeSet<Delivery> = (1..60).map(delivery).collect();
    assert_eq!(tried, Delivery::ALL.into());
}
