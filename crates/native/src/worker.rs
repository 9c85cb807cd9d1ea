//! The process in which a program is checked: started with an order, listened to, and gone when its owner is.

use crate::order::written;
use crate::{Answer, ORDER, Order};
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufReader};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

/// A process that checks a program. It ends at the latest when this value does.
#[derive(Debug)]
pub struct Worker {
    child: Child,
}

impl Worker {
    /// Starts a program that was built with hooks, so that it checks itself as `order` says. Its arguments begin with
    /// the name that it is to know itself by.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(program: &Path, arguments: &[OsString], order: &Order) -> io::Result<Worker> {
        let (text, file) = written(order)?;
        let (name, arguments) = match arguments {
            [name, arguments @ ..] => (name.as_os_str(), arguments),
            [] => (OsStr::new("program"), arguments),
        };
        let child = Command::new(program)
            .arg0(name)
            .args(arguments)
            .env(ORDER, text)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        // The worker has the file, too.
        drop(file);
        Ok(Worker { child })
    }

    /// What it answers, until it ends. Lines that are no answers are the program's own.
    ///
    /// # Panics
    /// If they are asked for a second time.
    pub fn answers(&mut self) -> Answers {
        let output = self.child.stdout.take();
        Answers {
            output: BufReader::new(output.expect("the answers of a worker are asked for once")),
        }
    }

    /// Asks it to stop early and to report what it has.
    pub fn interrupt(&self) {
        let Some(id) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) else {
            return;
        };
        // It may have ended by itself.
        let _ = kill_process(id, Signal::INT);
    }

    /// Ends it at once.
    pub fn kill(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
        let _ = self.child.wait();
    }
}

/// The answers of a worker, as they come.
#[derive(Debug)]
pub struct Answers {
    output: BufReader<ChildStdout>,
}

impl Iterator for Answers {
    type Item = Answer;

    fn next(&mut self) -> Option<Answer> {
        let mut line = Vec::new();
        loop {
            line.clear();
            match self.output.read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return None,
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
