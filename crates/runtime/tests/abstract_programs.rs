//! Checks that random abstract programs have the same results in two cases: as coroutines of a
//! model, and on the testkit's machine (an interpreter).
//!
//! To repeat a run, set the environment variable `MAZURKA_SEED` to the seed that it has printed.

use explore::{
    Algorithm, Interrupt, MemoryModel, MemoryOrder, Observer, Options, Outcome, Pending, Performed,
    Step, Strategy, ThreadId, explore,
};
use report::Conditions;
#[allow(unused_imports, reason = "`mirrors!` may name types of `sync`")]
use runtime::sync::*;
use runtime::*;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::atomic::Ordering::{self, SeqCst};
use std::time::Duration;
use std::time::{SystemTime, UNIX_EPOCH};
use testkit::Machine;
use testkit::entry::{Act, Kind};
use testkit::program::{Action, Condition, Program, REGISTERS, Sort, Statement, Value, Verb};
use testkit::random::Random;
use testkit::suite::SUITES;

/// The outcome, and the final values of variables and registers.
type End = (Outcome, Vec<u64>, Vec<Vec<u64>>);

/// The results of a search: the number of maximal executions, and how they ended.
type Found = (u64, BTreeSet<End>);

/// The objects and threads of a running program.
struct Shared {
    variables: Vec<Atomic<u64>>,
    mutexes: Vec<Mutex>,
    rwlocks: Vec<RwLock>,
    condvars: Vec<Condvar>,
    entries: Entries,
    barriers: Vec<Barrier>,
    onces: Vec<Once>,
    channels: Vec<Channel<u64>>,
    /// The threads that were started, by their numbers in the program.
    handles: RefCell<Vec<Option<ThreadId>>>,
    /// The barrier that lets the threads begin together.
    start: Barrier,
}

macro_rules! define_entries {
    ($(
        $field:ident: $Kind:ident = $create:expr,
        $($Act:ident => $perform:expr),+;
    )*) => {
        /// The objects that have entries in testkit.
        struct Entries {
            $($field: Vec<$Kind>,)*
        }

        impl Entries {
            fn new(program: &Program) -> Entries {
                Entries {
                    $($field: {
                        let create: fn(&Program, usize) -> $Kind = $create;
                        let numbers = 0..program.count(Sort::Entry(Kind::$Kind));
                        numbers.map(|number| create(program, number)).collect()
                    },)*
                }
            }

            fn perform(&self, act: Act, object: usize) -> u64 {
                match act {
                    $($(Act::$Act => {
                        let perform: fn(&$Kind) -> u64 = $perform;
                        perform(&self.$field[object])
                    })+)*
                }
            }
        }
    };
}

testkit::mirrors!(define_entries);

/// The state that is checked at the end. It outlives the executions.
#[derive(Default)]
struct Seen {
    registers: RefCell<Vec<Vec<u64>>>,
    shared: RefCell<Option<Rc<Shared>>>,
}

/// A thread of an abstract program.
struct Runner {
    number: usize,
    program: Rc<Program>,
    shared: Rc<Shared>,
    seen: Rc<Seen>,
    /// The mutexes that the thread holds.
    mutexes: RefCell<Vec<usize>>,
    /// The reader-writer locks that the thread holds.
    places: RefCell<Vec<(usize, Place)>>,
    /// The channels whose end the thread has dropped.
    dropped: RefCell<Vec<usize>>,
}

const SENDING: &[Verb] = &[Verb::Send, Verb::TrySend, Verb::TimedSend, Verb::HangUp];

impl Shared {
    fn new(program: &Program, roots: usize) -> Shared {
        let numbers = |sort| 0..program.count(sort);
        Shared {
            variables: numbers(Sort::Variable)
                .map(|_| Atomic::new(0).settled())
                .collect(),
            mutexes: numbers(Sort::Mutex).map(|_| Mutex::new()).collect(),
            rwlocks: numbers(Sort::RwLock).map(|_| RwLock::new()).collect(),
            condvars: numbers(Sort::Condvar).map(|_| Condvar::new()).collect(),
            entries: Entries::new(program),
            barriers: numbers(Sort::Barrier)
                .map(|n| Barrier::new(program.places(n)))
                .collect(),
            onces: numbers(Sort::Once).map(|_| Once::new()).collect(),
            channels: numbers(Sort::Channel)
                .map(|n| {
                    let channel = Channel::new(program.capacity(n));
                    (1..program.users(SENDING, n).len()).for_each(|_| channel.add_sender());
                    channel
                })
                .collect(),
            handles: RefCell::new(vec![None; program.threads.len()]),
            start: Barrier::new(roots + 1),
        }
    }
}

