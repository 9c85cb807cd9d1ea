//! The reasons why a command was not carried out. Each message is one line: cause, place and
//! remedy.

use mazurka::CheckError;
use report::StoredFileError;
use std::io;
use std::path::PathBuf;

/// Wrong usage, or a file or program that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// No program has this name, or the program does not have this size.
    #[error("{0}")]
    Program(#[from] corpus::NameError),
    /// A file that another command wrote cannot be used.
    #[error("{0}")]
    Stored(#[from] StoredFileError),
    /// The user named a source, but only the program that will be run can be verified.
    #[error("{}: this is a source; build the program that will be run with `mazurka cc` or `mazurka c++`, and verify that", .0.display())]
    NotBuilt(PathBuf),
    /// The program is not the one that was verified.
    #[error("{}: this is not the program for which {} was verified: its content differs; verify it again", path.display(), trace.display())]
    OtherProgram {
        /// The program.
        path: PathBuf,
        /// The safe trace.
        trace: PathBuf,
    },
    /// The schedule is of a program that differs from the explored one.
    #[error("this is a schedule of {other}, not of {program}")]
    ScheduleOfOther {
        /// The program.
        program: String,
        /// The program of the schedule.
        other: String,
    },
    /// Simultaneous executions would share the files that the program writes.
    #[error(
        "a search is running, and both would share the files that this program may write: wait until the search has ended"
    )]
    Searching,
    /// The record is of a run of another program.
    #[error("{}: this records a run of another program, or of another version, than the one for which {} was verified; give the safe trace of the recorded program", record.display(), trace.display())]
    OtherRecord {
        /// The record.
        record: PathBuf,
        /// The safe trace.
        trace: PathBuf,
    },
    /// The program calls a function that cannot be enforced.
    #[error("{}: this program calls {function}, which cannot be enforced; run it without `mazurka run`", path.display())]
    NotEnforced {
        /// The program.
        path: PathBuf,
        /// The function.
        function: &'static str,
    },
    /// These inputs were not verified.
    #[error("{0}; verify them, or run without enforcement with --unverified-inputs run-free")]
    UnverifiedInputs(String),
    /// An input has more than one value or range.
    #[error("--input {name} is given twice, with {} and {}; give it once", values[0], values[1])]
    InputTwice {
        /// The input.
        name: String,
        /// The given values or ranges.
        values: [String; 2],
    },
    /// The value of an input in the environment is not a number.
    #[error(
        "{variable} in the environment is {value:?}, which is not a number; correct it, unset it, or use --input"
    )]
    NoNumber {
        /// The variable.
        variable: String,
        /// Its value.
        value: String,
    },
    /// There are too many values of inputs.
    #[error(
        "with the input {input} there are more than {most} combinations of values; declare a smaller range"
    )]
    Inputs {
        /// The input with which there are too many combinations.
        input: String,
        /// The maximum number that is verified.
        most: usize,
    },
    /// The schedule file is of a program that is not in the corpus.
    #[error("{}: this is a schedule of {program:?}, which `mazurka list` does not contain; replay it in the test that wrote it, with Checker::replay", path.display())]
    ForeignSchedule {
        /// The schedule file.
        path: PathBuf,
        /// The program that it names.
        program: String,
    },
    /// The schedule file is for a program in machine code but does not name the program.
    #[error("{}: this schedule does not name the file of its program; check the program again to get a new one", .0.display())]
    Recipe(PathBuf),
    /// The schedule file may come from a stranger, and says how to build its program.
    #[error("{}: {part} in this schedule could run any command; its recipe is `{recipe}`: if you trust it, add --trust-recipe", path.display())]
    ForeignRecipe {
        /// The schedule file.
        path: PathBuf,
        /// The part that may be harmful.
        part: String,
        /// The whole recipe.
        recipe: String,
    },
    /// An option has no meaning for this kind of program.
    #[error("{option}: {why}")]
    Option {
        /// The option.
        option: &'static str,
        /// Why the option does not apply.
        why: &'static str,
    },
    /// There is no compiler.
    #[error("{0}")]
    Compiler(#[from] native::CompilerError),
    /// There is no debugger.
    #[error("gdb cannot be run ({0}); install it, or replay without --gdb")]
    Debugger(io::Error),
    /// The runtime library is missing.
    #[error("{0}")]
    RuntimeLibrary(#[from] native::RuntimeLibraryError),
    /// A source could not be built.
    #[error("{program}: {error}")]
    Build {
        /// The sources.
        program: String,
        /// The reason.
        error: native::BuildError,
    },
    /// A program cannot be checked.
    #[error("{0}")]
    Binary(#[from] native::BinaryError),
    /// The process that checked a program refused to do so.
    #[error("{program}: {reason}")]
    Worker {
        /// The program.
        program: String,
        /// The reason that it gave.
        reason: String,
    },
    /// The process that checked a program ended without a result.
    #[error(
        "{program}: the process that checked it ended with {ended} and without a result; the program may have overwritten the checker's memory, or memory may have run out: run the program by itself, or with valgrind, to find out"
    )]
    WorkerEnded {
        /// The program.
        program: String,
        /// The exit status.
        ended: String,
    },
    /// A server failed.
    #[error("{0}")]
    Cluster(#[from] cluster::ClusterError),
    /// The server has no job with this id.
    #[error("{0}: this job is not, or no longer, on the server; `mazurka jobs` lists the jobs")]
    NoJob(String),
    /// Workers do only jobs of their own version.
    #[error(
        "the server has no workers of this version of mazurka ({own}), only of others ({others}); use the same mazurka executable everywhere"
    )]
    OtherVersion {
        /// The version of this command.
        own: String,
        /// The versions of the workers.
        others: String,
    },
    /// The worker runs as root, so anyone who may submit jobs would be root on this machine.
    #[error(
        "everyone who can submit jobs can run programs on workers, and this worker runs as root; start it as another user, or with --as-root"
    )]
    Root,
    /// The search could not be done.
    #[error("{program}: {error}")]
    Check {
        /// The program.
        program: String,
        /// The reason.
        error: CheckError,
    },
    /// A file would be written where there is no directory.
    #[error("{}: there is no such directory to write to; create it or choose another place", .0.display())]
    NoDirectory(PathBuf),
    /// A file could not be written.
    #[error("cannot write {}: {error}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The manual has no page because the command does not exist.
    #[error("{0}: there is no such command; see `mazurka --help`")]
    NoCommand(String),
    /// A file of suppressions cannot be used.
    #[error("{}: {reason}", path.display())]
    Suppressions {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The path of a file to be written is a directory.
    #[error("{}: this is a directory; choose a file to write to", .0.display())]
    Directory(PathBuf),
    /// No process reads from a pipe that would be written.
    #[error("{}: cannot write to this pipe: {error}; start its reader first, or choose a file", path.display())]
    Pipe {
        /// The pipe.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// A source is a device, a pipe or another special file.
    #[error("{}: this is not a regular file; give a source file", .0.display())]
    NoSource(PathBuf),
    /// A source is missing.
    #[error("{}: there is no such file; give a source file", .0.display())]
    MissingSource(PathBuf),
    /// A checkpoint would replace a device, a pipe or a directory.
    #[error("{}: a checkpoint can only replace a regular file; choose another place", .0.display())]
    NoFile(PathBuf),
    /// A schedule would overwrite a checkpoint.
    #[error("{}: the schedule of a bug would overwrite this checkpoint; choose another --output, or --no-output", .0.display())]
    SameFile(PathBuf),
    /// Two options name the same file.
    #[error("{}: another option also names this file; give each option its own file", .0.display())]
    NamedTwice(PathBuf),
    /// An operation of the system failed.
    #[error("cannot {what}: {error}")]
    System {
        /// The operation.
        what: &'static str,
        /// The error of the system.
        error: io::Error,
    },
    /// A process that was started for a comparison did not report a result.
    #[error(
        "{program} with {algorithm}: the process that searched ended with {ended}; run `mazurka check {program} --algorithm {algorithm}` to see why"
    )]
    NoResult {
        /// The program.
        program: String,
        /// The algorithm.
        algorithm: explore::Algorithm,
        /// The exit status.
        ended: String,
    },
}

impl Refusal {
    /// Returns the refusal for a process that exits successfully without a result.
    pub fn ended_by_itself(program: &str) -> Refusal {
        Refusal::Worker {
            program: program.to_owned(),
            reason: "the program ended its process with exit status 0 without the C library, or replaced itself with another program; this cannot be checked".to_owned(),
        }
    }
}
