//! Prints programs as C. One file contains many programs, and an argument of its executable selects
//! the program to run.
//!
//! The text is also C++. In C++, `head.hpp` overloads POSIX functions for types of the C++ library.
//!
//! With `CHECKED` defined, an executable runs a program once and reports its outcome by
//! `mazurka_goal`. Without `CHECKED`, it runs a program many times from the same start, with noise,
//! and prints the outcomes.

mod statement;

use super::{Acquire, CProgram, Home, REGION, REGISTERS, RegisterHome, Statement};
use std::fmt::Write;

/// The part that all programs need.
const HEAD: &str = concat!(
    include_str!("source/head.hpp"),
    include_str!("source/head.h")
);

/// Returns the source of an executable that runs one of the programs.
pub fn source(programs: &[CProgram]) -> String {
    let mut text = HEAD.to_owned();
    for (number, program) in programs.iter().enumerate() {
        Source {
            number,
            program,
            text: &mut text,
        }
        .program();
    }
    text.push_str("\nstatic void (*const programs[])(void) = {\n");
    for number in 0..programs.len() {
        writeln!(text, "    p{number},").expect("writing to a string succeeds");
    }
    text.push_str("};\n\nstatic void (*const resets[])(void) = {\n");
    for number in 0..programs.len() {
        writeln!(text, "    p{number}_reset,").expect("writing to a string succeeds");
    }
    text.push_str("};\n\nint main(int count, char **arguments) { return run(count, arguments, programs, resets); }\n");
    text
}

/// Returns the source of one program, without the common part.
pub fn body(program: &CProgram) -> String {
    let mut text = String::new();
    Source {
        number: 0,
        program,
        text: &mut text,
    }
    .program();
    text
}

struct Source<'a> {
    number: usize,
    program: &'a CProgram,
    text: &'a mut String,
}

/// An object in the C source.
struct Object {
    name: String,
    of_type: &'static str,
    initializer: Option<&'static str>,
    initialize: String,
    destroy: &'static str,
    home: Home,
}

