//! Checks the program in its own process and writes answers to a file. The *order*, which the
//! command `mazurka` passes in the environment, specifies the task.

use crate::gate::Own;
use crate::savepoint::ProgramMemory;
use crate::source_map::{self, Names};
use crate::start::Program;
use crate::{
    audit, block_numbers, blocks, clock, copies, dead_values, early_locks, ending, gate, heap,
    image, input, inputs, leaks, mappings, open_files, pages, reached, remapping, rwlock,
    savepoint, standard_streams, stream_locks, system_state, threads, unhooked, unknown_calls,
    watch,
};
use mazurka::{CheckError, Checker, Report};
use native::{Answer, ORDER, Order};
use report::{FailureKind, Input, Progress, Snapshot, Visit};
use runtime::native::{ControlWords, privately};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Time between two progress reports.
const INTERVAL: Duration = Duration::from_millis(150);

/// Whether the order includes a checkpoint or a schedule, which may be inconsistent because it was
/// read from a file.
static IS_FROM_A_FILE: AtomicBool = AtomicBool::new(false);

/// File of answers. It is opened for each answer, because the program may close any descriptor.
static ANSWERS: OnceLock<PathBuf> = OnceLock::new();

/// Reports that the order cannot be carried out, and ends the process.
pub(crate) fn refuse(reason: &str) -> ! {
    let answer = serde_json::to_string(&Answer::Refused(reason.to_owned())).unwrap_or_default();
    println!("{answer}");
    std::process::exit(2);
}

/// Carries out the order.
pub(crate) fn work(program: Program) -> i32 {
    early_locks::refuse_held();
    let order = std::env::var(ORDER).unwrap_or_default();
    let order = match Order::read(&order) {
        Ok(order) => order,
        Err(error) => refuse(&format!("the order in {ORDER} cannot be read: {error}")),
    };
    // SAFETY: no other thread reads the environment.
    unsafe { std::env::remove_var(ORDER) };
    match take_output(&order) {
        Ok(answers) => ANSWERS.get_or_init(|| answers),
        Err(error) => refuse(&format!("cannot redirect the program's output: {error}")),
    };
    if let Some(folder) = &order.folder {
        source_map::show_from(folder.clone());
    }
    let is_from_a_file = order.resume.is_some() || order.replay.is_some();
    IS_FROM_A_FILE.store(is_from_a_file, Relaxed);
    input::refuse_readers();
    gate::begin();
    std::panic::set_hook(Box::new(give_up));
    watch::begin(order.is_debugged);
    listen_to_owner();
    warm_up();
    if let Err(reason) = unknown_calls::record_calls(order.conditions.interleaves_plain) {
        refuse_now(&format!(
            "cannot map memory to redirect calls to the C library: {reason}"
        ));
    }
    standard_streams::find();
    ending::save();
    heap::save();
    image::save();
    dead_values::save();
    blocks::save(savepoint::uses_thread_state());
    pages::save();
    pages::leave_out(|| {
        runtime::native::start_watchdog();
        blocks::park_some();
    });
    if mappings::has_executable_stack() {
        runtime::native::make_stacks_executable();
    }
    *WORDS.get() = ControlWords::now();
    IS_DEBUGGED.store(order.is_debugged, Relaxed);
    let is_enforced = order.conditions.interleaves_plain && order.verify.is_some();
    unhooked::install(order.conditions.interleaves_plain, is_enforced);
    if order.is_fatal {
        say(&before_last(&order, program));
        // SAFETY: the call ends the process.
        unsafe { libc::_exit(0) }
    }
    let checked = match &order.visit {
        Some(visit) => position(&order, visit, program),
        None => check(&order, program).map(Answer::of),
    };
    input::refuse_readers();
    say(&match checked {
        Ok(answer) => answer,
        Err(error) => Answer::Refused(error.to_string()),
    });
    // Exit handlers belong to the program, and have run at the end of each execution.
    // SAFETY: the call ends the process.
    unsafe { libc::_exit(0) }
}

