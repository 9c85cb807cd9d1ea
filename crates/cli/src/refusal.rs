//! Why a command was not done: what, where, and what to do, in one line.

use mazurka::CheckError;
use report::StoredFileError;
use std::io;
use std::path::PathBuf;

/// Wrong usage, or a file or program that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// No such program, or not with this size.
    #[error("{0}")]
    Program(#[from] corpus::NameError),
    /// A file that another command wrote is of no use.
    #[error("{0}")]
    Stored(#[from] StoredFileError),
    /// What is verified is the program that will be run.
    #[error("{}: this is a source; build the program that will be run with `mazurka cc` or `mazurka c++`, and verify that", .0.display())]
    NotBuilt(PathBuf),
    /// The program is not the one that was verified.
    #[error("{}: this is not the program that {} was verified for, its content is another one; verify it again", path.display(), trace.display())]
    OtherProgram {
        /// The program.
        path: PathBuf,
        /// The safe trace.
        trace: PathBuf,
    },
    /// What is explored is another program.
    #[error("the schedule is one of {other}, not of {program}")]
    ScheduleOfOther {
        /// The program.
        program: String,
        /// The one of the schedule.
        other: String,
    },
    /// Executions at the same time would share the files that the program writes.
    #[error(
        "the search runs, and this program may write files, which both would share: wait until the search has ended"
    )]
    Searching,
    /// The record is of a run of another program.
    #[error("{}: this is no record of the program that {} was verified for, or of another version of it; give the safe trace that the run was under", record.display(), trace.display())]
    OtherRecord {
        /// The record.
        record: PathBuf,
        /// The safe trace.
        trace: PathBuf,
    },
    /// The program calls something that cannot be enforced.
    #[error("{}: this program calls {function}, which cannot be enforced; it runs only without `mazurka run`", path.display())]
    NotEnforced {
        /// The program.
        path: PathBuf,
        /// The function.
        function: &'static str,
    },
    /// Nothing is known about these inputs.
    #[error("{0}; verify them, or run without enforcement by --unverified-inputs run-free")]
    UnverifiedInputs(String),
    /// An input has one value, or one range of them.
    #[error("--input {name} is given twice, with {} and {}; give it once", values[0], values[1])]
    InputTwice {
        /// The input.
        name: String,
        /// What is given.
        values: [String; 2],
    },
    /// The value of an input in the environment is of no use.
    #[error(
        "{variable} in the environment is {value:?}, which is no number; correct it, unset it, or use --input"
    )]
    NoNumber {
        /// The variable.
        variable: String,
        /// What it holds.
        value: String,
    },
    /// There are too many values of inputs.
    #[error(
        "with the input {input} there are more than {most} combinations of values; declare a smaller range"
    )]
    Inputs {
        /// The input that makes them too many.
        input: String,
        /// The most that are verified.
        most: usize,
    },
    /// The schedule file is of a program that is not in the corpus.
    #[error("{}: it is a schedule of {program:?}, which `mazurka list` does not know; replay it in the test that wrote it, with Checker::replay", path.display())]
    ForeignSchedule {
        /// The schedule file.
        path: PathBuf,
        /// The program that it names.
        program: String,
    },
    /// The schedule file is of a program in machine code, and does not say which.
    #[error("{}: this schedule names no file of its program; check the program again to get a new one", .0.display())]
    Recipe(PathBuf),
    /// The schedule file may be a stranger's, and says how to build its program.
    #[error("{}: {part} in this schedule could run any command; it asks for `{recipe}`: if you trust that, add --trust-recipe", path.display())]
    ForeignRecipe {
        /// The schedule file.
        path: PathBuf,
        /// What is not known to be harmless.
        part: String,
        /// All of it.
        recipe: String,
    },
    /// An option has no meaning for this kind of program.
    #[error("{option}: {why}")]
    Option {
        /// The option.
        option: &'static str,
        /// What it is for.
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
        /// Why not.
        error: native::BuildError,
    },
    /// A program cannot be checked.
    #[error("{0}")]
    Binary(#[from] native::BinaryError),
    /// The process that checked a program refused to.
    #[error("{program}: {reason}")]
    Worker {
        /// The program.
        program: String,
        /// What it said.
        reason: String,
    },
    /// The process that checked a program ended without a result.
    #[error(
        "{program}: the process that checked it ended with {ended} and told no result; the program may have destroyed the checker's memory, or there was not enough of it: run it by itself, or with valgrind, to see"
    )]
    WorkerEnded {
        /// The program.
        program: String,
        /// How it ended.
        ended: String,
    },
    /// A server did not do what it should.
    #[error("{0}")]
    Cluster(#[from] cluster::ClusterError),
    /// There is no such job at the server.
    #[error("{0}: there is no such job at the server, perhaps no more; `mazurka jobs` lists them")]
    NoJob(String),
    /// Workers do jobs of their own version only.
    #[error(
        "no worker of this version of mazurka ({own}) is at the server, but of others ({others}); have the same file of mazurka everywhere"
    )]
    OtherVersion {
        /// Of this command.
        own: String,
        /// Of the workers.
        others: String,
    },
    /// Whoever may submit jobs would be root here.
    #[error(
        "whoever may submit jobs runs programs on workers, and this worker runs as root; start it as another user, or with --as-root"
    )]
    Root,
    /// The search could not be done.
    #[error("{program}: {error}")]
    Check {
        /// The program.
        program: String,
        /// Why not.
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
        /// What the system said.
        error: io::Error,
    },
    /// There is no such command, of which the manual could have a page.
    #[error("{0}: there is no such command; see `mazurka --help`")]
    NoCommand(String),
    /// A file of suppressions cannot be used.
    #[error("{}: {reason}", path.display())]
    Suppressions {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A file would be written over a directory.
    #[error("{}: this is a directory; choose a file to write to", .0.display())]
    Directory(PathBuf),
    /// A pipe would be written that nothing reads.
    #[error("{}: cannot write to this pipe: {error}; start its reader first, or choose a file", path.display())]
    Pipe {
        /// The pipe.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// A source is a device, a pipe or the like.
    #[error("{}: this is no regular file; give a source file", .0.display())]
    NoSource(PathBuf),
    /// A source is missing.
    #[error("{}: there is no such file; give a source file", .0.display())]
    MissingSource(PathBuf),
    /// A checkpoint would take the place of a device, a pipe or a directory.
    #[error("{}: this is no file that a checkpoint may replace; choose another place", .0.display())]
    NoFile(PathBuf),
    /// A schedule would overwrite a checkpoint.
    #[error("{}: the schedule of a bug would overwrite this checkpoint; choose another --output, or --no-output", .0.display())]
    SameFile(PathBuf),
    /// Two options name one file.
    #[error("{}: another option names this file, too; give each a file of its own", .0.display())]
    NamedTwice(PathBuf),
    /// The system refuses something.
    #[error("cannot {what}: {error}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system says.
        error: io::Error,
    },
    /// A process that was started for a comparison did not tell its result.
    #[error(
        "{program} with {algorithm}: the process that searched ended with {ended}; run `mazurka check {program} --algorithm {algorithm}` to see why"
    )]
    NoResult {
        /// The program.
        program: String,
        /// The algorithm.
        algorithm: explore::Algorithm,
        /// How it ended.
        ended: String,
    },
}

impl Refusal {
    /// The process that checks a program has ended without an error and without a result.
    pub fn ended_by_itself(program: &str) -> Refusal {
        Refusal::Worker {
            program: program.to_owned(),
            reason: "the program has ended its process with exit status 0 past the C library, or became another program; this cannot be checked".to_owned(),
        }
    }
}
