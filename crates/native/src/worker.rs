//! The process in which a program is checked. It starts with an [`Order`], and ends with its owner.
//! Some orders make it wait for *errands*: pieces of a search that its owner assigns one by one.

use crate::order::{errand_file, reachable, trail_file, written};
use crate::patience::{Patience, descendants};
use crate::{Answer, ORDER, Order};
use report::{Errands, Trail, Trailed};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Read, Seek, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};

/// A process that checks a program, and its process group. All these processes end at the latest
/// when this value is dropped.
#[derive(Debug)]
pub struct Worker {
    child: Child,
    /// The file in which the process records its progress.
    trail: File,
    answers: Option<PipeReader>,
    /// The other end of the pipe. The worker opens it anew for each answer, because the program may
    /// close any descriptor.
    output: Option<PipeWriter>,
    errands: Option<Channel>,
}

/// The channel that passes errands to a worker. It never fills up, so a dead worker does not block
/// its owner.
#[derive(Debug)]
struct Channel {
    words: File,
    bell: PipeWriter,
    /// The worker opens this end.
    _bell: PipeReader,
}

impl Worker {
    /// Starts `command`, a program that was built with hooks. The program checks itself as `order`
    /// says. The first of `arguments` is the name under which the program is called (`argv[0]`).
    ///
    /// # Errors
    /// Returns an error if the process cannot be started.
    pub fn start(
        mut command: Command,
        arguments: &[OsString],
        order: &Order,
    ) -> io::Result<Worker> {
        let trail = trail_file()?;
        let (answers, output) = io::pipe()?;
        let order = Order {
            trail: Some(reachable(&trail)),
            answers: Some(reachable(&output)),
            ..order.clone()
        };
        let (text, file) = written(&order)?;
        let (name, arguments) = match arguments {
            [name, arguments @ ..] => (name.as_os_str(), arguments),
            [] => (OsStr::new("program"), arguments),
        };
        let child = command
            .arg0(name)
            .args(arguments)
            .env(ORDER, text)
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .process_group(0)
            .spawn()?;
        // The worker also has the file open.
        drop(file);
        Ok(Worker {
            child,
            trail,
            answers: Some(answers),
            output: Some(output),
            errands: None,
        })
    }

    /// Starts a worker like [`start`](Worker::start), for a program that carries out
    /// [errands](Worker::assign).
    ///
    /// # Errors
    /// Returns an error if the process cannot be started.
    pub fn start_for_errands(
        command: Command,
        arguments: &[OsString],
        order: &Order,
    ) -> io::Result<Worker> {
        let words = errand_file()?;
        let (reader, bell) = io::pipe()?;
        let order = Order {
            errands: Some(Errands {
                words: reachable(&words),
                bell: reachable(&reader),
            }),
            ..order.clone()
        };
        let mut worker = Worker::start(command, arguments, &order)?;
        worker.errands = Some(Channel {
            words,
            bell,
            _bell: reader,
        });
        Ok(worker)
    }

    /// Gives an errand to the worker, which must not have an errand already.
    ///
    /// # Errors
    /// Returns an error if the worker was not [started for errands](Worker::start_for_errands), or
    /// if there is not enough memory.
    pub fn assign(&mut self, words: &[u8]) -> io::Result<()> {
        let channel = self.errands.as_mut().ok_or(io::ErrorKind::Unsupported)?;
        channel.words.set_len(0)?;
        channel.words.write_all_at(words, 0)?;
        channel.bell.write_all(&[0])
    }

    /// Returns a handle that can [ask the worker](EarlyEnd::ask) to end its errand soon.
    ///
    /// # Errors
    /// Returns an error if there are too many open files.
    pub fn early_end(&self) -> io::Result<EarlyEnd> {
        self.trail.try_clone().map(EarlyEnd)
    }

    /// Returns the result of the errand that the worker has completed. Later requests to end soon
    /// apply to the next errand.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`assign`](Worker::assign).
    pub fn brought(&self) -> io::Result<Vec<u8>> {
        self.trail
            .write_all_at(&0_u64.to_le_bytes(), Trail::EARLY_END)?;
        let channel = self.errands.as_ref().ok_or(io::ErrorKind::Unsupported)?;
        let mut words = Vec::new();
        let mut file = &channel.words;
        file.rewind()?;
        file.read_to_end(&mut words)?;
        Ok(words)
    }

