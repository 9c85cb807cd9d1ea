//! The cost of enforcing the verified schedules of programs in C: `cargo build --release && cargo
//! bench -p mazurka-cli --bench enforcement`.
//!
//! The programs are those of Metzler, Saissi, Bokor and Suri, rewritten (`safe/`). Each is compiled
//! without and with hooks, and both versions are run in pairs. The median and the quartiles of the
//! ratio of their times are printed, for prefixes with all constraints down to none. Verification
//! starts from an execution in which few threads wait. Names after `--` select programs. The
//! environment variable `PAIRS` sets the number of pairs (default 1,000), and `PLOT` names a file
//! for a picture.

use plotters::prelude::*;
use serde_json::Value;
use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Minimum duration of a run in nanoseconds.
const LONG_ENOUGH: u64 = 10_000_000;

/// A program, and its published overhead.
struct Program {
    name: &'static str,
    published: &'static str,
}

const PROGRAMS: [Program; 8] = [
    Program {
        name: "bigshot",
        published: "5 % with 1",
    },
    Program {
        name: "dekker",
        published: "4 %",
    },
    Program {
        name: "fibonacci",
        published: "13 % with 98",
    },
    Program {
        name: "lamport",
        published: "12 to 13 %",
    },
    Program {
        name: "peterson",
        published: "8 % with 28",
    },
    Program {
        name: "shared-pointer",
        published: "22 % with 3",
    },
    Program {
        name: "indexer",
        published: "2,692 % with 12, 48 % with 9 (optimized), 61 % with 2",
    },
    Program {
        name: "lastzero",
        published: "4,288 % with 15, 94 % with 15 (optimized), 8 % with 1",
    },
];

/// The slowdown of runs under constraints, in percent.
struct Overhead {
    constraints: usize,
    /// The number of constraints relative to that of the first execution.
    part: f64,
    quartiles: [f64; 3],
}

fn main() -> Result<(), Box<dyn Error>> {
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let pairs: usize = match std::env::var("PAIRS") {
        Ok(pairs) => pairs.parse()?,
        Err(_) => 1000,
    };
    let names: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    let chosen =
        |program: &&Program| names.is_empty() || names.iter().any(|name| name == program.name);
    let folder = tempfile::tempdir()?;
    let mut measured = Vec::new();
    println!(
        "| program | constraints | overhead: median (quartiles) | published |\n| --- | --- | --- | --- |"
    );
    for program in PROGRAMS.iter().filter(chosen) {
        let built = Built::new(program, folder.path())?;
        let overheads = built.measure(pairs)?;
        for overhead in &overheads {
            let [low, median, high] = overhead.quartiles;
            println!(
                "| {} | {} | {median:.1} % ({low:.1} to {high:.1} %) | {} |",
                program.name, overhead.constraints, program.published
            );
        }
        measured.push((program.name, overheads));
    }
    if let Ok(path) = std::env::var("PLOT") {
        plot(Path::new(&path), &measured)?;
    }
    Ok(())
}

/// A program that is compiled with and without hooks.
struct Built {
    plain: PathBuf,
    hooked: PathBuf,
    trace: PathBuf,
}

impl Built {
    fn new(program: &Program, folder: &Path) -> Result<Built, Box<dyn Error>> {
        let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let source = crate_folder.join(format!("benches/safe/{}.c", program.name));
        let include = format!("-I{}", crate_folder.join("../../include").display());
        let built = Built {
            plain: folder.join(format!("{}-plain", program.name)),
            hooked: folder.join(program.name),
            trace: folder.join(format!("{}.trace", program.name)),
        };
        let flags = ["-O2", "-fno-plt", "-pthread", &include];
        let mut with_hooks = mazurka();
        with_hooks.arg("cc");
        for (mut compiler, output) in [
            (Command::new("cc"), &built.plain),
            (with_hooks, &built.hooked),
        ] {
            compiler.args(flags).arg(&source).arg("-o").arg(output);
            done(&mut compiler)?;
        }
        Ok(built)
    }

