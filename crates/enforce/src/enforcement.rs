//! State of the process: the plan in force, and the [`Order`] that the command gave to the process.

use crate::gate::Gate;
use crate::own::own;
use crate::thread::{Child, Thread};
use crate::{Order, Plan, failure, follow, internally, recorder, thread};
use explore::OpKind;
use report::{Case, SafeTrace};
use std::ptr;
use std::sync::atomic::{
    AtomicBool, AtomicPtr,
    Ordering::{Acquire, Relaxed, SeqCst},
};
use std::sync::{LazyLock, OnceLock};

/// The part of the state that does not change.
struct Fixed {
    order: Order,
    /// Checksum of the program, from the file of the safe trace.
    program_checksum: String,
    /// Whether plain accesses are events.
    interleaves_plain: bool,
    /// The safe trace's case for the program's inputs, as it was at the start.
    case: Case,
    /// Whether every hook is a stop: see [`watches_all`].
    watches_all: bool,
}

static FIXED: OnceLock<Fixed> = OnceLock::new();

/// The current plan. Plans are never freed, because a thread may still use an old plan.
static PLAN: AtomicPtr<Plan> = AtomicPtr::new(ptr::null_mut());

/// The empty plan: nothing is enforced.
static NOTHING: OnceLock<Plan> = OnceLock::new();

/// Whether the process is a forked child of the enforced process.
static IS_OFF: AtomicBool = AtomicBool::new(false);

/// Makes the calling thread the main thread of a program that is enforced as `order` says. The
/// follower (see `follow.rs`) starts when a thread waits, unless the program is short.
///
/// # Errors
/// Returns an error, with a one-line message for the user, if the file cannot be used.
pub fn start(order: Order) -> Result<(), String> {
    let trace = SafeTrace::load(&order.trace).map_err(|error| error.to_string())?;
    // The command has checked this, but the file may have been replaced since then.
    if order
        .checksum
        .as_ref()
        .is_some_and(|checksum| *checksum != trace.program_checksum)
    {
        return Err(format!(
            "{} is now the safe trace of another program",
            order.trace.display()
        ));
    }
    let plan = Plan::for_inputs(&trace, &order.inputs)
        .map_err(|error| format!("{}: {error}", order.trace.display()))?;
    let case = trace.case(&order.inputs).cloned().unwrap_or_default();
    let fixed = Fixed {
        case,
        watches_all: order.record.is_some() || order.delays.is_some(),
        interleaves_plain: trace.interleaves_plain,
        program_checksum: trace.program_checksum,
        order,
    };
    let fixed = FIXED.get_or_init(|| fixed);
    // The lazy values are initialized here, so that no thread has to wait for their initialization
    // later. The standard library would use a futex for this wait, and the wait would count as a
    // wait of the program.
    NOTHING.get_or_init(Plan::free);
    LazyLock::force(&crate::gate::SPINS);
    if !fixed.order.runs_free {
        take_over(plan);
    }
    recorder::begin(fixed.order.record.is_some());
    thread::adopt(&Child::main());
    follow::begin(fixed.watches_all);
    Ok(())
}

/// Returns the [`Order`] of the command and the case in force at the start.
pub(crate) fn order() -> Option<(&'static Order, &'static Case)> {
    FIXED.get().map(|fixed| (&fixed.order, &fixed.case))
}

/// Returns the case for the inputs in another version of the file. Returns `None` if the file is
/// for another program, or has no case for these inputs.
pub(crate) fn another(version: &SafeTrace) -> Option<&Case> {
    let fixed = FIXED.get()?;
    let is_same = version.program_checksum == fixed.program_checksum
        && version.interleaves_plain == fixed.interleaves_plain;
    version.case(&fixed.order.inputs).filter(|_| is_same)
}

/// Returns the current plan.
#[inline]
pub(crate) fn plan() -> &'static Plan {
    // SAFETY: plans are never freed.
    match unsafe { PLAN.load(Acquire).as_ref() } {
        Some(plan) => plan,
        None => NOTHING.get_or_init(Plan::free),
    }
}

/// Checks whether the plan is the current plan, or no plan was ever set.
#[inline]
pub(crate) fn is_current(plan: &'static Plan) -> bool {
    let current = PLAN.load(SeqCst);
    current.is_null() || ptr::eq(current, plan)
}

