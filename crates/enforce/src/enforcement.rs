//! The state of the process: what is enforced at the moment, under which order.

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

/// What does not change.
struct Fixed {
    order: Order,
    /// Of the program, as the file says.
    program_checksum: String,
    interleaves_plain: bool,
    /// What the file said at the start.
    case: Case,
    watches_all: bool,
}

static FIXED: OnceLock<Fixed> = OnceLock::new();

/// The plan at the moment. Plans are never freed: a thread may look at an old one.
static PLAN: AtomicPtr<Plan> = AtomicPtr::new(ptr::null_mut());

/// What to keep is empty.
static NOTHING: OnceLock<Plan> = OnceLock::new();

/// The process is a child of the one that is enforced.
static IS_OFF: AtomicBool = AtomicBool::new(false);

/// The calling thread becomes the main thread of a program under this order. The file is followed as soon as somebody waits, if the program lasts.
///
/// # Errors
/// If the file cannot be used, in one line for people.
pub fn start(order: Order) -> Result<(), String> {
    let trace = SafeTrace::load(&order.trace).map_err(|error| error.to_string())?;
    // The command has looked, but the file may be another one since.
    if order
        .checksum
        .as_ref()
        .is_some_and(|own| *own != trace.program_checksum)
    {
        return Err(format!(
            "{} is the safe trace of another program by now",
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
    // Here, where nobody has to wait for it: the standard library waits by a futex, which would be the program's.
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

/// What the command told the process, and what was to be kept at the start.
pub(crate) fn order() -> Option<(&'static Order, &'static Case)> {
    FIXED.get().map(|fixed| (&fixed.order, &fixed.case))
}

/// What another version of the file says for the inputs; none if it is about another program.
pub(crate) fn another(version: &SafeTrace) -> Option<&Case> {
    let fixed = FIXED.get()?;
    let is_same = version.program_checksum == fixed.program_checksum
        && version.interleaves_plain == fixed.interleaves_plain;
    version.case(&fixed.order.inputs).filter(|_| is_same)
}

/// What is to be kept.
#[inline]
pub(crate) fn plan() -> &'static Plan {
    // SAFETY: plans are never freed.
    match unsafe { PLAN.load(Acquire).as_ref() } {
        Some(plan) => plan,
        None => NOTHING.get_or_init(Plan::free),
    }
}

/// Whether this is still what is to be kept.
#[inline]
pub(crate) fn is_current(plan: &'static Plan) -> bool {
    let current = PLAN.load(SeqCst);
    current.is_null() || ptr::eq(current, plan)
}

/// The same of a plan that may be none.
pub(crate) fn is_at_hand(plan: *const Plan) -> bool {
    ptr::eq(PLAN.load(SeqCst), plan)
}

/// From here on this is to be kept. All threads look at it: those that wait at once, others at their next hook.
pub(crate) fn take_over(new: Plan) {
    let threads = plan().threads().max(new.threads());
    PLAN.store(Box::leak(Box::new(new)), SeqCst);
    thread::poke();
    (0..threads).for_each(|number| Gate::of(number).ring());
}

/// Every hook is a stop: for records and delays.
#[inline]
pub(crate) fn watches_all() -> bool {
    FIXED.get().is_some_and(|fixed| fixed.watches_all) && !IS_OFF.load(Relaxed)
}

/// Whether the process is a child of the one that is enforced.
pub(crate) fn is_off() -> bool {
    IS_OFF.load(Relaxed)
}

pub(crate) fn counts_plain() -> bool {
    FIXED.get().is_some_and(|fixed| fixed.interleaves_plain)
}

/// Of random delays and alternatives.
pub(crate) fn seed() -> u64 {
    let delays = FIXED.get().and_then(|fixed| fixed.order.delays);
    delays.unwrap_or(0).wrapping_add(0x9e37_79b9_7f4a_7c15)
}

pub(crate) fn is_delayed() -> bool {
    FIXED
        .get()
        .is_some_and(|fixed| fixed.order.delays.is_some())
}

/// The value of an input that the program declares; none in programs that are not enforced. What was not verified ends the program.
pub fn input(name: &str) -> Option<i64> {
    let fixed = FIXED.get().filter(|_| !is_off())?;
    let value = fixed.order.inputs.get(name);
    Some(*value.unwrap_or_else(|| failure::unknown_input(name)))
}

/// One of so many alternatives, as an event: the verified one, or any where nothing is left to be enforced.
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

/// The alternative that the calling thread's event, which has begun, takes.
pub(crate) fn alternative() -> u32 {
    let own = own();
    let number = own.thread().and_then(Thread::number);
    let alternative = plan().alternative(number, own.index());
    alternative.unwrap_or(0)
}

/// Whether the order of the calling thread's next event is enforced, so that it decides what time would decide.
pub(crate) fn decides_next() -> bool {
    let own = own();
    let number = own.thread().and_then(Thread::number);
    number.is_some_and(|number| plan().is_inside(number, own.index().saturating_add(1)))
}

/// The process ends, by the calling thread: nothing of it will happen any more.
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

/// Writes which order happened, if that is wanted.
pub fn record() {
    let fixed = FIXED.get().filter(|_| !IS_OFF.load(Relaxed));
    if let Some(fixed) = fixed
        && let Some(path) = &fixed.order.record
    {
        let (inputs, checksum) = (&fixed.order.inputs, &fixed.program_checksum);
        internally(|| recorder::write(path, inputs, checksum));
    }
}

/// The process is a copy of the one that is enforced, with one thread: it runs free, and records nothing.
pub fn off() {
    IS_OFF.store(true, SeqCst);
    let own = own();
    own.thread.store(ptr::null_mut(), Relaxed);
    own.next.store(u64::MAX, Relaxed);
    own.step.set(0);
}
