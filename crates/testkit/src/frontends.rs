//! Checks the C front-end on random programs against three oracles: an interpreter that enumerates
//! their behaviour, real runs with noise, and checks with shortcuts switched off.
//!
//! `frontends --programs 1000 [--seed S] [--compiler gcc]`; needs `mazurka` and its library.

#![forbid(unsafe_code)]

#[path = "frontends/check.rs"]
mod check;
#[path = "frontends/compare.rs"]
mod compare;

use check::{Compiled, Tools, Way};
use clap::Parser;
use compare::Difference;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use testkit::c_program::machine::{Behaviour, behaviour, has_unordered_accesses};
use testkit::c_program::smaller::smallest;
use testkit::c_program::{CProgram, random, source};
use testkit::random::Random;

/// Compares the C front-end with an interpreter and with real runs on random programs.
#[derive(Parser)]
struct Arguments {
    /// Number of programs.
    #[arg(long, default_value_t = 400)]
    programs: u64,
    /// Seed, to repeat a run.
    #[arg(long)]
    seed: Option<u64>,
    /// Only these compilers; by default gcc and clang, if installed.
    #[arg(long, value_delimiter = ',')]
    compiler: Vec<String>,
    /// Only this language; by default every second pair of batches is C++.
    #[arg(long, value_delimiter = ',', default_value = "c,c++")]
    language: Vec<String>,
    /// The command `mazurka`.
    #[arg(long, default_value = "target/release/mazurka")]
    mazurka: PathBuf,
    /// Number of programs in one executable.
    #[arg(long, default_value_t = 40)]
    batch: u64,
    /// Number of real runs of each program.
    #[arg(long, default_value_t = 200)]
    runs: u32,
    /// Leave out programs with more states.
    #[arg(long, default_value_t = 20_000)]
    states: usize,
    /// End checks after this number of executions, without comparing them.
    #[arg(long, default_value_t = 3000)]
    executions: u64,
    /// Number of ways to check each program, besides the default one.
    #[arg(long, default_value_t = 1)]
    ways: usize,
    /// Number of batches processed at the same time.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Folder for programs with differences, made smaller.
    #[arg(long)]
    keep: Option<PathBuf>,
    /// Continue after a difference.
    #[arg(long)]
    keep_going: bool,
    /// Only programs with this theme.
    #[arg(long)]
    theme: Option<String>,
    /// Compile all batches with `-O2`, or with `-O0` if the level is 0; by default, they alternate.
    #[arg(long, value_name = "LEVEL")]
    level: Option<u8>,
    /// Show a difference as it is found, without making the program smaller.
    #[arg(long)]
    quick: bool,
    /// Only print the source of the batches.
    #[arg(long)]
    print: bool,
    /// Ignore differences that begin with one of these words.
    #[arg(long, value_delimiter = ',')]
    ignore: Vec<String>,
    /// Leave out programs whose source has one of these words.
    #[arg(long, value_delimiter = ',')]
    mask: Vec<String>,
}

