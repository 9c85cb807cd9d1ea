//! Concurrent objects as their users see them.

use actors::object::{AccessSet, Calls, Future, Next, Object, Task};
use explore::{Program, Step, ThreadId};
use mazurka::{Algorithm, Checker, FailureKind, Report, Verdict};
use report::Style;
use runtime::{Config, Model, Opaque};

/// Checks the program with an algorithm that explores each trace once.
fn check(program: impl Fn() + 'static) -> Report {
    Checker::new().keep_going(true).check(program)
}

fn only_failure(program: impl Fn() + 'static) -> (FailureKind, String) {
    let mut report = check(program);
    assert_eq!(report.errors.len(), 1, "{:?}", report.errors);
    let failure = report.errors.remove(0);
    (failure.kind, failure.message)
}

#[test]
fn calls_of_one_object_start_in_any_order() {
    let report = check(|| {
        let list = Object::new(Vec::new());
        let tasks = [1, 2, 3].map(|n| list.call("push", move |list| list.write(|l| l.push(n))));
        for task in tasks {
            task.get();
        }
    });
    assert_eq!((report.executions, report.verdict), (6, Verdict::Verified));
}

#[test]
fn a_call_is_an_arrow_to_its_task_and_its_end_one_to_who_awaits_it() {
    let report = check(|| {
        let number = Object::new(1);
        let doubled = number.call("double", |number| {
            number.write(|number| *number *= 2);
            number.read(|number| *number)
        });
        assert_eq!(doubled.get(), 1, "it is doubled");
    });
    let shown = &report.errors[0].interleaving;
    let row = |text: &str| {
        let place = shown.rows.iter().position(|row| row.text.contains(text));
        let place = place.unwrap_or_else(|| panic!("{text} in {shown:?}"));
        (place, &shown.rows[place])
    };
    let (called_in, call) = row("call double");
    let (_, first) = row("write()");
    let (last_in, last) = row("read()");
    let (_, awaits) = row("await double");
    assert_eq!(call.sent_to, Some(first.thread));
    assert_eq!(first.sent_in, Some(called_in));
    assert_eq!(last.sent_to, Some(awaits.thread));
    assert_eq!(awaits.sent_in, Some(last_in));
    assert_eq!((call.thread, awaits.thread), (0, 0));
    let text = shown.text(Style::default());
    let arrows = |arrow: char| text.lines().filter(|line| line.contains(arrow)).count();
    assert_eq!((arrows('▶'), arrows('◀')), (1, 1), "{text}");
}

#[test]
fn segments_that_only_read_commute() {
    let report = check(|| {
        let number = Object::new(1);
        let tasks = [1, 2, 3].map(|_| number.call("look", |number| number.read(|n| *n)));
        assert_eq!(tasks.map(|task| task.get()), [1; 3]);
    });
    assert_eq!(report.executions, 1);
}

#[test]
fn tasks_of_different_objects_do_not_depend_on_each_other() {
    let report = check(|| {
        let counters = [Object::new(0), Object::new(0)];
        let tasks = counters.map(|c| c.call("count", |c| c.write(|c| *c += 1)));
        for task in tasks {
            task.get();
        }
    });
    assert_eq!(report.executions, 1);
}

#[test]
fn a_task_that_waits_too_early_is_halted_and_goes_on_in_another_execution() {
    let report = check(|| {
        let flag = Object::new(false);
        let waits = flag.call("wait", |flag| {
            flag.write_when(|flag| *flag, |flag| *flag = false)
        });
        flag.write(|flag| *flag = true);
        waits.get();
        flag.read(|flag| assert!(!flag));
    });
    assert_eq!((report.executions, report.halted), (1, 1));
    assert_eq!(report.verdict, Verdict::Verified);
}

#[test]
fn a_condition_that_nobody_makes_true_is_a_deadlock() {
    let (kind, message) = only_failure(|| {
        let flag = Object::new(false);
        flag.call("wait", |flag| flag.read_when(|flag| *flag, |_| ()))
            .get();
    });
    assert_eq!(kind, FailureKind::Deadlock);
    assert!(
        message.contains("main waits for the end of wait"),
        "{message}"
    );
    assert!(
        message.contains("wait waits for a condition of Object<bool>@objects.rs"),
        "{message}"
    );
}

#[test]
fn a_task_whose_condition_does_not_hold_is_shown_where_it_waits() {
    let report = check(|| {
        let flag = Object::new(false);
        flag.read_when(|flag| *flag, |_| ());
    });
    let shown = &report.errors[0].interleaving;
    let texts: Vec<&str> = shown.rows.iter().map(|row| row.text.as_str()).collect();
    assert!(texts[0].ends_with(".read_when() -> waits"), "{texts:?}");
    assert!(shown.ends[0].contains("waits for a condition of Object<bool>"));
}