/// Handles a panic of the checker. Its results cannot be trusted any more, so the process ends.
fn give_up(panic: &std::panic::PanicHookInfo<'_>) {
    refuse_now(&match IS_FROM_A_FILE.load(Relaxed) {
        true => {
            "the checkpoint or schedule is inconsistent or does not match the program; check the program again"
                .to_owned()
        }
        false => format!("an internal error of mazurka: {panic}"),
    });
}

/// Ends the process because the program performs an operation that cannot be checked.
pub(crate) fn refuse_now(reason: &str) -> ! {
    say(&Answer::Refused(reason.to_owned()));
    // SAFETY: the call ends the process.
    unsafe { libc::_exit(2) }
}

fn say(answer: &Answer) {
    let line = answer.line();
    if let Some(answers) = ANSWERS.get() {
        // If this fails, the command has ended.
        let _ = output(answers).and_then(|mut file| writeln!(file, "{line}"));
    }
}

fn output(answers: &Path) -> io::Result<File> {
    File::options().append(true).create(true).open(answers)
}

/// Returns the interleaving before the last step of the schedule.
fn before_last(order: &Order, program: Program) -> Answer {
    if order.conditions.interleaves_plain {
        copies::enable();
    }
    let schedule = order.replay.as_ref().expect("a fatal order has a schedule");
    let shown = checker(order).interleaving_before_last(schedule, move || run(program));
    match shown {
        Ok(interleaving) => Answer::Interleaving(interleaving),
        Err(error) => Answer::Refused(error.to_string()),
    }
}

/// Returns the position of the program after the order's schedule, which may be empty.
fn position(order: &Order, visit: &Visit, program: Program) -> Result<Answer, CheckError> {
    if order.conditions.interleaves_plain {
        copies::enable();
    }
    checker(order).visit(order, visit, move || run(program))
}

fn check(order: &Order, program: Program) -> Result<Report, CheckError> {
    let body = move || run(program);
    if order.conditions.interleaves_plain {
        copies::enable();
    }
    let checker = checker(order);
    if let Some(errands) = &order.errands {
        return checker
            .by(&order.algorithm)?
            .run_errands(errands, body, || {
                input::refuse_readers();
                say(&Answer::Brought);
            });
    }
    if let Some(schedule) = &order.replay {
        let report = checker.replay(schedule, body)?;
        // Failures found at the end of an execution have not stopped the debugger yet.
        for failure in &report.errors {
            runtime::native::stop_for_debugger(&failure.message);
        }
        return Ok(report);
    }
    if let Some(verify) = &order.verify {
        inputs::know(&verify.inputs);
    }
    checker.carry_out(order, body, |case| {
        say(&Answer::Verified(Box::new(case.clone())));
    })
}

/// Asks for the value of an unknown input, and ends the process.
pub(crate) fn ask(input: Input) -> ! {
    say(&Answer::Asked(input));
    // SAFETY: the call ends the process.
    unsafe { libc::_exit(0) }
}

fn checker(order: &Order) -> Checker {
    let say = |snapshot: &Snapshot| {
        input::refuse_readers();
        say(&Answer::Progress(snapshot.line()));
    };
    Checker::ordered(order)
        .stop(Arc::clone(STOP.get_or_init(Arc::default)))
        .native(&Names, &ProgramMemory)
        .observer(Progress::every(INTERVAL, say))
}

/// The floating-point control words at the beginning of the program's `main`.
static WORDS: Own<ControlWords> = Own::new(ControlWords::new());

/// Whether a debugger receives each signal.
static IS_DEBUGGED: AtomicBool = AtomicBool::new(false);