impl Runner {
    fn new(number: usize, parent: &Runner) -> Runner {
        Runner {
            number,
            program: Rc::clone(&parent.program),
            shared: Rc::clone(&parent.shared),
            seen: Rc::clone(&parent.seen),
            mutexes: RefCell::default(),
            places: RefCell::default(),
            dropped: RefCell::default(),
        }
    }

    fn value(&self, value: Value) -> u64 {
        match value {
            Value::Constant(value) => value,
            Value::Register(register) => {
                self.seen.registers.borrow()[self.number][usize::from(register)]
            }
        }
    }

    fn holds(&self, condition: &Condition) -> bool {
        (self.value(condition.left) == self.value(condition.right)) == condition.equal
    }

    fn run(&self, body: &[Statement]) {
        for statement in body {
            match statement {
                Statement::Do(action) => self.perform(action),
                Statement::Assume(condition) => assume(self.holds(condition)),
                Statement::Assert(condition) => assert!(self.holds(condition)),
                Statement::If(condition, body) if self.holds(condition) => self.run(body),
                Statement::If(..) => {}
                Statement::Repeat(times, body) => (0..*times).for_each(|_| self.run(body)),
            }
        }
    }

    fn perform(&self, action: &Action) {
        if self.skips(action) {
            return;
        }
        let result = self.effect(action);
        if let Some(register) = action.into {
            self.seen.registers.borrow_mut()[self.number][usize::from(register)] = result;
        }
    }

    /// Checks whether an action makes no sense in this state, such as the release of a lock that is
    /// not held.
    fn skips(&self, action: &Action) -> bool {
        let object = action.objects.first().copied().unwrap_or(0);
        match action.verb {
            Verb::Unlock => !self.mutexes.borrow().contains(&object),
            Verb::Wait | Verb::TimedWait => !self.mutexes.borrow().contains(&action.objects[1]),
            Verb::Release => !self.places.borrow().iter().any(|&(lock, _)| lock == object),
            Verb::Send
            | Verb::TrySend
            | Verb::TimedSend
            | Verb::Receive
            | Verb::TryReceive
            | Verb::TimedReceive
            | Verb::HangUp
            | Verb::Leave => self.dropped.borrow().contains(&object),
            _ => false,
        }
    }

    /// Records that the thread holds a reader-writer lock, if it got a place. Returns 1 if so, and
    /// 0 otherwise.
    fn hold(&self, lock: usize, place: Option<Place>) -> u64 {
        let is_held = place.is_some();
        self.places
            .borrow_mut()
            .extend(place.map(|place| (lock, place)));
        u64::from(is_held)
    }

    fn handle(&self, number: usize) -> ThreadId {
        self.shared.handles.borrow()[number].expect("the thread was started")
    }