/// Checks whether this is the pointer to the current plan. The pointer is null if no plan was ever
/// set.
pub(crate) fn is_at_hand(plan: *const Plan) -> bool {
    ptr::eq(PLAN.load(SeqCst), plan)
}

/// Puts a new plan in force. Waiting threads consult the plan at once, other threads at their next
/// hook.
pub(crate) fn take_over(new: Plan) {
    let threads = plan().threads().max(new.threads());
    PLAN.store(Box::leak(Box::new(new)), SeqCst);
    thread::poke();
    (0..threads).for_each(|number| Gate::of(number).ring());
}

/// Checks whether every hook is a stop (an event at which the thread does more than count). Records
/// and delays require this.
#[inline]
pub(crate) fn watches_all() -> bool {
    FIXED.get().is_some_and(|fixed| fixed.watches_all) && !IS_OFF.load(Relaxed)
}

/// Checks whether the process is a forked child of the enforced process.
pub(crate) fn is_off() -> bool {
    IS_OFF.load(Relaxed)
}

pub(crate) fn counts_plain() -> bool {
    FIXED.get().is_some_and(|fixed| fixed.interleaves_plain)
}

/// Returns the seed of random delays and alternatives.
pub(crate) fn seed() -> u64 {
    let delays = FIXED.get().and_then(|fixed| fixed.order.delays);
    delays.unwrap_or(0).wrapping_add(0x9e37_79b9_7f4a_7c15)
}

pub(crate) fn is_delayed() -> bool {
    FIXED
        .get()
        .is_some_and(|fixed| fixed.order.delays.is_some())
}

/// Returns the value of an input, or `None` if nothing is enforced. Unverified inputs end the
/// program.
pub fn input(name: &str) -> Option<i64> {
    let fixed = FIXED.get().filter(|_| !is_off())?;
    let value = fixed.order.inputs.get(name);
    Some(*value.unwrap_or_else(|| failure::unknown_input(name)))
}

/// Chooses an alternative, as an event: the verified alternative or, if nothing is left to be
/// enforced, a random one.
pub fn choose(alternatives: u32) -> u32 {
    crate::begin(OpKind::Choose);
    let (own, plan) = (own(), plan());
    let thread = own.thread();
    let number = thread.and_then(Thread::number);
    let choice = plan
        .alternative(number, own.index())
        .unwrap_or_else(|| crate::delay::random(thread) % alternatives.max(1));
    crate::end();
    choice.min(alternatives.saturating_sub(1))
}

/// Returns the alternative for the event that the calling thread has begun.
pub(crate) fn alternative() -> u32 {
    let own = own();
    let number = own.thread().and_then(Thread::number);
    let alternative = plan().alternative(number, own.index());
    alternative.unwrap_or(0)
}

/// Checks whether the calling thread's next event is in the enforced part of the thread. Then the
/// verified order decides the result of a timed operation, and the time does not matter.
pub(crate) fn decides_next() -> bool {
    let own = own();
    let number = own.thread().and_then(Thread::number);
    number.is_some_and(|number| plan().is_inside(number, own.index().saturating_add(1)))
}

/// Called at the end of the process. Writes the record. Fails if a thread waits for an event of the
/// calling thread.
pub fn leave() {
    if IS_OFF.load(Relaxed) {
        return;
    }
    crate::publish();
    let waiting = own().thread().and_then(Thread::leaves);
    record();
    if let Some((thread, point)) = waiting {
        failure::left(plan(), &thread, point);
    }
}

/// Writes the order in which events happened, if the user asked for it.
pub fn record() {
    let fixed = FIXED.get().filter(|_| !IS_OFF.load(Relaxed));
    if let Some(fixed) = fixed
        && let Some(path) = &fixed.order.record
    {
        let (inputs, checksum) = (&fixed.order.inputs, &fixed.program_checksum);
        internally(|| recorder::write(path, inputs, checksum));
    }
}

/// Ends enforcement in a forked child, whose only thread runs freely and records nothing.
pub fn off() {
    IS_OFF.store(true, SeqCst);
    let own = own();
    own.thread.store(ptr::null_mut(), Relaxed);
    own.next.store(u64::MAX, Relaxed);
    own.step.set(0);
}