impl Source<'_> {
    fn line(&mut self, depth: usize, line: &str) {
        writeln!(self.text, "{:width$}{line}", "", width = 4 * depth)
            .expect("writing to a string succeeds");
    }

    fn state(&self) -> String {
        format!("s{}", self.number)
    }

    /// Returns the address of an object or region.
    fn address(&self, name: &str, home: Home) -> String {
        let state = self.state();
        match home {
            Home::Static if name.starts_with('c') => format!("{state}.{name}"),
            Home::Static => format!("(&{state}.{name})"),
            Home::Heap | Home::Stack | Home::ThreadLocal => format!("{state}.{name}"),
        }
    }

    /// Returns the calls that destroy an object and initialize it again.
    fn renew(&self, object: super::Object) -> String {
        use super::Object::*;
        let name = match object {
            Mutex(number) => format!("m{number}"),
            RwLock(number) => format!("l{number}"),
            Condvar(number) => format!("v{number}"),
            Semaphore(number) => format!("e{number}"),
            Barrier(number) => format!("b{number}"),
        };
        let mut objects = self.objects().into_iter();
        let object = objects.find(|object| object.name == name);
        let object = object.expect("statements name objects of the program");
        let address = self.address(&name, object.home);
        let initialize = object.initialize.replace('$', &address);
        format!("{}({address}); {initialize};", object.destroy)
    }

    fn objects(&self) -> Vec<Object> {
        let program = self.program;
        let is_timed = program
            .threads
            .iter()
            .any(|thread| waits_for_time(&thread.body));
        let mut objects = Vec::new();
        let mut add = |letter: &str,
                       homes: Vec<Home>,
                       of_type,
                       initializer,
                       call: &dyn Fn(usize) -> String,
                       destroy| {
            for (number, home) in homes.into_iter().enumerate() {
                objects.push(Object {
                    name: format!("{letter}{number}"),
                    of_type,
                    initializer,
                    initialize: call(number),
                    destroy,
                    home,
                });
            }
        };
        let mutex = |_| "pthread_mutex_init($, NULL)".to_owned();
        add(
            "m",
            program.mutexes.clone(),
            if is_timed { "timed_mutex_t" } else { "mutex_t" },
            Some("MUTEX_INITIAL"),
            &mutex,
            "pthread_mutex_destroy",
        );
        let rwlock = |_| "pthread_rwlock_init($, NULL)".to_owned();
        add(
            "l",
            program.rwlocks.clone(),
            if is_timed {
                "timed_rwlock_t"
            } else {
                "rwlock_t"
            },
            Some("RWLOCK_INITIAL"),
            &rwlock,
            "pthread_rwlock_destroy",
        );
        let condvar = |_| "pthread_cond_init($, NULL)".to_owned();
        add(
            "v",
            program.condvars.clone(),
            if is_timed {
                "any_condvar_t"
            } else {
                "condvar_t"
            },
            Some("CONDVAR_INITIAL"),
            &condvar,
            "pthread_cond_destroy",
        );
        let semaphore = |number: usize| format!("sem_init($, 0, {})", program.semaphores[number].1);
        let homes = program
            .semaphores
            .iter()
            .map(|semaphore| semaphore.0)
            .collect();
        add("e", homes, "semaphore_t", None, &semaphore, "sem_destroy");
        let barrier = |number: usize| {
            format!(
                "pthread_barrier_init($, NULL, {})",
                program.barriers[number].1
            )
        };
        let homes = program.barriers.iter().map(|barrier| barrier.0).collect();
        add(
            "b",
            homes,
            "barrier_t",
            None,
            &barrier,
            "pthread_barrier_destroy",
        );
        objects
    }

    fn program(&mut self) {
        let (number, state) = (self.number, self.state());
        let program = self.program;
        let threads = program.threads.len();
        self.line(0, &format!("\n/* Program {number} */\nstruct {state} {{"));
        for (number, &home) in program.regions.iter().enumerate() {
            match home {
                Home::Static => self.line(
                    1,
                    &format!("_Alignas(16) unsigned char c{number}[{REGION}];"),
                ),
                Home::Heap | Home::Stack | Home::ThreadLocal => {
                    self.line(1, &format!("unsigned char *c{number};"))
                }
            }
        }
        let objects = self.objects();
        for Object {
            name,
            of_type,
            home,
            ..
        } in &objects
        {
            let star = if *home == Home::Static { "" } else { "*" };
            self.line(1, &format!("{of_type} {star}{name};"));
        }
        for once in 0..program.onces.len() {
            self.line(1, &format!("once_t o{once};"));
        }
        let of_type = ["thread_t", "joining_thread_t"][self.number % 2];
        self.line(1, &format!("{of_type} threads[{threads}];"));
        self.line(1, &format!("pthread_key_t keys[{REGISTERS}];"));
        self.line(1, &format!("uint64_t registers[{threads}][{REGISTERS}];"));
        self.line(1, &format!("uint64_t results[{threads}][{REGISTERS}];"));
        self.line(0, "};");
        self.text.push_str("#define INITIAL {");
        for object in objects.iter().filter(|object| object.home == Home::Static) {
            if let Some(initializer) = object.initializer {
                write!(self.text, " .{} = {initializer},", object.name)
                    .expect("writing to a string succeeds");
            }
        }
        for once in 0..program.onces.len() {
            write!(self.text, " .o{once} = ONCE_INITIAL,").expect("writing to a string succeeds");
        }
        self.text.push_str(" .threads = {} }\n");
        self.line(0, &format!("static struct {state} {state} = INITIAL;"));
        self.line(0, "#ifndef CHECKED");
        self.line(
            0,
            &format!("static const struct {state} {state}_initial = INITIAL;"),
        );
        self.line(0, &format!("static void p{number}_reset(void) {{ memcpy(&{state}, &{state}_initial, sizeof {state}); }}"));
        self.line(0, "#else");
        self.line(0, &format!("static void p{number}_reset(void) {{}}"));
        self.line(0, "#endif\n#undef INITIAL");
        for (number, &home) in program.regions.iter().enumerate() {
            if home == Home::ThreadLocal {
                self.line(0, &format!("_Alignas(16) static _Thread_local unsigned char {state}_c{number}[{REGION}];"));
            }
        }
        for Object { name, of_type, .. } in objects
            .iter()
            .filter(|object| object.home == Home::ThreadLocal)
        {
            self.line(
                0,
                &format!("_Alignas({of_type}) static _Thread_local unsigned char {state}_{name}[sizeof({of_type})];"),
            );
        }
        self.line(
            0,
            &format!("static _Thread_local uint64_t {state}_r[{REGISTERS}];"),
        );
        for (once, &place) in program.onces.iter().enumerate() {
            let place = self.pointer(place);
            self.line(
                0,
                &format!(
                    "static void {state}_o{once}(void) {{ __atomic_fetch_add({place}, 1, 5); }}"
                ),
            );
        }
        for thread in 1..threads {
            self.line(
                0,
                &format!("static void *p{number}_t{thread}(void *argument);"),
            );
        }
        for thread in 1..threads {
            self.line(
                0,
                &format!("static void *p{number}_t{thread}(void *argument) {{"),
            );
            self.line(1, "(void)argument; BEGIN;");
            self.thread(thread);
            self.line(1, "return NULL;");
            self.line(0, "}");
        }
        self.finish();
        self.line(0, &format!("static void p{number}(void) {{"));
        self.main(&objects);
        self.line(0, "}");
    }

    /// Writes the function that reports the outcome.
    fn finish(&mut self) {
        let (number, state, program) = (self.number, self.state(), self.program);
        let words = super::machine::words(program);
        self.line(0, &format!("UNSEEN static void p{number}_finish(void) {{"));
        self.line(1, &format!("uint64_t words[{words}];"));
        let mut word = 0;
        for thread in 0..program.threads.len() {
            for register in 0..REGISTERS {
                self.line(
                    1,
                    &format!("words[{word}] = {state}.results[{thread}][{register}];"),
                );
                word += 1;
            }
        }
        for (region, &home) in program.regions.iter().enumerate() {
            let address = self.address(&format!("c{region}"), home);
            for half in 0..REGION / 8 {
                self.line(
                    1,
                    &format!("words[{word}] = ((const uint64_t *){address})[{half}];"),
                );
                word += 1;
            }
        }
        self.line(1, &format!("finish(words, {words});"));
        self.line(0, "}");
    }

    fn main(&mut self, objects: &[Object]) {
        let (number, state, program) = (self.number, self.state(), self.program);
        for (region, &home) in program.regions.iter().enumerate() {
            let name = format!("c{region}");
            match home {
                Home::Static => {}
                Home::Heap => self.line(
                    1,
                    &format!("{state}.{name} = (unsigned char *)calloc(1, {REGION});"),
                ),
                Home::Stack => {
                    self.line(
                        1,
                        &format!("_Alignas(16) unsigned char {name}[{REGION}] = {{0}};"),
                    );
                    self.line(1, &format!("{state}.{name} = {name};"));
                }
                Home::ThreadLocal => {
                    self.line(1, &format!("AGAIN(memset({state}_{name}, 0, {REGION}));"));
                    self.line(1, &format!("{state}.{name} = {state}_{name};"));
                }
            }
        }
        for object in objects {
            let Object {
                name,
                of_type,
                home,
                ..
            } = object;
            match home {
                Home::Static => {}
                Home::Heap => self.line(1, &format!("{state}.{name} = ({of_type} *)malloc(sizeof({of_type}));")),
                Home::Stack => {
                    self.line(1, &format!("_Alignas({of_type}) unsigned char {name}[sizeof({of_type})]; {state}.{name} = ({of_type} *){name};"))
                }
                Home::ThreadLocal => self.line(1, &format!("{state}.{name} = ({of_type} *){state}_{name};")),
            }
            if *home != Home::Static || object.initializer.is_none() {
                let address = self.address(name, *home);
                self.line(1, &format!("{};", object.initialize.replace('$', &address)));
            }
        }
        let is_specific = |thread: &super::Thread| thread.registers == RegisterHome::Specific;
        let has_keys = program.threads.iter().any(is_specific);
        for key in 0..REGISTERS {
            if has_keys {
                self.line(
                    1,
                    &format!("pthread_key_create(&{state}.keys[{key}], NULL);"),
                );
            }
        }
        self.thread(0);
        for key in 0..REGISTERS {
            if has_keys {
                self.line(1, &format!("pthread_key_delete({state}.keys[{key}]);"));
            }
        }
        for object in objects {
            if object.home != Home::Static || object.initializer.is_none() {
                let address = self.address(&object.name, object.home);
                self.line(1, &format!("{}({address});", object.destroy));
            }
            if object.home == Home::Heap {
                self.line(1, &format!("free({state}.{});", object.name));
            }
        }
        self.line(1, &format!("p{number}_finish();"));
        for (region, &home) in program.regions.iter().enumerate() {
            if home == Home::Heap {
                self.line(1, &format!("free({state}.c{region});"));
            }
        }
    }

    /// Writes the registers of a thread, its statements, and its results.
    fn thread(&mut self, thread: usize) {
        let (number, state, program) = (self.number, self.state(), self.program);
        let generated = &program.threads[thread];
        let zeros = ["0"; REGISTERS].join(", ");
        match generated.registers {
            RegisterHome::Locals => self.line(1, "uint64_t r0 = 0, r1 = 0, r2 = 0;"),
            RegisterHome::Array => self.line(1, &format!("uint64_t r[{REGISTERS}] = {{{zeros}}};")),
            RegisterHome::Heap => self.line(
                1,
                &format!("uint64_t *r = (uint64_t *)calloc({REGISTERS}, 8);"),
            ),
            RegisterHome::Creator => self.line(1, "uint64_t *r = (uint64_t *)argument;"),
            RegisterHome::ThreadLocal => self.line(
                1,
                &format!("AGAIN(memset({state}_r, 0, sizeof {state}_r));"),
            ),
            RegisterHome::Specific => {
                for key in 0..REGISTERS {
                    self.line(
                        1,
                        &format!("AGAIN(pthread_setspecific({state}.keys[{key}], NULL));"),
                    );
                }
            }
            RegisterHome::Static => {}
        }
        for statement in &generated.body {
            if let &Statement::Create { thread } = statement
                && program.threads[thread].registers == RegisterHome::Creator
            {
                self.line(
                    1,
                    &format!("uint64_t lent{thread}[{REGISTERS}] = {{{zeros}}};"),
                );
            }
        }
        self.statements(1, thread, &generated.body);
        for register in 0..REGISTERS {
            let value = self.get(thread, register);
            self.line(
                1,
                &format!("{state}.results[{thread}][{register}] = {value};"),
            );
        }
        if generated.registers == RegisterHome::Heap {
            self.line(1, "free(r);");
        }
        let _ = number;
    }

    /// Returns a register as an lvalue, or `None` if the register is a value of
    /// `pthread_getspecific`.
    fn register(&self, thread: usize, register: usize) -> Option<String> {
        let state = self.state();
        match self.program.threads[thread].registers {
            RegisterHome::Locals => Some(format!("r{register}")),
            RegisterHome::Array | RegisterHome::Heap | RegisterHome::Creator => {
                Some(format!("r[{register}]"))
            }
            RegisterHome::Static => Some(format!("{state}.registers[{thread}][{register}]")),
            RegisterHome::ThreadLocal => Some(format!("{state}_r[{register}]")),
            RegisterHome::Specific => None,
        }
    }

    fn get(&self, thread: usize, register: usize) -> String {
        let specific = || {
            format!(
                "(uint64_t)pthread_getspecific({}.keys[{register}])",
                self.state()
            )
        };
        self.register(thread, register).unwrap_or_else(specific)
    }

    fn set(&self, thread: usize, register: usize, value: &str) -> String {
        match self.register(thread, register) {
            Some(register) => format!("{register} = {value};"),
            None => format!(
                "pthread_setspecific({}.keys[{register}], (void *)(uint64_t)({value}));",
                self.state()
            ),
        }
    }
}

/// Checks whether a statement has a deadline. The C++ library has special types for deadlines.
fn waits_for_time(body: &[Statement]) -> bool {
    body.iter().any(|statement| {
        let how = match *statement {
            Statement::Locked { how, .. }
            | Statement::Reading { how, .. }
            | Statement::Writing { how, .. } => Some(how),
            _ => None,
        };
        how == Some(Acquire::Timed) || waits_for_time(statement.inner())
    })
}