    /// Returns an iterator over the answers of the worker. The iterator ends when the worker is
    /// [killed](Worker::kill). It skips other lines, which are output of the program.
    ///
    /// # Panics
    /// Panics if this function is called twice.
    pub fn answers(&mut self) -> Answers {
        let answers = self.answers.take();
        Answers {
            output: BufReader::new(answers.expect("the answers of a worker are taken only once")),
        }
    }

    /// Asks the worker to stop early and to report its results so far.
    pub fn interrupt(&self) {
        // The worker may have ended on its own.
        let _ = kill_process(self.id(), Signal::INT);
    }

    /// Starts to measure the time in which the worker could have answered.
    pub fn patience(&self) -> Patience {
        Patience::with(self.id())
    }

    /// Returns the progress so far, even after a kill, or `None` if no execution has begun.
    pub fn trail(&self) -> Option<Trailed> {
        Trailed::read(&self.trail).ok().flatten()
    }

    /// Returns how the worker ended, if it has.
    ///
    /// # Errors
    /// Returns an error if the system cannot report the state of the worker.
    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// Ends the worker at once, with all processes that it started.
    pub fn kill(&mut self) {
        let id = self.id();
        if self.ended().is_ok_and(|ended| ended.is_none()) {
            // Some processes may have left the group. A stopped process starts no others.
            let _ = kill_process(id, Signal::STOP);
            for other in descendants(id) {
                let _ = kill_process(other, Signal::KILL);
            }
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        // The number of a group is not reused while the group has members.
        let _ = kill_process_group(id, Signal::KILL);
        // Earlier answers precede this marker in the pipe. The marker ends the answers even if a
        // process that left the group keeps the pipe open.
        if let Some(mut output) = self.output.take() {
            let _ = output.write_all(END);
        }
    }

    fn id(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

/// A handle that asks a worker to end its errand soon.
#[derive(Debug)]
pub struct EarlyEnd(File);

impl EarlyEnd {
    /// Asks the worker to end its errand soon. Has no effect if the worker has ended.
    pub fn ask(&self) {
        // If this fails, the errand ends at its usual time.
        let _ = self.0.write_all_at(&1_u64.to_le_bytes(), Trail::EARLY_END);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Makes the system end this process as soon as the thread that started it has ended.
///
/// # Errors
/// Returns an error if the system refuses.
pub fn end_with_parent() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    return Ok(rustix::process::set_parent_process_death_signal(Some(
        Signal::KILL,
    ))?);
    #[cfg(not(target_os = "linux"))]
    Err(io::ErrorKind::Unsupported.into())
}

/// The marker that ends the answers of a worker. The marker may follow an incomplete answer.
const END: &[u8] = b"end\n";

/// Iterates over the answers of a worker as they arrive.
#[derive(Debug)]
pub struct Answers {
    output: BufReader<PipeReader>,
}

impl Iterator for Answers {
    type Item = Answer;

    fn next(&mut self) -> Option<Answer> {
        let mut line = Vec::new();
        loop {
            line.clear();
            match self.output.read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return None,
                Ok(_) if line.ends_with(END) => return None,
                Ok(_) => {}
            }
            if let Ok(answer) = serde_json::from_slice(&line) {
                return Some(answer);
            }
        }
    }
}

/// Describes how a process ended: `exit status 3`, `SIGSEGV (signal 11)`.
///
/// ```
/// use std::process::Command;
/// let status = Command::new("sh").args(["-c", "kill -SEGV $$"]).status().expect("there is a shell");
/// assert_eq!(mazurka_native::ending(status), "SIGSEGV (signal 11)");
/// ```
pub fn ending(status: ExitStatus) -> String {
    let names = [
        (Signal::SEGV, "SIGSEGV"),
        (Signal::BUS, "SIGBUS"),
        (Signal::ILL, "SIGILL"),
        (Signal::FPE, "SIGFPE"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::KILL, "SIGKILL"),
        (Signal::TERM, "SIGTERM"),
        (Signal::INT, "SIGINT"),
    ];
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(number)) => {
            let name = names.iter().find(|(signal, _)| signal.as_raw() == number);
            match name {
                Some((_, name)) => format!("{name} (signal {number})"),
                None => format!("signal {number}"),
            }
        }
        (None, None) => status.to_string(),
    }
}