    fn effect(&self, action: &Action) -> u64 {
        let object = action.objects.first().copied().unwrap_or(0);
        let value = |index: usize| self.value(action.values[index]);
        let shared = &*self.shared;
        let [order, on_failure] = [action.order, action.on_failure].map(ordering);
        match action.verb {
            Verb::Load => return shared.variables[object].load(order),
            Verb::Store => shared.variables[object].store(value(0), order),
            Verb::FetchAdd => {
                let add = value(0);
                return shared.variables[object].modify("add", order, |x| x.wrapping_add(add));
            }
            Verb::Swap => {
                let new = value(0);
                return shared.variables[object].modify("swap", order, |_| new);
            }
            Verb::CompareExchange => {
                let (current, new) = (value(0), value(1));
                let result =
                    shared.variables[object].compare_exchange(current, new, order, on_failure);
                return result.unwrap_or_else(|old| old);
            }
            Verb::WeakCompareExchange => {
                let (current, new) = (value(0), value(1));
                if choose(2) == 1 {
                    shared.variables[object].load(on_failure);
                    return 0;
                }
                let result =
                    shared.variables[object].compare_exchange(current, new, order, on_failure);
                return u64::from(result.is_ok());
            }
            Verb::Fence => fence(order),
            Verb::Let => return value(0),
            Verb::Yield => {}
            Verb::Choose => return u64::from(choose(value(0).max(1) as u32)),
            Verb::Lock => {
                shared.mutexes[object].lock();
                self.mutexes.borrow_mut().push(object);
            }
            Verb::Unlock => {
                self.mutexes.borrow_mut().retain(|&mutex| mutex != object);
                shared.mutexes[object].unlock();
            }
            Verb::TryLock => {
                let is_held = shared.mutexes[object].try_lock();
                self.mutexes.borrow_mut().extend(is_held.then_some(object));
                return u64::from(is_held);
            }
            Verb::ReadLock => return self.hold(object, Some(shared.rwlocks[object].read())),
            Verb::WriteLock => return self.hold(object, Some(shared.rwlocks[object].write())),
            Verb::TryRead => return self.hold(object, shared.rwlocks[object].try_read()),
            Verb::TryWrite => return self.hold(object, shared.rwlocks[object].try_write()),
            Verb::Release => {
                let place = self
                    .places
                    .borrow()
                    .iter()
                    .rposition(|&(lock, _)| lock == object);
                let (_, place) = self.places.borrow_mut().remove(place.expect("it is held"));
                shared.rwlocks[object].release(&place);
            }
            Verb::Wait => _ = shared.condvars[object].wait(&shared.mutexes[action.objects[1]]),
            Verb::TimedWait => {
                let mutex = &shared.mutexes[action.objects[1]];
                let signalled = Cell::new(false);
                signalled.set(shared.condvars[object].wait_timed(mutex));
                return u64::from(signalled.get());
            }
            Verb::Signal => _ = shared.condvars[object].signal(),
            Verb::Broadcast => _ = shared.condvars[object].broadcast(),
            Verb::Act(act) => return shared.entries.perform(act, object),
            Verb::Arrive => {
                shared.barriers[object].wait();
            }
            Verb::Lead => return u64::from(shared.barriers[object].wait().is_leader()),
            Verb::Once => {
                if let Entry::Initialize { .. } = shared.onces[object].enter() {
                    shared.variables[action.objects[1]].store(value(0), SeqCst);
                    shared.onces[object].done();
                }
            }
            Verb::FailOnce => {
                if let Entry::Initialize { .. } = shared.onces[object].enter() {
                    shared.onces[object].fail();
                }
            }
            Verb::Get => return u64::from(shared.onces[object].is_done()),
            Verb::Send => return sent(shared.channels[object].send(value(0))),
            Verb::TrySend => return sent(shared.channels[object].try_send(value(0))),
            Verb::TimedSend => return sent(shared.channels[object].send_timed(value(0))),
            Verb::Receive => return received(shared.channels[object].receive()),
            Verb::TryReceive => return received(shared.channels[object].try_receive()),
            Verb::TimedReceive => {
                return received(shared.channels[object].receive_timed(Duration::ZERO));
            }
            Verb::HangUp => {
                self.dropped.borrow_mut().push(object);
                shared.channels[object].drop_sender();
            }
            Verb::Leave => {
                self.dropped.borrow_mut().push(object);
                shared.channels[object].drop_receiver();
            }
            Verb::Park => park(),
            Verb::TimedPark => return u64::from(park_timed()),
            Verb::Unpark => unpark(self.handle(object)),
            Verb::Spawn => {
                let child = Runner::new(object, self);
                let handle = spawn(None, move || child.run(&child.program.threads[object]));
                self.shared.handles.borrow_mut()[object] = Some(handle);
            }
            Verb::Join => {
                let _ = join(self.handle(object));
            }
            Verb::Ended => return u64::from(is_finished(self.handle(object))),
        }
        0
    }
}

fn sent(result: Result<(), SendError<u64>>) -> u64 {
    match result {
        Ok(()) => 0,
        Err(SendError::Full(_)) => 1,
        Err(SendError::Disconnected(_)) => 2,
    }
}

