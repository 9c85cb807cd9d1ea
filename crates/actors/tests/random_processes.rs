//! Random systems of processes: every algorithm finds the final states of the *naive semantics*,
//! which performs every step in every reachable state (`testkit::processes`). The seed is printed.
//! `MAZURKA_SEED` sets it; `MAZURKA_PROGRAMS` sets the number of systems.

mod outcomes;

use actors::{Delivery, Down, Exit, ExitReason, Pid, Policy, Process, RegisterError, Table};
use mazurka::sync::Barrier;
use mazurka::{Algorithm, Checker};
use outcomes::{Found, Notes, explored_by};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use testkit::processes::{Finals, Statement, System, finals};
use testkit::random::Random;

/// Systems with more states, or more executions with an algorithm, are left out.
const MOST_STATES: usize = 20_000;
const MOST_EXECUTIONS: u64 = 1_000;

/// The data that the processes of a running system share.
struct Running {
    system: actors::System,
    pids: Mutex<Vec<Pid<u32>>>,
    table: Mutex<Option<Table<u32, u32>>>,
    start: Barrier,
}

/// A process of a running system.
struct Runner<'p> {
    number: usize,
    me: &'p Process<u32>,
    running: Arc<Running>,
    notes: Notes,
    noted: usize,
    last: u32,
}

fn run(program: &System, notes: &Notes) {
    let system = actors::System::new(program.delivery)
        .losing(program.losses)
        .duplicating(program.duplicates)
        .unhandled(Policy::Allow);
    let running = Arc::new(Running {
        table: Mutex::new((!program.is_owned).then(|| system.table("table"))),
        system: system.clone(),
        pids: Mutex::default(),
        start: Barrier::new(program.processes.len() + 1),
    });
    for (number, body) in program.processes.iter().enumerate() {
        let (body, notes) = (body.clone(), notes.clone());
        let (is_owner, shared) = (program.is_owned && number == 0, Arc::clone(&running));
        let pid = system.spawn(&format!("p{number}"), move |me: &Process<u32>| {
            if is_owner {
                *shared.table.lock().unwrap() = Some(me.table("table"));
            }
            shared.start.wait();
            let mut runner = Runner {
                number,
                me,
                running: shared,
                notes,
                noted: 0,
                last: 0,
            };
            body.iter().for_each(|&statement| runner.perform(statement));
            runner.note("end".to_owned());
        });
        running.pids.lock().unwrap().push(pid);
    }
    running.start.wait();
    // Process ids, and what they refer to, must not outlive the execution in a reference cycle.
    drop(system);
}

impl Runner<'_> {
    fn note(&mut self, note: String) {
        self.notes
            .add(format!("{}.{} {note}", self.number, self.noted));
        self.noted += 1;
    }

    fn pid(&self, of: usize) -> Pid<u32> {
        self.running.pids.lock().unwrap()[of].clone()
    }

    fn table(&self) -> Table<u32, u32> {
        let table = self.running.table.lock().unwrap();
        table.clone().expect("the table is made before the start")
    }

    fn perform(&mut self, statement: Statement) {
        let fits = |odd: bool| move |message: &u32| !odd || message % 2 == 1;
        match statement {
            Statement::Send(to, number) => self.pid(to).send(number),
            Statement::Forward(to) => self.pid(to).send(self.last + 10),
            Statement::Receive { odd } => {
                let message = self.me.receive_if(fits(odd));
                self.received(Some(message));
            }
            Statement::ReceiveWithin { odd, zero } => {
                let limit = if zero {
                    Duration::ZERO
                } else {
                    Duration::from_secs(1)
                };
                let message = self.me.receive_if_within(limit, fits(odd));
                self.received(message);
            }
            Statement::Kill(to) => self.pid(to).kill(),
            Statement::Signal(to) => self.pid(to).exit(ExitReason::Other("other".to_owned())),
            Statement::Exit => self.me.exit(ExitReason::Other("other".to_owned())),
            Statement::Link(to) => self.me.link(&self.pid(to)),
            Statement::Unlink(to) => self.me.unlink(&self.pid(to)),
            Statement::Monitor(to) => drop(self.me.monitor(&self.pid(to), message_of_down)),
            Statement::TrapExits => self.me.trap_exits(message_of_exit),
            Statement::IsAlive(to) => self.note_of("alive", self.pid(to).is_alive()),
            Statement::Register => self.register(),
            Statement::Unregister => {
                self.note_of("unregister", self.running.system.unregister("name"));
            }
            Statement::WhereIs => {
                let found = self.running.system.whereis::<u32>("name");
                let number = found.map(|pid| process_number(pid.name()));
                self.note(format!("whereis {number:?}"));
            }
            table => self.use_table(table),
        }
    }

    fn note_of(&mut self, what: &str, value: bool) {
        self.note(format!("{what} {value}"));
    }

    fn received(&mut self, message: Option<u32>) {
        match message {
            Some(message) => {
                self.last = message;
                self.note(format!("received {message}"));
            }
            None => self.note("nothing".to_owned()),
        }
    }

    fn register(&mut self) {
        let result = match self.running.system.register("name", &self.me.pid()) {
            Ok(()) => "registered",
            Err(RegisterError::Taken) => "taken",
            Err(RegisterError::Ended) => unreachable!("the process runs"),
        };
        self.note(result.to_owned());
    }

    fn use_table(&mut self, statement: Statement) {
        let table = self.table();
        let result = match statement {
            Statement::Insert(key, value) => {
                table.insert(key, value).map(|()| "inserted".to_owned())
            }
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
        self.note(result.unwrap_or_else(|_| "gone".to_owned()));
    }
}

