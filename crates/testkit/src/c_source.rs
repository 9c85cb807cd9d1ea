//! Prints abstract programs as C with pthreads, for front-ends that check C.
//!
//! Variables become atomics, and registers become local variables. Local variables also record
//! which locks a thread holds. Main creates the threads that no thread spawns, and joins the
//! threads that no thread joins. This adds no conflict, so the C program has the traces of the
//! abstract program.
//!
//! C has no channels, no parking, no polling for an end or a once, and no initializers that give
//! up.

use crate::entry::Kind;
use crate::program::{Action, Condition, Program, REGISTERS, Sort, Statement, Value, Verb};
use explore::MemoryOrder;
use std::fmt::Write;

/// The reason why a program cannot be written in C.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotInC {
    /// The program uses an operation that pthreads do not have.
    #[error("pthreads have no counterpart of {0:?}")]
    Verb(Verb),
    /// The thread has several spawners, or a spawner with a larger number, or it is joined in a way
    /// that is impossible in C. In C, a thread is joined at most once, by its spawner, after the
    /// spawn and outside of blocks.
    #[error("thread {0} is not spawned and joined as in C")]
    Lifetime(usize),
}

impl Program {
    /// Returns the program as a C program without arguments. The checker provides
    /// `__VERIFIER_assume` and `mazurka_choose`.
    ///
    /// ```
    /// let program: testkit::Program = "store x0 1 | r0 = load x0".parse().unwrap();
    /// let source = program.c_source().unwrap();
    /// assert!(source.contains("r0 = atomic_load_explicit(&x0, memory_order_seq_cst);"));
    /// ```
    pub fn c_source(&self) -> Result<String, NotInC> {
        for (_, action) in self.actions() {
            template(action.verb).ok_or(NotInC::Verb(action.verb))?;
        }
        for thread in 0..self.threads.len() {
            check_lifetime(self, thread)?;
        }
        let mut source = Source {
            program: self,
            text: String::new(),
            initializers: 0,
        };
        source.program();
        Ok(source.text)
    }
}

fn check_lifetime(program: &Program, thread: usize) -> Result<(), NotInC> {
    let spawners = program.users(&[Verb::Spawn], thread);
    let joiners = program.users(&[Verb::Join], thread);
    let place = |of: usize, verb: Verb| {
        program.threads[of].iter().position(|statement| {
            matches!(statement, Statement::Do(action)
                if action.verb == verb && action.objects[0] == thread)
        })
    };
    let joins = program.actions().into_iter();
    let joins =
        joins.filter(|(_, action)| action.verb == Verb::Join && action.objects[0] == thread);
    let is_fine = match (&spawners[..], &joiners[..]) {
        ([], []) => true,
        (&[parent], []) => parent < thread,
        (&[parent], &[joiner]) => {
            let [spawn, join] = [Verb::Spawn, Verb::Join].map(|verb| place(parent, verb));
            let is_behind = spawn.is_some_and(|spawn| join > Some(spawn));
            parent < thread && parent == joiner && is_behind && joins.count() == 1
        }
        _ => false,
    };
    is_fine.then_some(()).ok_or(NotInC::Lifetime(thread))
}

struct Source<'a> {
    program: &'a Program,
    text: String,
    /// Number of once initializers written so far.
    initializers: usize,
}

const HEAD: &str = "\
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

extern void __VERIFIER_assume(int);
extern unsigned mazurka_choose(unsigned);
";

/// Type and initial value of each sort's objects in C.
const DECLARATIONS: [(Sort, &str, &str); 6] = [
    (Sort::Variable, "_Atomic uint64_t", ""),
    (
        Sort::Mutex,
        "pthread_mutex_t",
        " = PTHREAD_MUTEX_INITIALIZER",
    ),
    (
        Sort::RwLock,
        "pthread_rwlock_t",
        // First come, first served, as in the oracle. By default, readers overtake waiting writers.
        " = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP",
    ),
    (
        Sort::Condvar,
        "pthread_cond_t",
        " = PTHREAD_COND_INITIALIZER",
    ),
    (Sort::Barrier, "pthread_barrier_t", ""),
    (Sort::Once, "pthread_once_t", " = PTHREAD_ONCE_INIT"),
];

