//! Runs a compiler until it ends or must stop. If it must stop, all processes that it has started
//! end with it.

use crate::patience::descendants;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// A function that returns true once the compiler must stop.
pub type Stops<'s> = &'s dyn Fn() -> bool;

/// The time between two checks.
const CHECK_INTERVAL: Duration = Duration::from_millis(2);

/// The time that the compiler is given to remove its files.
const TIDYING: Duration = Duration::from_millis(300);

/// The number of bytes of output after which a compiler is stopped.
const MOST_OUTPUT: u64 = 1 << 30;

/// Runs the command and returns how it ended.
pub(crate) fn status(command: &mut Command, stops: Stops<'_>) -> io::Result<ExitStatus> {
    let mut compiler = command.process_group(0).spawn()?;
    let group = Pid::from_child(&compiler);
    let mut stopped: Option<Instant> = None;
    loop {
        if let Some(status) = compiler.try_wait()? {
            return Ok(status);
        }
        let signal = match stopped {
            None if stops() => Some(Signal::TERM),
            Some(since) if since.elapsed() > TIDYING => Some(Signal::KILL),
            None | Some(_) => None,
        };
        if let Some(signal) = signal {
            stopped.get_or_insert_with(Instant::now);
            // The process may have ended on its own.
            let _ = kill_process_group(group, signal);
        }
        thread::sleep(CHECK_INTERVAL);
    }
}

/// Runs the command and returns its output. The output is incomplete if the command must stop.
pub(crate) fn output(command: &mut Command, stops: Stops<'_>) -> io::Result<Vec<u8>> {
    let mut compiler = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let process = Pid::from_child(&compiler);
    let pipe = compiler.stdout.take().expect("the output is a pipe");
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut text = Vec::new();
        let read = pipe.take(MOST_OUTPUT).read_to_end(&mut text);
        // The receiver is gone if the command had to stop.
        let _ = sender.send(read.map(|_| text));
    });
    let text = loop {
        match receiver.recv_timeout(CHECK_INTERVAL) {
            Ok(text) => break text,
            Err(RecvTimeoutError::Timeout) if !stops() => {}
            Err(_) => break Ok(Vec::new()),
        }
    };
    if stops() {
        // The output is not needed any more.
        for other in descendants(process).into_iter().chain([process]) {
            let _ = kill_process(other, Signal::KILL);
        }
    }
    compiler.wait()?;
    text
}
