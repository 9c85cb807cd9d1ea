//! Tasks as state machines.

use super::Log;
use actors::object::{Calls, Future, Next, Object, Task as Machine};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use testkit::object_system::{Statement, System, Task};

/// A task between two segments.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Run {
    path: Vec<usize>,
    task: Task,
    calls: Vec<Future<u8>>,
    fixed: Fixed,
}

/// The data that is the same in all states.
#[derive(Clone)]
struct Fixed {
    system: Arc<System>,
    objects: Arc<[Object<u8>]>,
    log: Log,
}

impl PartialEq for Fixed {
    fn eq(&self, _: &Fixed) -> bool {
        true
    }
}

impl Eq for Fixed {}

impl Hash for Fixed {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// Starts a task.
pub fn start(
    system: Arc<System>,
    objects: &[Object<u8>],
    log: Log,
    (path, task): (Vec<usize>, Task),
) -> Future<u8> {
    let run = Run {
        path,
        task,
        calls: Vec::new(),
        fixed: Fixed {
            system,
            objects: objects.into(),
            log,
        },
    };
    run.log();
    run.next_object().start(run)
}

impl Run {
    fn log(&self) {
        self.fixed.log.is_at(&self.path, &self.task);
    }

    fn next(&self) -> Option<&Statement> {
        self.fixed.system.methods[self.task.method].get(self.task.next)
    }

    /// Returns the object of the next segment.
    fn next_object(&self) -> Object<u8> {
        self.fixed.objects[self.next_number()].clone()
    }

    fn next_number(&self) -> usize {
        match self.next() {
            Some(Statement::Segment { objects, .. }) => objects[0],
            _ => unreachable!("what comes next is a segment"),
        }
    }

    fn goes_on(&mut self) {
        self.task.next += 1;
        self.log();
    }

    fn call(&mut self, method: usize, calls: &mut Calls) {
        let mut callee = self.clone();
        callee.path.push(self.calls.len());
        callee.calls.clear();
        callee.task.method = method;
        callee.task.next = 0;
        callee.log();
        self.calls.push(calls.start(&callee.next_object(), callee));
    }
}

impl Machine for Run {
    type Touches = Object<u8>;
    type Output = u8;

    fn method(&self) -> &'static str {
        "method"
    }

    fn only_reads(&self) -> bool {
        matches!(self.next(), Some(Statement::Segment { effect, .. }) if effect.only_reads())
    }

    fn is_ready(&self, number: &u8) -> bool {
        match self.next() {
            Some(Statement::Segment { condition, .. }) => {
                condition.is_none_or(|condition| condition.holds(*number))
            }
            _ => unreachable!("what comes next is a segment"),
        }
    }

    fn segment(&mut self, number: &mut u8, calls: &mut Calls) -> Next<Run> {
        let system = Arc::clone(&self.fixed.system);
        if let Some(Statement::Segment { effect, .. }) = self.next() {
            let effect = *effect;
            effect.apply(&mut self.task.register, number);
            self.fixed.log.holds(self.next_number(), *number);
        }
        self.goes_on();
        let body = &system.methods[self.task.method];
        loop {
            match body.get(self.task.next) {
                None => return Next::Done(self.task.register),
                Some(Statement::Segment { .. }) => return Next::At(self.next_object()),
                Some(Statement::Call { method }) => {
                    self.call(*method, calls);
                    self.goes_on();
                }
                Some(Statement::Await { call }) => {
                    let future = self.calls[*call].clone();
                    return Next::after(&future, |run: &mut Run, register| {
                        run.task.register = register;
                        run.goes_on();
                    });
                }
            }
        }
    }
}