/// Returns the number in the name of a process: 2 for `p2`.
fn process_number(name: &str) -> usize {
    name[1..]
        .parse()
        .expect("processes are called p and a number")
}

fn reason_number(reason: &ExitReason) -> u32 {
    match reason {
        ExitReason::Normal => 0,
        ExitReason::Killed => 1,
        ExitReason::NoProcess => 2,
        ExitReason::Panic(_) | ExitReason::Other(_) => 3,
    }
}

fn message_of_down(down: Down) -> u32 {
    1000 + 100 * reason_number(&down.reason) + process_number(down.process.name()) as u32
}

fn message_of_exit(exit: Exit) -> u32 {
    let process = exit.process.expect("only processes send signals");
    2000 + 100 * reason_number(&exit.reason) + process_number(process.name()) as u32
}

/// Converts the final states of a search to those of the naive semantics.
fn seen(found: &Found, processes: usize) -> Finals {
    let finals = found.finals.iter().map(|(lines, outcome)| {
        let mut notes = vec![Vec::new(); processes];
        for line in lines {
            let (place, note) = line.split_once(' ').expect("a line has a place");
            let (process, _) = place.split_once('.').expect("a place has a process");
            notes[process.parse::<usize>().unwrap()].push(note.to_owned());
        }
        (notes, *outcome == explore::Outcome::Deadlock)
    });
    finals.collect()
}

/// Explores the system. Returns the final states and the number of blocked executions; `None` if
/// the algorithm needs too many executions.
fn explored(program: &System, algorithm: Algorithm) -> Option<(Found, u64)> {
    let checker = Checker::new()
        .algorithm(algorithm)
        .keep_going(true)
        .timeouts(10)
        .max_executions(MOST_EXECUTIONS);
    let shared = program.clone();
    let (found, report) = explored_by(checker, move |notes| run(&shared, notes));
    let is_done = report.bounds.is_empty();
    is_done.then_some((found, report.blocked))
}

/// Prints the system if its comparison panics.
struct Shown<'p>(&'p System);

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("{:?}", self.0);
        }
    }
}

/// Compares the algorithms. Returns whether the system is small enough.
fn is_law_kept(program: &System) -> bool {
    let _shown = Shown(program);
    let Some(expected) = finals(program, MOST_STATES) else {
        return false;
    };
    let Some((all, blocked)) = explored(program, Algorithm::Optimal) else {
        return false;
    };
    assert_eq!(blocked, 0, "optimal of {program:?}");
    for algorithm in Algorithm::general() {
        if !algorithm.proves() {
            continue;
        }
        let Some((found, blocked)) = explored(program, algorithm) else {
            continue;
        };
        let context = format!("{algorithm} of {program:?}");
        assert_eq!(seen(&found, program.processes.len()), expected, "{context}");
        // Ids of threads and objects follow the order of discovery, which differs between searches.
        assert_eq!(found.traces.len(), all.traces.len(), "{context}");
        if algorithm.is_optimal() {
            assert!(found.traces.values().all(|&times| times == 1), "{context}");
            assert_eq!(blocked, 0, "{context}");
        }
    }
    true
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let seed = number("MAZURKA_SEED").unwrap_or_else(|| now.map_or(1, |now| now.as_nanos() as u64));
    println!("MAZURKA_SEED={seed}");
    seed
}

#[test]
fn every_algorithm_finds_what_the_naive_semantics_finds() {
    let seed = seed();
    let systems = number("MAZURKA_PROGRAMS").unwrap_or(60);
    let mut compared = 0;
    let mut tried = 0;
    while compared < systems {
        let program = System::random(&mut Random::new(seed.wrapping_add(tried)));
        tried += 1;
        compared += u64::from(is_law_kept(&program));
    }
    println!("{compared} of {tried} systems were small enough");
}

#[test]
fn a_weaker_delivery_has_all_the_ends_of_a_stronger_one() {
    let seed = seed();
    let mut grew = [0; 3];
    // Few systems distinguish the models of delivery, so the test continues until one does.
    for number in 0..2_000 {
        if number >= 60 && grew[2] > 0 {
            break;
        }
        let program = System::random(&mut Random::new(seed.wrapping_add(number)));
        let ends = |delivery: Delivery| {
            let program = System {
                delivery,
                ..program.clone()
            };
            let (found, _) = explored(&program, Algorithm::Parsimonious)?;
            Some(seen(&found, program.processes.len()))
        };
        let Some(all) = Delivery::ALL
            .into_iter()
            .map(ends)
            .collect::<Option<Vec<_>>>()
        else {
            continue;
        };
        for (index, pair) in all.windows(2).enumerate() {
            assert!(pair[0].is_subset(&pair[1]), "{program:?}");
            grew[index] += usize::from(pair[0] != pair[1]);
        }
    }
    assert!(grew[2] > 0, "unordered delivery has more ends: {grew:?}");
}