/// Runs one execution, with the program's memory as it was at the beginning of `main`.
fn run(program: Program) {
    privately(|| {
        pages::protect(IS_DEBUGGED.load(Relaxed));
        remapping::begin();
        image::restore();
        pages::restore();
        system_state::begin(savepoint::is_confined_program);
        heap::restore();
        blocks::begin(gate::checker());
        threads::begin();
        rwlock::begin();
        stream_locks::begin();
        crate::library_calls::begin();
        open_files::begin();
        clock::begin();
        block_numbers::begin();
        ending::begin();
        audit::begin();
        reached::begin();
    });
    gate::IS_THROWN.store(false, Relaxed);
    unhooked::leave_out_unhooked();
    WORDS.get().set();
    runtime::native::clean_stack();
    let code = program.main as usize + 1;
    let leaving = Leaving {
        thread: Some(threads::leaving(0)),
        code,
    };
    let words = [
        program.count as usize,
        program.arguments,
        program.environment,
    ];
    // SAFETY: every thread has an errno.
    unsafe { *libc::__errno_location() = 0 };
    // SAFETY: the program's main, called as the C library calls it.
    let status = unsafe { gate::run(gate::checker(), program.main as usize, words) } as libc::c_int;
    // The guard acts only if unwinding ends `main`.
    std::mem::forget(leaving);
    ending::finish(status, code);
    runtime::native::return_from_main();
    check_leaks();
}

/// A guard that is dropped if the main thread ends before the program, or if an uncaught exception
/// ends the program.
struct Leaving {
    thread: Option<threads::Leaving>,
    /// The code of `main`.
    code: usize,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        // An uncaught exception ends the program at once.
        if !threads::is_ending(0) {
            return std::mem::forget(self.thread.take());
        }
        drop(self.thread.take());
        ending::outlive_others(self.code);
        check_leaks();
    }
}

/// Fails if a block of the heap is lost when the program has ended.
fn check_leaks() {
    if runtime::native::is_alone()
        && let Some(block) = privately(leaks::find)
    {
        let (site, message) = privately(|| heap::lost(block));
        runtime::native::fail(site, FailureKind::Leak, message);
    }
}

/// Redirects the program's output to `/dev/null`, or to the standard error in a replay. Returns the
/// file for answers.
fn take_output(order: &Order) -> io::Result<PathBuf> {
    let answers = order.answers.clone().ok_or(io::ErrorKind::InvalidInput)?;
    output(&answers)?;
    let null = File::options().write(true).open("/dev/null")?;
    // SAFETY: descriptors of this process.
    unsafe {
        if order.replay.is_some() {
            libc::dup2(2, 1);
        } else {
            libc::dup2(null.as_raw_fd(), 1);
            libc::dup2(null.as_raw_fd(), 2);
        }
    }
    Ok(answers)
}

/// Supplies the standard streams with buffers that do not belong to the program. Tells the C++
/// library that there are several threads.
fn warm_up() {
    unsafe extern "C" {
        static stdin: *mut libc::FILE;
        static stdout: *mut libc::FILE;
        static stderr: *mut libc::FILE;
        static mut __libc_single_threaded: libc::c_char;
    }
    let size = libc::BUFSIZ as usize;
    // SAFETY: the buffers live as long as the process.
    unsafe {
        for file in [stdin, stdout, stderr] {
            let buffer = Vec::<u8>::with_capacity(size).leak();
            libc::setvbuf(file, buffer.as_mut_ptr().cast(), libc::_IOLBF, size);
        }
        // The C++ library omits atomic operations if it assumes a single thread.
        __libc_single_threaded = 0;
    }
}

/// Set when the search is to end early with its results so far.
static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Arranges that SIGINT, SIGTERM and the soft limit of CPU time end the search early. If the
/// command that gave the order ends, this process also ends.
fn listen_to_owner() {
    STOP.get_or_init(Arc::default);
    let handler: extern "C" fn(libc::c_int) = stop;
    // SAFETY: the handler only sets an existing flag; all arguments are valid.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_ONSTACK | libc::SA_RESTART;
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGXCPU] {
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        // Processes started by the program remain descendants of this process, so that they end
        // with it.
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1);
    }
}

extern "C" fn stop(_signal: libc::c_int) {
    if let Some(stop) = STOP.get() {
        stop.store(true, Relaxed);
    }
}
