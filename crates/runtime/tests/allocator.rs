//! Tests of programs with the model's allocator: addresses do not depend on the schedule.

use explore::{Algorithm, Options, Outcome, Strategy, explore};
use runtime::*;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::atomic::Ordering::*;

#[global_allocator]
static ALLOCATOR: ModelAllocator = ModelAllocator;

/// A node of a stack.
struct Node {
    value: u32,
    next: *mut Node,
}

fn push(head: &Atomic<*mut Node>, value: u32) {
    let node = Box::into_raw(Box::new(Node {
        value,
        next: std::ptr::null_mut(),
    }));
    loop {
        let next = head.load(Acquire);
        // SAFETY: the node is not shared yet.
        unsafe { (*node).next = next };
        if head.compare_exchange(next, node, Release, Relaxed).is_ok() {
            return;
        }
    }
}

#[test]
fn a_stack_of_heap_nodes_is_explored_by_all_algorithms() {
    let run = |algorithm: Algorithm| {
        let seen: Rc<RefCell<BTreeSet<Vec<u32>>>> = Rc::default();
        let collected = Rc::clone(&seen);
        let mut model = Model::new(Config::default(), move || {
            let head = Rc::new(Atomic::new(std::ptr::null_mut()));
            let threads = [10, 20].map(|first| {
                let head = Rc::clone(&head);
                spawn(None, move || {
                    (first..first + 2).for_each(|value| push(&head, value))
                })
            });
            for thread in threads {
                join(thread).expect("it does not panic");
            }
            let mut order = Vec::new();
            let mut node = head.load(Acquire);
            while !node.is_null() {
                // SAFETY: all threads have ended, and the nodes are alive.
                let owned = unsafe { Box::from_raw(node) };
                order.push(owned.value);
                node = owned.next;
            }
            collected.borrow_mut().insert(order);
        });
        struct Completed(u64);
        impl explore::Observer for Completed {
            fn ended(&mut self, outcome: Outcome, _: &dyn Strategy) -> ControlFlow<()> {
                self.0 += u64::from(outcome == Outcome::Completed);
                ControlFlow::Continue(())
            }
        }
        let mut completed = Completed(0);
        let mut strategy = algorithm.strategy(Options::default());
        explore(&mut model, &mut strategy, &mut completed).expect("it is deterministic");
        drop(model);
        (completed.0, seen.borrow().len())
    };
    let (optimal, orders) = run(Algorithm::Optimal);
    assert_eq!(orders, 6);
    assert_eq!(run(Algorithm::Parsimonious), (optimal, 6));
    assert_eq!(run(Algorithm::Source), (optimal, 6));
}

#[test]
fn data_that_a_test_collects_outlives_the_execution() {
    let seen: Rc<RefCell<Vec<Box<u32>>>> = Rc::default();
    let collected = Rc::clone(&seen);
    let mut model = Model::new(Config::default(), move || {
        let value = Rc::new(Atomic::new(0));
        let other = Rc::clone(&value);
        let thread = spawn(None, move || other.store(1, SeqCst));
        collected.borrow_mut().push(Box::new(value.load(SeqCst)));
        join(thread).expect("it does not panic");
    });
    for _ in 0..100 {
        let mut strategy = Algorithm::Optimal.strategy(Options::default());
        explore(&mut model, &mut strategy, &mut ()).expect("it is deterministic");
    }
    drop(model);
    assert_eq!(seen.borrow().len(), 200);
    assert_eq!(seen.borrow().iter().map(|value| **value).sum::<u32>(), 100);
}

#[test]
fn memory_of_abandoned_executions_is_used_again_unless_somebody_refers_to_it() {
    static KEPT: std::sync::Mutex<Vec<Kept>> = std::sync::Mutex::new(Vec::new());
    type Kept = Box<[usize; 20]>;
    const EXECUTIONS: usize = 4000;
    const BLOCKS: usize = 60;
    let number = Rc::new(RefCell::new(0));
    let counted = Rc::clone(&number);
    let mut model = Model::new(Config::default(), move || {
        let number = *counted.borrow();
        let blocks: Vec<Box<[usize; 120]>> = (0..BLOCKS).map(|_| Box::new([number; 120])).collect();
        if usize::is_multiple_of(number, 100) {
            KEPT.lock()
                .expect("nobody panics")
                .push(Box::new([number; 20]));
        }
        assume(false);
        drop(blocks);
    });
    let before = resident();
    for execution in 0..EXECUTIONS {
        *number.borrow_mut() = execution;
        explore::Program::reset(&mut model);
    }
    let left = EXECUTIONS * BLOCKS * size_of::<[usize; 120]>();
    assert!(left > 200 << 20);
    let grown = resident().saturating_sub(before);
    assert!(grown < 100 << 20, "{grown} bytes are in use");
    let kept = KEPT.lock().expect("nobody panics");
    assert_eq!(kept.len(), EXECUTIONS / 100);
    for (block, number) in kept.iter().zip((0..).step_by(100)) {
        assert_eq!(**block, [number; 20]);
    }
}

/// Returns the number of bytes of memory that the process uses.
fn resident() -> usize {
    let words = std::fs::read_to_string("/proc/self/statm").expect("it is Linux");
    let pages = words.split(' ').nth(1).expect("it has two words");
    pages.parse::<usize>().expect("it is a number") * 4096
}
