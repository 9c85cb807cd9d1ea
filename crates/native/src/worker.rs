//! The process in which a program is checked: started with an order, listened to, and gone when its owner is.

use crate::order::{errand_file, reachable, trail_file, written};
use crate::patience::{Patience, descendants};
use crate::{Answer, ORDER, Order};
use report::{Errands, Trail, Trailed};
use rustix::process::{
    Pid, Signal, kill_process, kill_process_group, set_parent_process_death_signal,
};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Read, Seek, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};

/// A process that checks a program, and the group of processes that it may start. They end at the latest when this value does.
#[derive(Debug)]
pub struct Worker {
    child: Child,
    /// What it has done so far.
    trail: File,
    answers: Option<PipeReader>,
    /// Opened by the worker for each answer, since the program may close any descriptor of its process.
    output: Option<PipeWriter>,
    errands: Option<Channel>,
}

/// How errands reach a worker. It never fills up, so that nothing waits for a worker that has died.
#[derive(Debug)]
struct Channel {
    words: File,
    bell: PipeWriter,
    /// Opened by the worker.
    _bell: PipeReader,
}

impl Worker {
    /// Starts a program that was built with hooks, so that it checks itself as `order` says: the command names it, with its
    /// environment. Its arguments begin with the name that it is to know itself by.
    ///
    /// # Errors
    /// If it cannot be started.
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
        // The worker has the file, too.
        drop(file);
        Ok(Worker {
            child,
            trail,
            answers: Some(answers),
            output: Some(output),
            errands: None,
        })
    }

    /// The same for a program that is to do [errands](Worker::tell).
    ///
    /// # Errors
    /// If it cannot be started.
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

    /// Gives it an errand, when it has none.
    ///
    /// # Errors
    /// If it was not [started for errands](Worker::start_for_errands), or memory is short.
    pub fn tell(&mut self, words: &[u8]) -> io::Result<()> {
        let channel = self.errands.as_mut().ok_or(io::ErrorKind::Unsupported)?;
        channel.words.set_len(0)?;
        channel.words.write_all_at(words, 0)?;
        channel.bell.write_all(&[0])
    }

    /// Lets others [ask it for haste](Haste::ask).
    ///
    /// # Errors
    /// If there are too many open files.
    pub fn haste(&self) -> io::Result<Haste> {
        self.trail.try_clone().map(Haste)
    }

    /// What the errand brought that it has done. Whoever asks for haste from now on means the next one.
    ///
    /// # Errors
    /// As [`tell`](Worker::tell).
    pub fn brought(&self) -> io::Result<Vec<u8>> {
        self.trail
            .write_all_at(&0_u64.to_le_bytes(), Trail::HASTE)?;
        let channel = self.errands.as_ref().ok_or(io::ErrorKind::Unsupported)?;
        let mut words = Vec::new();
        let mut file = &channel.words;
        file.rewind()?;
        file.read_to_end(&mut words)?;
        Ok(words)
    }

    /// What it answers, until it is killed. Lines that are no answers are the program's own.
    ///
    /// # Panics
    /// If they are asked for a second time.
    pub fn answers(&mut self) -> Answers {
        let answers = self.answers.take();
        Answers {
            output: BufReader::new(answers.expect("the answers of a worker are asked for once")),
        }
    }

    /// Asks it to stop early and to report what it has.
    pub fn interrupt(&self) {
        // It may have ended by itself.
        let _ = kill_process(self.id(), Signal::INT);
    }

    /// Measures from now on how long it could have answered.
    pub fn patience(&self) -> Patience {
        Patience::with(self.id())
    }

    /// What it has done so far, also if it was killed; nothing if no execution has begun.
    pub fn trail(&self) -> Option<Trailed> {
        Trailed::read(&self.trail).ok().flatten()
    }

    /// How it ended, if it has.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// Ends it at once, and what it has started.
    pub fn kill(&mut self) {
        let id = self.id();
        if self.ended().is_ok_and(|ended| ended.is_none()) {
            // Some may have left the group. A process that is stopped starts no other.
            let _ = kill_process(id, Signal::STOP);
            for other in descendants(id) {
                let _ = kill_process(other, Signal::KILL);
            }
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        // The number of a group is not given away while the group has members.
        let _ = kill_process_group(id, Signal::KILL);
        // What it has answered stands before this in the pipe, also where a process that has left the group keeps the pipe open.
        if let Some(mut output) = self.output.take() {
            let _ = output.write_all(END);
        }
    }

    fn id(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

/// A way to ask a worker to end its errand soon.
#[derive(Debug)]
pub struct Haste(File);

impl Haste {
    /// Asks for it. Nothing is lost if the worker has ended.
    pub fn ask(&self) {
        // Without an answer the errand ends in its time.
        let _ = self.0.write_all_at(&1_u64.to_le_bytes(), Trail::HASTE);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Ends this process as soon as the thread has ended that has started it.
///
/// # Errors
/// If the system does not do that.
pub fn end_with_parent() -> io::Result<()> {
    Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
}

/// Ends the answers of a worker, perhaps behind the beginning of one.
const END: &[u8] = b"end\n";

/// The answers of a worker, as they come.
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

/// How a process ended, in words: `exit status 3`, `SIGSEGV (signal 11)`.
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
