//! Runs a program again in gdb, which stops where the program failed. The program reads an
//! [`Order`] from a file and writes its [`Answer`]s to another file.

use crate::scratch::Scratch;
use crate::{Answer, Order};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

/// The time between two checks whether the debugger has ended or must stop.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// The debugger.
const GDB: &str = "gdb";

/// Commands for gdb. They run the program that is given on gdb's command line, and show the failure
/// and the youngest frame outside the runtime library. Python finds this frame, but not every gdb
/// includes Python.
const SCRIPT: &str = r#"
set startup-with-shell off
set breakpoint pending on
set confirm off
set environment ORDER @FILE
# The runtime library needs this. Otherwise it starts the program again.
set environment LD_BIND_NOW 1
# Signals of the watchdog, which a debugger replaces.
handle SIGVTALRM SIGALRM SIGURG nostop noprint pass
tbreak mazurka_failed
run
python
frame = gdb.newest_frame()
if frame.name() == "mazurka_failed":
    gdb.execute("set language c")
    gdb.execute('printf "%s\\n", *(char **)&mazurka_failure')
    gdb.execute("set language auto")
def is_library(frame):
    name = gdb.solib_name(frame.pc()) or ""
    return "libmazurka_intercept" in name or "/libc.so" in name
while frame and is_library(frame):
    frame = frame.older()
if frame:
    frame.select()
    gdb.execute("frame")
end
"#;

/// A debugger that is about to run a program.
#[derive(Debug)]
pub struct Debugger {
    /// The folder that contains the files with the order and the answers.
    folder: Scratch,
    command: Command,
}

impl Debugger {
    /// Checks whether the debugger is installed.
    ///
    /// # Errors
    /// Returns an error if the debugger cannot be run.
    pub fn check_installed() -> io::Result<()> {
        let mut command = Command::new(GDB);
        command.arg("--version").stdin(Stdio::null());
        command.stdout(Stdio::null()).status().map(drop)
    }

    /// Prepares the debugger to run a program that was built with hooks. The program does what
    /// `order` says.
    ///
    /// # Errors
    /// Returns an error if the files for the order and the answers cannot be created.
    pub fn new(program: &Path, arguments: &[OsString], order: &Order) -> io::Result<Debugger> {
        let folder = Scratch::new()?;
        let order = Order {
            answers: Some(answers(&folder)),
            is_debugged: true,
            ..order.clone()
        };
        let file = folder.path().join("order");
        let text =
            serde_json::to_string(&order).expect("an order has no maps whose keys are not strings");
        fs::write(&file, text)?;
        let script = folder.path().join("commands");
        let lines = SCRIPT.replace("ORDER", crate::ORDER);
        fs::write(&script, lines.replace("FILE", &file.to_string_lossy()))?;
        let mut command = Command::new(GDB);
        command.arg("-x").arg(script);
        command.arg("--quiet").arg("--args").arg(program);
        command.args(arguments.get(1..).unwrap_or_default());
        Ok(Debugger { folder, command })
    }

    /// Runs the debugger until the user leaves it or `stops` returns true. Returns the debugger's
    /// exit status, and the last answer of the program, if it has written one.
    ///
    /// # Errors
    /// Returns an error if the debugger cannot be run.
    pub fn run(mut self, stops: impl Fn() -> bool) -> io::Result<(ExitStatus, Option<Answer>)> {
        let mut debugger = self.command.spawn()?;
        let status = loop {
            if let Some(status) = debugger.try_wait()? {
                break status;
            }
            if stops() {
                // The system ends the program together with its debugger.
                debugger.kill()?;
            }
            thread::sleep(CHECK_INTERVAL);
        };
        let text = fs::read_to_string(answers(&self.folder)).unwrap_or_default();
        let mut answers = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        Ok((status, answers.next_back()))
    }
}

fn answers(folder: &Scratch) -> PathBuf {
    folder.path().join("answers")
}