fn main() -> ExitCode {
    let mut arguments = Arguments::parse();
    if arguments.compiler.is_empty() {
        arguments.compiler = installed_compilers();
    }
    if arguments.compiler.is_empty() {
        eprintln!(
            "error: neither gcc nor clang is installed; install one, or name one with --compiler"
        );
        return ExitCode::from(2);
    }
    let seed = arguments.seed.unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        now.expect("the clock is past 1970").as_nanos() as u64
    });
    println!("seed {seed}");
    let theme = match arguments.theme.as_deref().map(theme).transpose() {
        Ok(theme) => theme,
        Err(mistake) => {
            eprintln!("error: {mistake}");
            return ExitCode::from(2);
        }
    };
    let hunt = Hunt {
        theme,
        next: AtomicU64::new(0),
        tally: Mutex::default(),
        differences: AtomicU64::new(0),
        start: Instant::now(),
        seed,
        arguments,
    };
    let failed = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..hunt.arguments.jobs)
            .map(|_| scope.spawn(|| hunt.work()))
            .collect();
        let results = workers.into_iter().map(|worker| worker.join());
        results
            .filter_map(|result| result.unwrap_or_else(|_| Some("a worker panicked".to_owned())))
            .next()
    });
    hunt.show();
    if let Some(failed) = failed {
        eprintln!("error: {failed}");
        return ExitCode::from(2);
    }
    match hunt.differences.load(Relaxed) {
        0 => {
            println!("no difference; seed {seed}");
            ExitCode::SUCCESS
        }
        differences => {
            println!("{differences} differences; seed {seed}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the installed compilers among gcc and clang.
fn installed_compilers() -> Vec<String> {
    let runs = |name: &&str| Command::new(name).arg("--version").output().is_ok();
    let compilers = ["gcc", "clang"].into_iter().filter(runs);
    compilers.map(str::to_owned).collect()
}

/// Returns the theme with this name.
fn theme(name: &str) -> Result<random::Theme, String> {
    let mut all = random::THEMES.into_iter();
    let unknown = || {
        format!(
            "there is no theme {name:?}; the themes are {:?}",
            random::THEMES
        )
    };
    all.find(|theme| format!("{theme:?}") == name)
        .ok_or_else(unknown)
}

struct Hunt {
    arguments: Arguments,
    theme: Option<random::Theme>,
    seed: u64,
    /// Number of the next program.
    next: AtomicU64,
    tally: Mutex<BTreeMap<String, u64>>,
    differences: AtomicU64,
    start: Instant,
}

/// A program with its possible behaviour.
struct Subject {
    number: u64,
    program: CProgram,
    behaviour: Behaviour,
}

/// Checks whether a bug of libstdc++ before 13 may occur: a semaphore may sleep although it has a
/// permit, or spin until its deadline, because it uses a count that was read before spinning
/// (<https://gcc.gnu.org/PR104928>).
fn may_sleep(tools: &Tools<'_>, subject: &Subject) -> bool {
    tools.is_cpp && !subject.program.semaphores.is_empty()
}

/// Checks whether a signalled timed wait of C++ can be late by the clock, because its thread or the
/// signalling thread has already waited until the same deadline. The interpreter has no clock.
fn detects_lateness_by_clock(tools: &Tools<'_>, subject: &Subject) -> bool {
    tools.is_cpp && subject.program.has_timed_wait()
}

impl Hunt {
    /// Processes batches until no batch is left. Returns an error that prevents this.
    fn work(&self) -> Option<String> {
        let folder = match tempfile::tempdir() {
            Ok(folder) => folder,
            Err(error) => return Some(error.to_string()),
        };
        loop {
            let first = self.next.fetch_add(self.arguments.batch, Relaxed);
            let is_over = self.differences.load(Relaxed) > 0 && !self.arguments.keep_going;
            if first >= self.arguments.programs || is_over {
                return None;
            }
            let last = (first + self.arguments.batch).min(self.arguments.programs);
            let subjects: Vec<Subject> = (first..last)
                .filter_map(|number| self.subject(number))
                .collect();
            if self.arguments.print {
                let programs: Vec<CProgram> = subjects
                    .iter()
                    .map(|subject| subject.program.clone())
                    .collect();
                println!("{}", source::source(&programs));
                continue;
            }
            let is_confined = |subject: &Subject| !subject.program.calls_by_number();
            let (confined, others) = subjects.into_iter().partition::<Vec<_>, _>(is_confined);
            let languages = &self.arguments.language;
            let turn = (first / self.arguments.batch / 2) as usize % languages.len();
            let is_cpp = languages[turn] == "c++";
            for compiler in &self.arguments.compiler {
                let optimizes = match self.arguments.level {
                    Some(level) => level > 0,
                    None => first / self.arguments.batch % 2 == 1,
                };
                let tools = Tools {
                    mazurka: &self.arguments.mazurka,
                    compiler: &match is_cpp {
                        true => compiler.replace("gcc", "g++").replace("clang", "clang++"),
                        false => compiler.clone(),
                    },
                    is_cpp,
                    optimizes,
                    folder: folder.path(),
                    executions: self.arguments.executions,
                };
                for executable in [&confined, &others] {
                    if let Err(problem) = self.batch(&tools, executable) {
                        self.differences.fetch_add(1, Relaxed);
                        println!(
                            "programs {first} to {last}, {compiler}, {}: {problem}",
                            languages[turn]
                        );
                    }
                }
            }
            if first / self.arguments.batch % 10 == 9 {
                self.show();
            }
        }
    }

    fn subject(&self, number: u64) -> Option<Subject> {
        let mut random = Random::new(self.seed.wrapping_add(number));
        let program = random::program(&mut random, self.theme);
        if !self.arguments.mask.is_empty() {
            let text = source::body(&program);
            let mut mask = self.arguments.mask.iter();
            if mask.any(|word| text.contains(word.as_str())) {
                self.count("masked");
                return None;
            }
        }
        let behaviour = behaviour(&program, self.arguments.states, 0);
        if behaviour.is_none() {
            self.count("too many states");
        }
        Some(Subject {
            number,
            program,
            behaviour: behaviour?,
        })
    }

    fn count(&self, what: &str) {
        let mut tally = self
            .tally
            .lock()
            .unwrap_or_else(|poison| poison.into_inner());
        *tally.entry(what.to_owned()).or_default() += 1;
    }

    fn batch(&self, tools: &Tools<'_>, subjects: &[Subject]) -> Result<(), String> {
        if subjects.is_empty() {
            return Ok(());
        }
        let programs: Vec<CProgram> = subjects
            .iter()
            .map(|subject| subject.program.clone())
            .collect();
        let compiled = tools.compile("batch", &source::source(&programs))?;
        let is_sane = |Subject { behaviour, .. }: &Subject| {
            !behaviour.has_race && !behaviour.has_race_of_objects && !behaviour.has_deadlock
        };
        // Objects of the C++ library must not be destroyed as early as POSIX allows.
        let fits = |Subject { program, .. }: &Subject| match tools.is_cpp {
            true => !program.has_crowded_barrier() && !program.renews(),
            false => !program.has_std_lock(),
        };
        for (index, subject) in subjects.iter().enumerate() {
            if !fits(subject) {
                continue;
            }
            if self.arguments.quick
                && !self.arguments.keep_going
                && self.differences.load(Relaxed) > 0
            {
                return Ok(());
            }
            self.count(&format!("programs with {}", tools.compiler));
            for kind in [
                subject.behaviour.has_race.then_some("with a race"),
                subject
                    .behaviour
                    .has_race_of_objects
                    .then_some("that destroy objects in use"),
                subject.behaviour.has_deadlock.then_some("with a deadlock"),
                is_sane(subject).then_some("that are correct"),
            ] {
                kind.into_iter().for_each(|kind| self.count(kind));
            }
            for way in self.ways(tools, subject) {
                match self.differs(tools, (&compiled, index), subject, &way) {
                    Ok(kind) => self.count(kind),
                    Err(Difference(text))
                        if self
                            .arguments
                            .ignore
                            .iter()
                            .any(|word| text.starts_with(word)) =>
                    {
                        self.count("ignored differences");
                        break;
                    }
                    Err(difference) => {
                        // A difference due to machine load is shown, but not made smaller.
                        match self.differs(tools, (&compiled, index), subject, &way) {
                            Ok(_) => self.show_once(tools, subject, &way, &difference),
                            Err(_) => self.report(tools, subject, Some(&way), difference),
                        }
                        break;
                    }
                }
            }
        }
        let real: Vec<usize> = (0..subjects.len())
            .filter(|&index| is_sane(&subjects[index]) && fits(&subjects[index]))
            .filter(|&index| !subjects[index].behaviour.waits_for_time)
            .filter(|&index| !may_sleep(tools, &subjects[index]))
            .collect();
        let runs = tools.run(&compiled, &real, self.arguments.runs, self.seed)?;
        for (index, outcomes) in real.iter().zip(runs) {
            let subject = &subjects[*index];
            self.count("run for real");
            if let Some(outcome) = outcomes.difference(&subject.behaviour.outcomes).next() {
                let difference = Difference(format!(
                    "a real run ends with {outcome}, which the semantics does not allow"
                ));
                self.report(tools, subject, None, difference);
            }
        }
        Ok(())
    }

    /// Returns the default way and random ways.
    fn ways(&self, tools: &Tools<'_>, subject: &Subject) -> Vec<Way> {
        let compiler = u64::from(tools.compiler.starts_with('c'));
        let mut random = Random::new(self.seed.wrapping_add(subject.number) << 1 | compiler);
        let others = (0..self.arguments.ways).map(|_| Way::random(&mut random, tools.optimizes));
        std::iter::once(Way::default()).chain(others).collect()
    }

    fn differs(
        &self,
        tools: &Tools<'_>,
        (compiled, index): (&Compiled, usize),
        subject: &Subject,
        way: &Way,
    ) -> Result<&'static str, Difference> {
        let states = self.arguments.states;
        let Some(behaviour) = behaviour(&subject.program, states, way.spurious) else {
            return Ok("checks of too many states");
        };
        let checked = match tools.check(compiled, index, way) {
            Err(text) if way.memory.is_some() && text.contains("choose the memory model sc") => {
                return Ok("programs that the memory model refuses");
            }
            checked => checked.map_err(Difference)?,
        };
        let found = compare::compare(&behaviour, &checked, way, tools.optimizes);
        // Searching for accesses that are never adjacent takes many states.
        let is_race = |difference: &Difference| difference.0.starts_with(compare::FALSE_RACE);
        let only_objects = way.interleaves_plain;
        if found.as_ref().is_err_and(is_race) && (!only_objects || subject.program.renews()) {
            let most = 20 * self.arguments.states;
            if has_unordered_accesses(&subject.program, only_objects, most) == Some(true) {
                return Ok("checks that find a race between accesses that are never adjacent");
            }
        }
        match found {
            Err(found) if may_sleep(tools, subject) && found.waits_for_ever() => {
                Ok("checks that find the lost wakeup of std::counting_semaphore")
            }
            Err(found) if detects_lateness_by_clock(tools, subject) && found.misses_outcome() => {
                Ok("partly compared checks of timed waits of C++")
            }
            found => found,
        }
    }

    /// Shows a difference that did not occur again when the check was repeated.
    fn show_once(&self, tools: &Tools<'_>, subject: &Subject, way: &Way, difference: &Difference) {
        self.count("differences that were seen only once");
        let level = if tools.optimizes { "-O2" } else { "-O0" };
        println!(
            "seen once: program {} of seed {}, {} {level}, {}: {difference}",
            subject.number,
            self.seed,
            tools.compiler,
            way.options()
        );
    }

    /// Shows a difference, in a smaller program if a smaller program also has it.
    fn report(
        &self,
        tools: &Tools<'_>,
        subject: &Subject,
        way: Option<&Way>,
        difference: Difference,
    ) {
        self.differences.fetch_add(1, Relaxed);
        let level = if tools.optimizes { "-O2" } else { "-O0" };
        let options = way.map_or_else(|| "a real run".to_owned(), Way::options);
        let title = format!(
            "program {} of seed {}, {} {level}, {options}: {difference}",
            subject.number, self.seed, tools.compiler
        );
        println!("{title}");
        if self.arguments.quick {
            return;
        }
        let mut tries = 0;
        let mut last = difference;
        let small = smallest(&subject.program, |smaller| {
            tries += 1;
            let Some(way) = way.filter(|_| tries <= 40) else {
                return false;
            };
            let Some(behaviour) = behaviour(smaller, self.arguments.states, 0) else {
                return false;
            };
            let Ok(compiled) =
                tools.compile("smaller", &source::source(std::slice::from_ref(smaller)))
            else {
                return false;
            };
            let smaller = Subject {
                number: subject.number,
                program: smaller.clone(),
                behaviour,
            };
            match self.differs(tools, (&compiled, 0), &smaller, way) {
                Err(difference) if difference.is_like(&last) => {
                    last = difference;
                    true
                }
                _ => false,
            }
        });
        let text = format!("/* {title}\n   {last}\n */\n{}", source::source(&[small]));
        match &self.arguments.keep {
            Some(folder) => {
                let file = folder.join(format!(
                    "{}-{}-{}.{}",
                    self.seed,
                    subject.number,
                    tools.compiler,
                    tools.extension()
                ));
                match fs::create_dir_all(folder).and_then(|()| fs::write(&file, text)) {
                    Ok(()) => println!("    see {}", file.display()),
                    Err(error) => println!("    cannot write {}: {error}", file.display()),
                }
            }
            None => println!("{text}"),
        }
    }

    fn show(&self) {
        let tally = self
            .tally
            .lock()
            .unwrap_or_else(|poison| poison.into_inner());
        let parts: Vec<String> = tally
            .iter()
            .map(|(what, number)| format!("{number} {what}"))
            .collect();
        let seconds = self.start.elapsed().as_secs();
        println!("{} s: {}", seconds, parts.join(", "));
    }
}