#[test]
fn a_condition_that_held_only_for_a_while_is_a_deadlock_for_late_waiters() {
    let report = check(|| {
        let flag = Object::new(false);
        flag.call("wait", |flag| flag.read_when(|flag| *flag, |_| ()));
        flag.write(|flag| *flag = true);
        flag.write(|flag| *flag = false);
    });
    assert_eq!(report.verdict, Verdict::Bug);
    // The read comes before, between or after the two writes.
    assert_eq!(
        (report.executions, report.halted, report.deadlocks),
        (3, 0, 2)
    );
}

#[test]
fn whoever_awaits_a_task_that_panics_waits_and_the_panic_is_reported() {
    let (kind, message) = only_failure(|| {
        let object = Object::new(0u8);
        let task = object.call("divide", |object| {
            object.read(|zero| 1u8.checked_div(*zero).unwrap())
        });
        task.get();
        unreachable!("there is no result");
    });
    assert_eq!(kind, FailureKind::Panic);
    assert!(message.contains("`None`"), "{message}");
}

#[test]
fn an_operation_inside_a_segment_is_reported() {
    let report = check(|| {
        let object = Object::new(0);
        let other = object.clone();
        object.write(|_| other.write(|_| ()));
    });
    let message = &report.errors[0].message;
    assert!(message.contains("a segment is one event"), "{message}");
}

#[test]
fn objects_of_one_access_set_are_touched_at_once() {
    let program = || {
        let (left, right) = (Object::new(1), Object::new(2));
        let both = AccessSet((left.clone(), right.clone()));
        let swap = left.call("swap", move |_| both.write(|(a, b)| std::mem::swap(a, b)));
        let sum = right.call("look", {
            let both = AccessSet((left.clone(), right.clone()));
            move |_| both.read(|(a, b)| (*a, *b))
        });
        swap.get();
        assert!([(1, 2), (2, 1)].contains(&sum.get()));
        left.write(|left| assert_eq!(*left, 2));
    };
    for algorithm in [Algorithm::Optimal, Algorithm::Source, Algorithm::Exhaustive] {
        let report = Checker::new().algorithm(algorithm).check(program);
        assert_eq!(report.verdict, Verdict::Verified, "{algorithm}");
    }
    assert_eq!(check(program).executions, 2);
}

#[test]
fn a_failure_over_merged_objects_is_repeated() {
    let program = || {
        let (left, right) = (Object::new(0), Object::new(0));
        let both = AccessSet((left.clone(), right.clone()));
        let task = left.call("count", move |_| both.write(|(a, b)| (*a, *b) = (1, 1)));
        assert_eq!(left.read(|left| *left), right.read(|right| *right));
        task.get();
    };
    let found = check(program);
    let schedule = &found.errors[0].schedule;
    assert!(!schedule.coarse.is_empty());
    let again = Checker::new().replay(schedule, program).unwrap();
    assert_eq!(again.errors[0].message, found.errors[0].message);
}

/// Adds its number to a counter, or only reads the counter.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Add {
    number: u32,
    says_that_it_only_reads: bool,
}

impl Task for Add {
    type Touches = Object<u32>;
    type Output = u32;

    fn method(&self) -> &'static str {
        "add"
    }

    fn only_reads(&self) -> bool {
        self.says_that_it_only_reads
    }

    fn segment(&mut self, counter: &mut u32, _: &mut Calls) -> Next<Add> {
        *counter += self.number;
        Next::Done(*counter)
    }
}

fn add(number: u32) -> Add {
    Add {
        number,
        says_that_it_only_reads: false,
    }
}

#[test]
fn a_task_that_does_not_only_read_as_it_said_is_reported() {
    let (kind, message) = only_failure(|| {
        let wrong = Add {
            number: 1,
            says_that_it_only_reads: true,
        };
        Object::new(0).start(wrong).get();
    });
    assert_eq!(kind, FailureKind::Panic);
    assert!(
        message.contains("add changed the state of its object"),
        "{message}"
    );
}

/// Sets a number to 1.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Set;

impl Task for Set {
    type Touches = Object<u32>;
    type Output = ();

    fn method(&self) -> &'static str {
        "set"
    }

    fn segment(&mut self, number: &mut u32, _: &mut Calls) -> Next<Set> {
        *number = 1;
        Next::Done(())
    }
}

/// Moves one from the first object to the second.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Move;

impl Task for Move {
    type Touches = (Object<u32>, Object<u32>);
    type Output = ();