    /// Measures with all constraints, then with three quarters, half and a quarter of them, and
    /// with none, as far as one minute of verification gets each time.
    fn measure(&self, pairs: usize) -> Result<Vec<Overhead>, Box<dyn Error>> {
        let all = self.verify(usize::MAX)?;
        let wanted: BTreeSet<usize> = (0..=4).map(|quarter| all * quarter / 4).collect();
        let mut overheads: Vec<Overhead> = Vec::new();
        for most in wanted.into_iter().rev() {
            let constraints = self.verify(most)?;
            if overheads
                .last()
                .is_some_and(|last| last.constraints == constraints)
            {
                continue;
            }
            overheads.push(Overhead {
                constraints,
                part: constraints as f64 / all.max(1) as f64,
                quartiles: self.quartiles(pairs)?,
            });
        }
        Ok(overheads)
    }

    /// Verifies until at most `most` constraints are left, or for a minute. Returns the number of
    /// constraints that are left.
    fn verify(&self, most: usize) -> Result<usize, Box<dyn Error>> {
        let mut command = mazurka();
        command.args(["verify", "--format", "json", "--stop-when", "time=60s"]);
        command.args(["--stop-when", &format!("constraints={most}")]);
        command.args(["--prefer", "few-waiting"]);
        command.arg("-o").arg(&self.trace).arg(&self.hooked);
        let output = command.output()?;
        let result: Value = serde_json::from_slice(&output.stdout)?;
        let constraints = result["cases"][0]["constraints"].as_array();
        constraints
            .map(Vec::len)
            .ok_or_else(|| "nothing was verified".into())
    }

    fn quartiles(&self, pairs: usize) -> Result<[f64; 3], Box<dyn Error>> {
        let mut repeat = 10;
        while self.run_plain(repeat)? < LONG_ENOUGH {
            repeat *= 2;
        }
        let mut overheads = Vec::new();
        for _ in 0..pairs {
            let enforced = self.run_enforced(repeat)?;
            let plain = self.run_plain(repeat)?;
            overheads.push((enforced as f64 / plain as f64 - 1.0) * 100.0);
        }
        overheads.sort_by(f64::total_cmp);
        Ok([1, 2, 3].map(|quarter| overheads[(overheads.len() - 1) * quarter / 4]))
    }

    fn run_plain(&self, repeat: u32) -> Result<u64, Box<dyn Error>> {
        taken(Command::new(&self.plain).env("REPEAT", repeat.to_string()))
    }

    fn run_enforced(&self, repeat: u32) -> Result<u64, Box<dyn Error>> {
        let mut command = mazurka();
        command
            .arg("run")
            .arg("--safe")
            .arg(&self.trace)
            .arg(&self.hooked);
        taken(command.env("REPEAT", repeat.to_string()))
    }
}

fn mazurka() -> Command {
    Command::new(env!("CARGO_BIN_EXE_mazurka"))
}

/// Returns the nanoseconds that a program prints.
fn taken(command: &mut Command) -> Result<u64, Box<dyn Error>> {
    Ok(done(command)?.trim().parse()?)
}

/// Returns the output of a command; an error if it fails.
fn done(command: &mut Command) -> Result<String, Box<dyn Error>> {
    let output = command.output()?;
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout)?),
        false => Err(String::from_utf8_lossy(&output.stderr).into()),
    }
}

fn plot(path: &Path, measured: &[(&str, Vec<Overhead>)]) -> Result<(), Box<dyn Error>> {
    let points = measured.iter().flat_map(|(_, overheads)| overheads);
    let highest = points
        .map(|overhead| overhead.quartiles[1])
        .fold(10.0, f64::max);
    let area = SVGBackend::new(path, (720, 420)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(56)
        .build_cartesian_2d(0.0..100.0, -10.0..highest * 1.1)?;
    chart
        .configure_mesh()
        .x_desc("constraints that are left (%)")
        .y_desc("overhead (%)")
        .draw()?;
    for (index, (name, overheads)) in measured.iter().enumerate() {
        let colour = Palette99::pick(index).mix(0.9);
        let points = overheads
            .iter()
            .map(|overhead| (overhead.part * 100.0, overhead.quartiles[1]));
        chart
            .draw_series(LineSeries::new(points, colour.stroke_width(2)))?
            .label(*name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.4))
        .draw()?;
    area.present()?;
    Ok(())
}