fn received(result: Result<u64, ReceiveError>) -> u64 {
    match result {
        Ok(message) => 10 + message,
        Err(ReceiveError::Empty) => 1,
        Err(ReceiveError::Disconnected) => 2,
    }
}

/// Runs the main thread. It starts all threads that no other thread spawns, and a barrier lets them
/// begin together.
fn main_thread(program: &Rc<Program>, seen: &Rc<Seen>) {
    let is_root = |&thread: &usize| program.users(&[Verb::Spawn], thread).is_empty();
    let roots: Vec<usize> = (0..program.threads.len()).filter(is_root).collect();
    *seen.registers.borrow_mut() = vec![vec![0; REGISTERS]; program.threads.len()];
    let main = Runner {
        number: 0,
        program: Rc::clone(program),
        shared: Rc::new(Shared::new(program, roots.len())),
        seen: Rc::clone(seen),
        mutexes: RefCell::default(),
        places: RefCell::default(),
        dropped: RefCell::default(),
    };
    *seen.shared.borrow_mut() = Some(Rc::clone(&main.shared));
    for root in roots {
        let thread = Runner::new(root, &main);
        let handle = spawn(None, move || {
            thread.shared.start.wait();
            thread.run(&thread.program.threads[root]);
        });
        main.shared.handles.borrow_mut()[root] = Some(handle);
    }
    main.shared.start.wait();
}

/// A wrapper of a program that records how its executions end.
struct Noting<P, F> {
    program: P,
    end: F,
    found: RefCell<Found>,
}

impl<P: explore::Program, F: Fn(&P, Outcome) -> End> explore::Program for Noting<P, F> {
    fn reset(&mut self) {
        self.program.reset();
    }

    fn pending(&self) -> &[Pending] {
        self.program.pending()
    }

    fn step(&mut self, step: Step) -> Result<Performed<'_>, Interrupt> {
        self.program.step(step)
    }

    fn outcome(&self) -> Outcome {
        let outcome = self.program.outcome();
        let mut found = self.found.borrow_mut();
        found.0 += 1;
        found.1.insert((self.end)(&self.program, outcome));
        outcome
    }
}

/// An observer that stops a search with too many executions.
struct Enough(u64);