impl Source<'_> {
    fn line(&mut self, depth: usize, line: &str) {
        writeln!(self.text, "{:width$}{line}", "", width = 4 * depth)
            .expect("writing to a string succeeds");
    }

    fn program(&mut self) {
        let program = self.program;
        self.line(
            0,
            &format!(
                "/* {} */",
                program.to_string().trim_end().replace('\n', " | ")
            ),
        );
        self.text.push_str(HEAD);
        let entries = Kind::ALL.iter();
        let entries = entries.filter_map(|&kind| Some((Sort::Entry(kind), kind.in_c()?[0], "")));
        for (sort, of_type, value) in DECLARATIONS.into_iter().chain(entries) {
            for number in 0..program.count(sort) {
                self.line(0, &format!("{of_type} {}{number}{value};", sort.letter()));
            }
        }
        let threads = program.threads.len();
        self.line(0, &format!("static pthread_t threads[{threads}];"));
        self.line(0, &format!("static int is_to_join[{threads}];"));
        if program.does(&[Verb::TimedWait]) {
            self.line(0, "/* The year 2100. */");
            self.line(0, "static const struct timespec late = {4102444800, 0};");
        }
        // A spawned thread is written before its spawner.
        for (number, body) in program.threads.iter().enumerate().rev() {
            self.initializers_of(body);
            self.thread(number, body);
        }
        self.main();
    }

    /// Writes the initializers of onces. Initializers have no arguments, so each statement has its
    /// own initializer and a variable for the value. Only the statement's thread writes this
    /// variable.
    fn initializers_of(&mut self, body: &[Statement]) {
        for statement in body {
            match statement {
                Statement::Do(action) if action.verb == Verb::Once => {
                    let number = self.initializers;
                    self.initializers += 1;
                    let variable = action.object(Sort::Variable);
                    self.line(0, &format!("static uint64_t value{number};"));
                    self.line(0, &format!("static void initialize{number}(void) {{"));
                    self.line(1, &format!("atomic_store(&x{variable}, value{number});"));
                    self.line(0, "}");
                }
                Statement::If(_, body) | Statement::Repeat(_, body) => self.initializers_of(body),
                Statement::Do(_) | Statement::Assume(_) | Statement::Assert(_) => {}
            }
        }
    }

    fn thread(&mut self, number: usize, body: &[Statement]) {
        self.line(0, &format!("\nstatic void *t{number}(void *unused) {{"));
        self.line(1, "(void)unused;");
        let locals = locals(body);
        for local in &locals {
            self.line(1, &format!("uint64_t {local} = 0;"));
        }
        let mut initializer = self.initializers - count_onces(body);
        self.block(1, body, &mut initializer);
        self.line(1, &format!("(void){};", locals.join(", (void)")));
        self.line(1, "return NULL;");
        self.line(0, "}");
    }

    fn block(&mut self, depth: usize, body: &[Statement], initializer: &mut usize) {
        for statement in body {
            match statement {
                Statement::Do(action) => {
                    let line = line_of(action, *initializer);
                    *initializer += usize::from(action.verb == Verb::Once);
                    self.line(depth, &line);
                }
                Statement::Assume(condition) => {
                    self.line(depth, &format!("__VERIFIER_assume({});", c(condition)));
                }
                Statement::Assert(condition) => {
                    self.line(depth, &format!("assert({});", c(condition)));
                }
                Statement::If(condition, body) => {
                    self.line(depth, &format!("if ({}) {{", c(condition)));
                    self.block(depth + 1, body, initializer);
                    self.line(depth, "}");
                }
                Statement::Repeat(times, body) => {
                    self.line(depth, &format!("for (int i = 0; i < {times}; i++) {{"));
                    self.block(depth + 1, body, initializer);
                    self.line(depth, "}");
                }
            }
        }
    }

    fn main(&mut self) {
        let program = self.program;
        self.line(0, "\nint main(void) {");
        let entries = Kind::ALL.iter();
        for (&kind, [_, template]) in entries.filter_map(|kind| Some((kind, kind.in_c()?))) {
            for number in 0..program.count(Sort::Entry(kind)) {
                let line = template.replace("$0", &format!("{}{number}", kind.letter()));
                let size = kind.size(program, number).to_string();
                self.line(1, &line.replace("$a", &size));
            }
        }
        for number in 0..program.count(Sort::Barrier) {
            let places = program.places(number);
            self.line(
                1,
                &format!("pthread_barrier_init(&b{number}, NULL, {places});"),
            );
        }
        let threads = 0..program.threads.len();
        for thread in threads.clone() {
            if program.users(&[Verb::Spawn], thread).is_empty() {
                let create = format!("pthread_create(&threads[{thread}], NULL, t{thread}, NULL);");
                self.line(1, &format!("is_to_join[{thread}] = 1, {create}"));
            }
        }
        for thread in threads {
            if program.users(&[Verb::Join], thread).is_empty() {
                self.line(1, &format!("if (is_to_join[{thread}])"));
                self.line(2, &format!("pthread_join(threads[{thread}], NULL);"));
            }
        }
        self.line(1, "return 0;");
        self.line(0, "}");
    }
}

/// Returns the local variables: registers, temporaries of templates, hold counts of locks.
fn locals(body: &[Statement]) -> Vec<String> {
    let registers = (0..REGISTERS).map(|register| format!("r{register}"));
    let mut locals: Vec<String> = registers
        .chain(["seen", "done"].map(str::to_owned))
        .collect();
    let whole = alone(body);
    for (sort, of_lock) in [(Sort::Mutex, "holds_m"), (Sort::RwLock, "holds_l")] {
        locals.extend((0..whole.count(sort)).map(|number| format!("{of_lock}{number}")));
    }
    locals
}

