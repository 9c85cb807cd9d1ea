//! The main task of a system, and its other tasks as closures.

use super::{Log, Style, machines};
use actors::object::{AccessSet, Future, Object};
use std::sync::Arc;
use testkit::object_system::{Condition, Effect, Statement, System, Task};

/// A running task.
struct Run {
    system: Arc<System>,
    objects: Vec<Object<u8>>,
    log: Log,
    path: Vec<usize>,
    task: Task,
    calls: Vec<Future<u8>>,
    style: Style,
}

/// Returns the main task of a system as the body of a model.
pub fn main_task(system: System, style: Style, log: Log) -> impl Fn() + Clone {
    let system = Arc::new(system);
    move || {
        log.begin(system.objects);
        let main = Run {
            system: Arc::clone(&system),
            objects: (0..system.objects).map(|_| Object::new(0)).collect(),
            log: log.clone(),
            path: Vec::new(),
            task: Task {
                method: 0,
                next: 0,
                register: 0,
            },
            calls: Vec::new(),
            style,
        };
        main.run();
    }
}

impl Run {
    fn run(mut self) -> u8 {
        self.log.is_at(&self.path, &self.task);
        let system = Arc::clone(&self.system);
        for statement in &system.methods[self.task.method] {
            self.perform(statement);
            self.task.next += 1;
            self.log.is_at(&self.path, &self.task);
        }
        self.task.register
    }

    fn perform(&mut self, statement: &Statement) {
        match statement {
            Statement::Segment {
                objects,
                condition,
                effect,
            } => self.segment(objects, *condition, *effect),
            Statement::Call { method } => self.call(*method),
            Statement::Await { call } => self.task.register = self.calls[*call].get(),
        }
    }

    fn call(&mut self, method: usize) {
        let mut path = self.path.clone();
        path.push(self.calls.len());
        let callee = Run {
            system: Arc::clone(&self.system),
            objects: self.objects.clone(),
            log: self.log.clone(),
            path,
            task: Task {
                method,
                next: 0,
                register: self.task.register,
            },
            calls: Vec::new(),
            style: self.style,
        };
        self.calls.push(match self.style {
            Style::Closures => self.objects[0].call("method", move |_| callee.run()),
            Style::Machines => {
                let Run {
                    system,
                    objects,
                    log,
                    path,
                    task,
                    ..
                } = callee;
                machines::start(system, &objects, log, (path, task))
            }
        });
    }

    fn segment(&mut self, touched: &[usize], condition: Option<Condition>, effect: Effect) {
        let holds = move |number: &u8| condition.is_none_or(|condition| condition.holds(*number));
        let register = &mut self.task.register;
        let log = &self.log;
        let apply = |register: &mut u8, object: usize, number: &mut u8| {
            effect.apply(register, number);
            log.holds(object, *number);
        };
        let objects: Vec<&Object<u8>> = touched.iter().map(|&index| &self.objects[index]).collect();
        match (objects.as_slice(), condition, effect.only_reads()) {
            (&[one], None, true) => one.read(|a| apply(register, touched[0], &mut a.clone())),
            (&[one], None, false) => one.write(|a| apply(register, touched[0], a)),
            (&[one], Some(_), true) => {
                one.read_when(holds, |a| apply(register, touched[0], &mut a.clone()));
            }
            (&[one], Some(_), false) => one.write_when(holds, |a| apply(register, touched[0], a)),
            (&[one, other], _, true) => {
                let set = AccessSet((one.clone(), other.clone()));
                set.read_when(
                    move |(a, _)| holds(a),
                    |(a, b)| {
                        apply(register, touched[0], &mut a.clone());
                        apply(register, touched[1], &mut b.clone());
                    },
                );
            }
            (&[one, other], _, false) => {
                let set = AccessSet((one.clone(), other.clone()));
                set.write_when(
                    move |(a, _)| holds(a),
                    |(a, b)| {
                        apply(register, touched[0], a);
                        apply(register, touched[1], b);
                    },
                );
            }
            _ => unreachable!("a segment touches one object or two"),
        }
    }
}