    fn method(&self) -> &'static str {
        "move"
    }

    fn is_ready(&self, (from, _): (&u32, &u32)) -> bool {
        *from > 0
    }

    fn segment(&mut self, (from, to): (&mut u32, &mut u32), _: &mut Calls) -> Next<Move> {
        *from -= 1;
        *to += 1;
        Next::Done(())
    }
}

#[test]
fn a_state_machine_touches_several_objects_at_once() {
    let program = || {
        let (from, to) = (Object::new(2), Object::new(0));
        let both = AccessSet((from, to.clone()));
        let moves = [Move, Move].map(|task| both.start(task));
        to.start(add(1)).get();
        moves.iter().for_each(|task| task.get());
        assert_eq!(both.read(|(from, to)| (*from, *to)), (0, 3));
    };
    let report = check(program);
    assert_eq!((report.executions, report.verdict), (6, Verdict::Verified));
    let checker = Checker::new().algorithm(Algorithm::ContextSensitive);
    let report = checker.check(program);
    assert!(report.executions < 6 && report.verdict == Verdict::Verified);
}

/// Fails if the number is set.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Unset;

impl Task for Unset {
    type Touches = Object<u32>;
    type Output = ();

    fn method(&self) -> &'static str {
        "unset"
    }

    fn segment(&mut self, number: &mut u32, _: &mut Calls) -> Next<Unset> {
        assert_eq!(*number, 0, "it is set");
        Next::Done(())
    }
}

/// The first execution succeeds. The other order fails in a probe, an extra run that compares the
/// states after both orders.
#[test]
fn a_failure_of_a_run_outside_of_the_exploration_is_reported_with_a_schedule() {
    let program = || {
        let number = Object::new(0);
        number.start(Unset);
        number.start(Set);
    };
    let first = || Checker::new().max_executions(1).keep_going(true);
    let no_runs_beside = first().algorithm(Algorithm::Source).check(program);
    assert!(no_runs_beside.errors.is_empty());
    let found = first().algorithm(Algorithm::ContextSensitive);
    let found = found.check(program);
    assert_eq!((found.executions, found.errors.len()), (1, 1));
    let failure = &found.errors[0];
    assert!(failure.message.contains("it is set"), "{failure:?}");
    assert!(failure.interleaving.rows.iter().any(|row| row.failed));
    let again = Checker::new().replay(&failure.schedule, program).unwrap();
    assert_eq!(again.errors[0].message, failure.message);
}

/// Two tasks add to one counter, and the main thread awaits both.
fn two_additions() {
    let counter = Object::new(0);
    let [one, other]: [Future<u32>; 2] = [1, 2].map(|number| counter.start(add(number)));
    one.get();
    other.get();
}

/// Returns the model after both additions in this order.
fn model_after(body: fn(), order: [u16; 2]) -> Model {
    let mut model = Model::new(Config::default(), body);
    model.reset();
    for thread in order {
        model.step(Step::of(ThreadId(thread))).unwrap();
    }
    model
}

#[test]
fn state_machines_report_their_state() {
    let model = model_after(two_additions, [1, 2]);
    assert_eq!(model.opaque(), None);
    let same = model_after(two_additions, [1, 2]);
    assert_eq!(model.fingerprint(), same.fingerprint());
    // The counter is the same; the values that the tasks returned are not.
    let other = model_after(two_additions, [2, 1]);
    assert_ne!(model.fingerprint(), other.fingerprint());
}

#[test]
fn whether_a_wait_was_over_at_once_is_no_state() {
    fn awaited() {
        let counter = Object::new(0);
        let sets = [Set, Set].map(|set| counter.start(set));
        sets.iter().for_each(|set| set.get());
    }
    let state_after = |order| model_after(awaited, order).fingerprint();
    assert!(state_after([1, 2]).is_some());
    assert_eq!(state_after([1, 2]), state_after([2, 1]));
}

#[test]
fn closures_do_not_report_their_state() {
    fn two_closures() {
        let counter = Object::new(0);
        for number in [1, 2] {
            counter.call("add", move |c| c.write(|c| *c += number));
        }
    }
    let model = model_after(two_closures, [1, 2]);
    assert_eq!(model.opaque(), Some(Opaque::Thread("add".to_owned())));
}

#[test]
fn the_main_thread_reports_its_results() {
    fn awaited() {
        let counter = Object::new(0);
        let tasks = [1, 2].map(|number| counter.start(add(number)));
        let first = tasks[0].get();
        tasks[1].get();
        assert!(first == 1 || first == 3);
        counter.start(add(first)).get();
    }
    let state_after = |order| {
        let model = model_after(awaited, order);
        model.fingerprint().expect("all report their states")
    };
    assert_ne!(state_after([1, 2]), state_after([2, 1]));
    assert_eq!(state_after([1, 2]), state_after([1, 2]));
}