fn count_onces(body: &[Statement]) -> usize {
    let whole = alone(body);
    let actions = whole.actions().into_iter();
    actions
        .filter(|(_, action)| action.verb == Verb::Once)
        .count()
}

fn alone(body: &[Statement]) -> Program {
    Program {
        threads: vec![body.to_vec()],
        ..Program::default()
    }
}

fn c(condition: &Condition) -> String {
    let relation = if condition.equal { "==" } else { "!=" };
    format!(
        "{} {relation} {}",
        value(condition.left),
        value(condition.right)
    )
}

fn value(value: Value) -> String {
    match value {
        Value::Constant(value) => format!("UINT64_C({value})"),
        Value::Register(register) => format!("r{register}"),
    }
}

fn order(order: MemoryOrder) -> &'static str {
    match order {
        MemoryOrder::Relaxed => "memory_order_relaxed",
        MemoryOrder::Acquire => "memory_order_acquire",
        MemoryOrder::Release => "memory_order_release",
        MemoryOrder::AcqRel => "memory_order_acq_rel",
        MemoryOrder::SeqCst | MemoryOrder::Object => "memory_order_seq_cst",
    }
}

/// Returns an action in C. `initializer` is the number of the next initializer.
fn line_of(action: &Action, initializer: usize) -> String {
    let into = action
        .into
        .map_or("(void)".to_owned(), |register| format!("r{register} = "));
    let mut line = template(action.verb)
        .expect("operations without a counterpart in C were refused")
        .replace("$into ", &into)
        .replace("$n", &initializer.to_string())
        .replace("$o", order(action.order))
        .replace("$f", order(action.on_failure));
    let sorts = action.verb.signature().sorts;
    for (sort, (place, number)) in sorts.iter().zip(["$0", "$1"].iter().zip(&action.objects)) {
        let letter = sort.letter().to_string();
        let letter = if *sort == Sort::Thread { "" } else { &letter };
        line = line.replace(place, &format!("{letter}{number}"));
    }
    for (place, &own) in ["$a", "$b"].iter().zip(&action.values) {
        line = line.replace(place, &value(own));
    }
    line
}

/// Returns a verb's template in C, with objects `$0` and `$1`, values `$a` and `$b`, the place of
/// its result, the number of an initializer, and the orderings `$o` and, on failure, `$f`. Returns
/// `None` if C has no counterpart.
#[rustfmt::skip]
fn template(verb: Verb) -> Option<&'static str> {
    use Verb::*;
    Some(match verb {
        Load => "$into atomic_load_explicit(&$0, $o);",
        Store => "atomic_store_explicit(&$0, $a, $o);",
        FetchAdd => "$into atomic_fetch_add_explicit(&$0, $a, $o);",
        Swap => "$into atomic_exchange_explicit(&$0, $a, $o);",
        CompareExchange => "seen = $a; atomic_compare_exchange_strong_explicit(&$0, &seen, $b, $o, $f); $into seen;",
        WeakCompareExchange => "seen = $a; $into atomic_compare_exchange_weak_explicit(&$0, &seen, $b, $o, $f);",
        Fence => "atomic_thread_fence($o);",
        Let => "$into $a;",
        Yield => ";",
        Choose => "$into mazurka_choose($a);",
        Lock => "pthread_mutex_lock(&$0); holds_$0 = 1;",
        Unlock => "if (holds_$0) { pthread_mutex_unlock(&$0); holds_$0 = 0; }",
        TryLock => "done = pthread_mutex_trylock(&$0) == 0; holds_$0 += done; $into done;",
        ReadLock => "pthread_rwlock_rdlock(&$0); holds_$0++;",
        WriteLock => "pthread_rwlock_wrlock(&$0); holds_$0++;",
        Release => "if (holds_$0) { pthread_rwlock_unlock(&$0); holds_$0--; }",
        TryRead => "done = pthread_rwlock_tryrdlock(&$0) == 0; holds_$0 += done; $into done;",
        TryWrite => "done = pthread_rwlock_trywrlock(&$0) == 0; holds_$0 += done; $into done;",
        Wait => "if (holds_$1) pthread_cond_wait(&$0, &$1);",
        TimedWait => "if (holds_$1) $into (pthread_cond_timedwait(&$0, &$1, &late) == 0);",
        Signal => "pthread_cond_signal(&$0);",
        Broadcast => "pthread_cond_broadcast(&$0);",
        Act(act) => return act.in_c(),
        Arrive => "pthread_barrier_wait(&$0);",
        Lead => "$into (pthread_barrier_wait(&$0) == PTHREAD_BARRIER_SERIAL_THREAD);",
        Once => "value$n = $a; pthread_once(&$0, initialize$n);",
        Spawn => "is_to_join[$0] = 1; pthread_create(&threads[$0], NULL, t$0, NULL);",
        Join => "pthread_join(threads[$0], NULL);",
        FailOnce | Get | Send | TrySend | TimedSend | Receive | TryReceive | TimedReceive | HangUp
        | Leave | Park | TimedPark | Unpark | Ended => return None,
    })
}
