//! Prints statements as C.

use super::Source;
use crate::c_program::{
    Acquire, Counting, Expected, Library, Place, Polling, RegisterHome, Rmw, Round, Statement,
    TestAndSet, Value, Waiting,
};

impl Source<'_> {
    pub(super) fn statements(&mut self, depth: usize, thread: usize, body: &[Statement]) {
        for statement in body {
            self.line(depth, "NOISE;");
            self.statement(depth, thread, statement);
        }
    }

    fn region(&self, region: usize) -> String {
        self.address(&format!("c{region}"), self.program.regions[region])
    }

    /// Returns a pointer to a place.
    pub(super) fn pointer(&self, place: Place) -> String {
        let region = self.region(place.region);
        format!("({} *)({region} + {})", type_of(place.size), place.offset)
    }

    fn value(&self, thread: usize, value: Value, size: usize) -> String {
        let value = match value {
            Value::Constant(value) => format!("UINT64_C({value})"),
            Value::Register(register) => self.get(thread, register),
        };
        match size {
            16 => format!("both({value})"),
            size => format!("({})({value})", type_of(size)),
        }
    }

    /// Returns the value that a register gets from a wide value.
    fn narrow(&self, value: &str, size: usize) -> String {
        match size {
            16 => format!("narrow({value})"),
            _ => value.to_owned(),
        }
    }

    fn load(&self, place: Place) -> String {
        self.narrow(
            &format!("__atomic_load_n({}, 5)", self.pointer(place)),
            place.size,
        )
    }

    fn statement(&mut self, depth: usize, thread: usize, statement: &Statement) {
        use Statement::*;
        let state = self.state();
        match statement {
            &Load { place, into } => {
                let line = self.set(thread, into, &self.load(place));
                self.line(depth, &line);
            }
            &Store { place, value } => {
                let (pointer, value) = (self.pointer(place), self.value(thread, value, place.size));
                self.line(depth, &format!("__atomic_store_n({pointer}, {value}, 5);"));
            }
            &Modify {
                rmw,
                place,
                value,
                into,
            } => {
                let (pointer, value) = (self.pointer(place), self.value(thread, value, place.size));
                let function = match rmw {
                    Rmw::Exchange => "__atomic_exchange_n",
                    Rmw::Add => "__atomic_fetch_add",
                    Rmw::And => "__atomic_fetch_and",
                    Rmw::Or => "__atomic_fetch_or",
                    Rmw::Xor => "__atomic_fetch_xor",
                };
                let old = self.narrow(&format!("{function}({pointer}, {value}, 5)"), place.size);
                let line = match into {
                    Some(into) => self.set(thread, into, &old),
                    None => format!("(void){old};"),
                };
                self.line(depth, &line);
            }
            &CompareExchange {
                place,
                expected,
                desired,
                into,
            } => {
                self.compare_exchange(depth, thread, (place, expected, desired, into));
            }
            &Read { place, into } => {
                let value = self.narrow(&format!("*{}", self.pointer(place)), place.size);
                let line = self.set(thread, into, &value);
                self.line(depth, &line);
            }
            &Write { place, value } => {
                let (pointer, value) = (self.pointer(place), self.value(thread, value, place.size));
                self.line(depth, &format!("*{pointer} = {value};"));
            }
            &Increment { place } => {
                let pointer = self.pointer(place);
                self.line(depth, &format!("(*{pointer})++;"));
            }
            &Library { region, does } => self.library(depth, thread, region, does),
            &Set { register, value } => {
                let line = self.set(thread, register, &format!("UINT64_C({value})"));
                self.line(depth, &line);
            }
            If {
                register,
                is_equal,
                value,
                then,
            } => {
                let relation = if *is_equal { "==" } else { "!=" };
                let left = self.get(thread, *register);
                self.held(
                    depth,
                    thread,
                    (&format!("if ({left} {relation} {value}) {{"), ""),
                    then,
                );
            }
            &Locked {
                mutex,
                how,
                ref body,
            } => {
                let address = self.address(&format!("m{mutex}"), self.program.mutexes[mutex]);
                let calls = [
                    "HOLD_MUTEX",
                    "pthread_mutex_trylock",
                    "pthread_mutex_timedlock",
                ];
                let take = self.take(thread, how, calls, &address);
                let release = match how {
                    Acquire::Lock => "LET_MUTEX_GO",
                    Acquire::Try | Acquire::TryLoop | Acquire::Timed => "pthread_mutex_unlock",
                };
                self.held(
                    depth,
                    thread,
                    (&take, &format!("{release}({address});")),
                    body,
                );
            }
            &LockedBoth { mutexes, ref body } => {
                let [one, two] = mutexes
                    .map(|mutex| self.address(&format!("m{mutex}"), self.program.mutexes[mutex]));
                let take = format!("{{ LOCK_BOTH({one}, {two});");
                let release = format!("pthread_mutex_unlock({one}); pthread_mutex_unlock({two});");
                self.held(depth, thread, (&take, &release), body);
            }
            &Reading {
                rwlock,
                how,
                ref body,
            } => {
                let address = self.address(&format!("l{rwlock}"), self.program.rwlocks[rwlock]);
                let calls = [
                    "pthread_rwlock_rdlock",
                    "pthread_rwlock_tryrdlock",
                    "pthread_rwlock_timedrdlock",
                ];
                let take = self.take(thread, how, calls, &address);
                self.held(
                    depth,
                    thread,
                    (&take, &format!("pthread_rwlock_rdunlock({address});")),
                    body,
                );
            }
            &Writing {
                rwlock,
                how,
                ref body,
            } => {
                let address = self.address(&format!("l{rwlock}"), self.program.rwlocks[rwlock]);
                let calls = [
                    "pthread_rwlock_wrlock",
                    "pthread_rwlock_trywrlock",
                    "pthread_rwlock_timedwrlock",
                ];
                let take = self.take(thread, how, calls, &address);
                self.held(
                    depth,
                    thread,
                    (&take, &format!("pthread_rwlock_unlock({address});")),
                    body,
                );
            }
            &Spinning {
                place,
                how,
                ref body,
            } => {
                let pointer = self.pointer(place);
                let flag = self.pointer(Place { size: 1, ..place });
                let take = match how {
                    TestAndSet::Exchange => {
                        format!("while (__atomic_exchange_n({pointer}, 1, 5)) PAUSE;")
                    }
                    TestAndSet::Or => {
                        format!("while (__atomic_fetch_or({pointer}, 1, 5) & 1) PAUSE;")
                    }
                    TestAndSet::Flag => format!("while (__atomic_test_and_set({flag}, 5)) PAUSE;"),
                    TestAndSet::CompareExchange => format!("while (!took({pointer})) PAUSE;"),
                    TestAndSet::TestFirst => format!(
                        "while (__atomic_load_n({pointer}, 5) || __atomic_exchange_n({pointer}, 1, 5)) PAUSE;"
                    ),
                };
                let release = match how {
                    TestAndSet::Flag => format!("__atomic_store_n({flag}, 0, 5);"),
                    _ => format!("__atomic_store_n({pointer}, 0, 5);"),
                };
                self.held(depth, thread, (&format!("{{ {take}"), &release), body);
            }
            &Wait {
                condvar,
                mutex,
                place,
                value,
                how,
            } => {
                let condvar = self.address(&format!("v{condvar}"), self.program.condvars[condvar]);
                let mutex = self.address(&format!("m{mutex}"), self.program.mutexes[mutex]);
                let word = if how == Waiting::Loop { "while" } else { "if" };
                let call = match how {
                    Waiting::Loop | Waiting::Once => {
                        format!("pthread_cond_wait({condvar}, {mutex});")
                    }
                    Waiting::Timed => {
                        let call =
                            format!("(pthread_cond_timedwait({condvar}, {mutex}, &late) == 0)");
                        self.set(thread, 0, &call)
                    }
                };
                let pointer = self.pointer(place);
                self.line(
                    depth,
                    &format!("{word} (*{pointer} != {value}) {{ {call} }}"),
                );
            }
            &Signal {
                condvar,
                is_broadcast,
            } => {
                let address = self.address(&format!("v{condvar}"), self.program.condvars[condvar]);
                let function = if is_broadcast { "broadcast" } else { "signal" };
                self.line(depth, &format!("pthread_cond_{function}({address});"));
            }
            &Renew { object } => self.line(depth, &self.renew(object)),
            &Post { semaphore } => {
                let address = self.address(
                    &format!("e{semaphore}"),
                    self.program.semaphores[semaphore].0,
                );
                self.line(depth, &format!("sem_post({address});"));
            }
            &Take { semaphore, how } => {
                let address = self.address(
                    &format!("e{semaphore}"),
                    self.program.semaphores[semaphore].0,
                );
                let take = self.take(
                    thread,
                    how,
                    ["sem_wait", "sem_trywait", "sem_timedwait"],
                    &address,
                );
                self.line(depth, &format!("{take} }}"));
            }
            &Arrive { barrier, into } => {
                let address =
                    self.address(&format!("b{barrier}"), self.program.barriers[barrier].0);
                let call = format!("pthread_barrier_wait({address})");
                let line = match into {
                    Some(into) => self.set(
                        thread,
                        into,
                        &format!("({call} == PTHREAD_BARRIER_SERIAL_THREAD)"),
                    ),
                    None => format!("{call};"),
                };
                self.line(depth, &line);
            }
            &FutexWait { place, value, into } => {
                let call = format!("futex_wait({}, {value})", self.pointer(place));
                let line = self.set(thread, into, &call);
                self.line(depth, &line);
            }
            &FutexWake {
                place,
                is_broadcast,
                into,
            } => {
                let most = if is_broadcast { "INT32_MAX" } else { "1" };
                let call = format!("futex_wake({}, {most})", self.pointer(place));
                let line = self.set(thread, into, &call);
                self.line(depth, &line);
            }
            &Once { once } => {
                self.line(
                    depth,
                    &format!("pthread_once(&{state}.o{once}, {state}_o{once});"),
                );
            }
            &Spin {
                place,
                value,
                round,
            } => {
                let load = self.load(place);
                let body = self.round(thread, round);
                self.line(
                    depth,
                    &format!("while ({load} != {value}) {{ {body} PAUSE; }}"),
                );
            }
            &Poll {
                mutex,
                how,
                place,
                value,
                round,
            } => {
                let mutex = self.address(&format!("m{mutex}"), self.program.mutexes[mutex]);
                let is_there = format!("*{} == {value}", self.pointer(place));
                let body = self.round(thread, round);
                let line = match how {
                    Polling::Lock => format!(
                        "for (int is = 0;;) {{ {{ HOLD_MUTEX({mutex}); is = {is_there}; LET_MUTEX_GO({mutex}); }} if (is) break; {body} PAUSE; }}"
                    ),
                    Polling::Try => format!(
                        "for (int is = 0;;) {{ if (pthread_mutex_trylock({mutex}) == 0) {{ is = {is_there}; pthread_mutex_unlock({mutex}); }} if (is) break; {body} PAUSE; }}"
                    ),
                    Polling::Release => format!(
                        "pthread_mutex_lock({mutex}); while (!({is_there})) {{ pthread_mutex_unlock({mutex}); {body} PAUSE; pthread_mutex_lock({mutex}); }} pthread_mutex_unlock({mutex});"
                    ),
                };
                self.line(depth, &line);
            }
            &Create { thread } => {
                let argument = match self.program.threads[thread].registers {
                    RegisterHome::Creator => format!("lent{thread}"),
                    _ => "NULL".to_owned(),
                };
                let name = format!("p{}_t{thread}", self.number);
                self.line(
                    depth,
                    &format!(
                        "pthread_create(&{state}.threads[{thread}], NULL, {name}, {argument});"
                    ),
                );
            }
            &Join { thread } => self.line(
                depth,
                &format!("pthread_join({state}.threads[{thread}], NULL);"),
            ),
        }
    }

    /// Writes a body between two lines, the first of which opens a block.
    fn held(
        &mut self,
        depth: usize,
        thread: usize,
        (take, release): (&str, &str),
        body: &[Statement],
    ) {
        self.line(depth, take);
        self.statements(depth + 1, thread, body);
        self.line(depth + 1, release);
        self.line(depth, "}");
    }

    /// Returns a line that acquires an object (by waiting, by trying, or by waiting with a
    /// deadline) and opens a block.
    fn take(
        &self,
        thread: usize,
        how: Acquire,
        [lock, attempt, timed]: [&str; 3],
        address: &str,
    ) -> String {
        let tried = |call: String| {
            let set = self.set(thread, 0, &format!("({call} == 0)"));
            format!("{set} if ({} == 1) {{", self.get(thread, 0))
        };
        match how {
            Acquire::Lock => format!("{{ {lock}({address});"),
            Acquire::TryLoop => format!("{{ while ({attempt}({address}) != 0) PAUSE;"),
            Acquire::Try => tried(format!("{attempt}({address})")),
            Acquire::Timed => tried(format!("{timed}({address}, &late)")),
        }
    }

    fn compare_exchange(
        &mut self,
        depth: usize,
        thread: usize,
        (place, expected, desired, into): (Place, Expected, Value, usize),
    ) {
        let (pointer, of_type) = (self.pointer(place), type_of(place.size));
        let desired = self.value(thread, desired, place.size);
        let call = |expected: &str| {
            let call =
                format!("__atomic_compare_exchange_n({pointer}, {expected}, {desired}, 0, 5, 5)");
            self.set(thread, into, &call)
        };
        let line = match expected {
            Expected::Memory(place) => call(&self.pointer(place)),
            Expected::Register(register) => match self.register(thread, register) {
                Some(own) => call(&format!("({of_type} *)&{own}")),
                None => {
                    let initial = self.get(thread, register);
                    let call = call(&format!("({of_type} *)&expected"));
                    let back = self.set(thread, register, "expected");
                    format!("{{ uint64_t expected = {initial}; {call} {back} }}")
                }
            },
        };
        self.line(depth, &line);
    }

    fn library(&mut self, depth: usize, thread: usize, region: usize, does: Library) {
        let region = format!("(char *){}", self.region(region));
        let line = match does {
            Library::Fill(register) => {
                format!("memset({region}, (int){}, 16);", self.get(thread, register))
            }
            Library::Print(register) => {
                let value = self.get(thread, register);
                format!("snprintf({region}, 16, \"%llu\", (unsigned long long){value});")
            }
            Library::Parse(register) => self.set(thread, register, &format!("parsed({region})")),
            Library::CopyString(length) => format!("strcpy({region}, \"{}\");", "a".repeat(length)),
            Library::Length(register) => {
                let set = self.set(thread, register, &format!("strlen({region})"));
                format!("({region})[15] = 0; {set}")
            }
            Library::Sort => format!("qsort({region}, 2, 8, compared);"),
            Library::CopyOut(register) => {
                let set = self.set(thread, register, "word");
                format!("{{ uint64_t word; memcpy(&word, {region}, 8); {set} }}")
            }
        };
        self.line(depth, &line);
    }

    /// Returns the body of a spin loop.
    fn round(&self, thread: usize, round: Round) -> String {
        match round {
            Round::Nothing => String::new(),
            Round::Yield => "sched_yield();".to_owned(),
            Round::SameValue => self.set(thread, 0, &self.get(thread, 0)),
            Round::Count { register, most, by } => {
                let old = self.get(thread, register);
                let does = match by {
                    Counting::Assignment => self.set(thread, register, &format!("{old} + 1")),
                    Counting::Copy => match self.register(thread, register) {
                        Some(own) => {
                            format!("uint64_t next = {old} + 1; memcpy(&{own}, &next, 8);")
                        }
                        None => self.set(thread, register, &format!("{old} + 1")),
                    },
                    Counting::Text => {
                        let set = self.set(thread, register, "strtoull(text, NULL, 10)");
                        format!(
                            "char text[24]; snprintf(text, 24, \"%llu\", (unsigned long long)({old} + 1)); {set}"
                        )
                    }
                };
                format!("if ({old} < {most}) {{ {does} }}")
            }
        }
    }
}

fn type_of(size: usize) -> &'static str {
    match size {
        1 => "uint8_t",
        2 => "uint16_t",
        4 => "uint32_t",
        8 => "uint64_t",
        _ => "uint128_t",
    }
}
