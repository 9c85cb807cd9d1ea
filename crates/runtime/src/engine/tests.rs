//! Tests of the engine alone: the threads announce operations, but use no objects of a front-end.

use crate::config::Config;
use crate::engine::Job;
use crate::engine::model::Model;
use crate::engine::perform::{self, perform, silently};
use crate::guests::Wait;
use explore::{
    Access, Execution, Interrupt, ObjectId, Op, OpKind, Outcome, Pending, Program, Step, ThreadId,
    ValueId,
};
use std::cell::Cell;
use std::panic::Location;
use std::rc::Rc;

/// Adds 1 to the value in two events: a load and a store.
fn add(object: ObjectId, value: &Cell<u64>) {
    let event = |kind, access, next: Option<u64>| {
        let op = Op {
            kind,
            access,
            object,
        };
        perform(op, Location::caller(), |engine| {
            let before = value.get();
            value.set(next.unwrap_or(before));
            engine.record_value_ids(ValueId(before), ValueId(value.get()));
            before
        })
    };
    let old = event(OpKind::Load, Access::Read, None);
    event(OpKind::Store, Access::Write, Some(old + 1));
}

/// A program in which the main thread and its child add 1 each, and the main thread joins the
/// child. Returns the program and its value.
fn two_adds() -> (Model, Rc<Cell<u64>>) {
    let value = Rc::new(Cell::new(0));
    let result = Rc::clone(&value);
    let model = Model::new(Config::default(), move || {
        value.set(0);
        let object = silently(|engine| engine.names.object(ThreadId::MAIN, 0, 1));
        let shared = Rc::clone(&value);
        let body = move || add(object, &shared);
        let child = silently(|engine| {
            engine.spawn(Location::caller(), None, |_| Job::Spawned(Box::new(body)))
        });
        add(object, &value);
        let end = silently(|engine| engine.names.end(child));
        let join = objects::Thread::JOIN.on(end);
        perform::wait(join, Wait::Join(child), Location::caller(), |_| {});
    });
    (model, result)
}

const MAIN: Step = Step::of(ThreadId(0));
const CHILD: Step = Step::of(ThreadId(1));

/// Performs the steps. Returns the execution.
fn run(model: &mut Model, steps: &[Step]) -> Result<Execution, Interrupt> {
    model.reset();
    let mut execution = Execution::default();
    for &step in steps {
        let Pending::Enabled(request) = model.pending()[step.thread.index()] else {
            panic!("the thread of the step is enabled");
        };
        execution.push(step, &request, &model.step(step)?);
    }
    Ok(execution)
}

#[test]
fn a_schedule_decides_the_result() {
    let (mut model, value) = two_adds();
    run(&mut model, &[MAIN, MAIN, CHILD, CHILD]).unwrap();
    assert_eq!((value.get(), model.outcome()), (2, Outcome::Completed));
    run(&mut model, &[MAIN, CHILD, MAIN, CHILD]).unwrap();
    assert_eq!((value.get(), model.outcome()), (1, Outcome::Completed));
}

#[test]
fn a_wait_is_no_step_and_ends_with_the_event_that_it_needs() {
    let (mut model, _) = two_adds();
    run(&mut model, &[MAIN, MAIN, CHILD]).unwrap();
    assert!(matches!(model.pending()[0], Pending::Waiting(_)));
    model.step(CHILD).unwrap();
    assert_eq!(model.pending(), [Pending::Finished, Pending::Finished]);
}

#[test]
fn a_repeated_execution_has_the_same_events() {
    let (mut model, value) = two_adds();
    let execution = run(&mut model, &[CHILD, MAIN, MAIN]).unwrap();
    let _ = run(&mut model, &[MAIN]).unwrap();
    model.repeat(&execution, false).unwrap();
    assert_eq!(value.get(), 1);
    model.step(CHILD).unwrap();
    assert_eq!((value.get(), model.outcome()), (1, Outcome::Completed));
}

#[test]
fn a_step_of_a_thread_that_waits_is_refused() {
    let (mut model, _) = two_adds();
    run(&mut model, &[MAIN, MAIN]).unwrap();
    assert!(matches!(model.step(MAIN), Err(Interrupt::Diverged(_))));
}

#[test]
fn an_execution_that_is_cut_runs_no_more_code() {
    let (mut model, value) = two_adds();
    run(&mut model, &[MAIN]).unwrap();
    drop(model);
    assert_eq!(value.get(), 0);
}