impl Observer for Enough {
    fn ended(&mut self, _: Outcome, _: &dyn Strategy) -> ControlFlow<()> {
        self.0 += 1;
        if self.0 < 3000 {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }
}

/// Returns the ordering of the standard library.
fn ordering(order: MemoryOrder) -> Ordering {
    match order {
        MemoryOrder::Relaxed => Ordering::Relaxed,
        MemoryOrder::Acquire => Ordering::Acquire,
        MemoryOrder::Release => Ordering::Release,
        MemoryOrder::AcqRel => Ordering::AcqRel,
        MemoryOrder::SeqCst | MemoryOrder::Object => Ordering::SeqCst,
    }
}

fn search<P, F>(program: P, memory: MemoryModel, end: F) -> Option<Found>
where
    P: explore::Program,
    F: Fn(&P, Outcome) -> End,
{
    let mut noting = Noting {
        program,
        end,
        found: RefCell::default(),
    };
    loop {
        let options = Options {
            memory,
            ..Options::default()
        };
        let mut strategy = Algorithm::Optimal.strategy(options);
        match explore(&mut noting, &mut strategy, &mut Enough(0)) {
            Ok(explore::End::Exhausted) => return Some(noting.found.into_inner()),
            Ok(explore::End::Stopped) => return None,
            Err(Interrupt::Coarsened) => *noting.found.borrow_mut() = Found::default(),
            Err(other) => panic!("{other}"),
        }
    }
}

fn on_the_machine(program: &Program, memory: MemoryModel) -> Option<Found> {
    search(Machine::new(program), memory, |machine, outcome| {
        let end = machine.end();
        let registers = end
            .threads
            .into_iter()
            .map(|(registers, _)| registers)
            .collect();
        (outcome, end.variables, registers)
    })
}

fn as_coroutines(program: &Rc<Program>, memory: MemoryModel) -> Option<Found> {
    let seen: Rc<Seen> = Rc::default();
    let (observed, body_program) = (Rc::clone(&seen), Rc::clone(program));
    let config = Config {
        conditions: Conditions {
            max_events: u32::MAX,
            timeouts: u32::MAX,
            memory,
            ..Conditions::default()
        },
        ..Config::default()
    };
    let model = Model::new(config, move || main_thread(&body_program, &observed));
    let found = search(model, memory, |_, outcome| {
        let shared = seen.shared.borrow();
        let variables = shared
            .iter()
            .flat_map(|shared| &shared.variables)
            .map(Atomic::peek)
            .collect();
        (outcome, variables, seen.registers.borrow().clone())
    });
    *seen.shared.borrow_mut() = None;
    found
}

/// Checks whether the results can be compared. As coroutines, threads have handles only of threads
/// that were already spawned, and the panic of a joined thread is not a failure.
fn is_comparable(program: &Program) -> bool {
    let users = |verbs: &[Verb], thread| !program.users(verbs, thread).is_empty();
    let names = [Verb::Join, Verb::Ended, Verb::Unpark];
    let is_named_early = |thread| users(&[Verb::Spawn], thread) && users(&names, thread);
    let may_panic = format!("{program:?}").contains("Assert");
    let waits_for_ends = program.does(&[Verb::Join, Verb::Ended]);
    let is_named_too_early = (0..program.threads.len()).any(is_named_early);
    !(is_named_too_early || may_panic && waits_for_ends)
}

/// Checks whether the program has operations that may require a coarsening. The machine coarsens
/// from the start, but coroutines only once an execution shows the need. So the numbers of
/// executions may differ and are not compared.
fn is_coarsened_late(program: &Program) -> bool {
    program.does(&[
        Verb::TryRead,
        Verb::TryWrite,
        Verb::TryReceive,
        Verb::TimedReceive,
        Verb::TrySend,
        Verb::TimedSend,
        Verb::Lead,
        Verb::Arrive,
        Verb::Ended,
    ])
}

fn seed() -> u64 {
    let seed = std::env::var("MAZURKA_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .expect("it is after 1970");
        now.as_nanos() as u64
    });
    println!("MAZURKA_SEED={seed}");
    seed
}

#[test]
fn coroutines_do_what_the_machine_does() {
    let mut random = Random::new(seed());
    let mut compared = 0;
    for suite in &SUITES {
        for _ in 0..10 {
            let program = Rc::new(suite.program(&mut random));
            if !program.is_sound() || !is_comparable(&program) {
                continue;
            }
            let Some(machine) = on_the_machine(&program, MemoryModel::Sc) else {
                continue;
            };
            let coroutines = as_coroutines(&program, MemoryModel::Sc);
            let text = format!("{}: {program}", suite.name);
            let coroutines = coroutines.unwrap_or_else(|| panic!("{text}: too many executions"));
            // On the machine, the result of a timed wait is known before the mutex is locked again,
            // so the ends may differ.
            let is_timed = program.does(&[Verb::TimedWait]);
            assert!(is_timed || coroutines.1 == machine.1, "other ends: {text}");
            if !is_coarsened_late(&program) {
                assert_eq!(coroutines.0, machine.0, "{text}");
            }
            compared += 1;
        }
    }
    assert!(compared > 100, "only {compared} programs were compared");
}

#[test]
fn coroutines_read_old_values_like_the_machine() {
    let mut random = Random::new(seed());
    let mut compared = 0;
    for suite in testkit::weak::SUITES {
        for _ in 0..12 {
            let program = Rc::new(suite.program(&mut random));
            if !program.is_sound() || !is_comparable(&program) {
                continue;
            }
            for memory in [MemoryModel::Tso, MemoryModel::Ra, MemoryModel::Rc11] {
                let Some(machine) = on_the_machine(&program, memory) else {
                    continue;
                };
                let coroutines = as_coroutines(&program, memory);
                let text = format!("{}, {memory}: {program}", suite.name);
                assert_eq!(coroutines, Some(machine), "{text}");
                compared += 1;
            }
        }
    }
    assert!(compared > 200, "only {compared} programs were compared");
}
