//! Simulated efficiency of up to 10,000 workers, from measured slices of three programs. A *slice*
//! is a small piece of a search, which one worker runs without a break. When it ends, it may give
//! away *parts* of the work that is left.
//!
//! `cargo bench -p mazurka-corpus --bench many_machines`; `MAZURKA_PLOT=FILE` draws a plot.
//!
//! The simulation replays the measured slices with slower executions, so that the search takes a
//! core-hour or a core-month. The first slice takes a second, in which the strategy learns its
//! heuristics. Only then are parts given away. The other slices run as in `mazurka worker`: a
//! worker delivers a result, waits until the server has the result, and asks for the next slice.
//! The leader takes many results and gives out many slices at once. Slices are so long that this
//! work takes a quarter of the leader's time.

use mazurka::{Checker, Measured};
use plotters::prelude::*;
use simulation::{Cluster, Outcome, Search, simulate};
use std::collections::BTreeMap;

mod simulation;

const PROGRAMS: [&str; 3] = ["fib-bench:6", "mutex:3,5", "linuxrwlocks:6"];

/// Number of executions in a measured slice.
const EXECUTIONS: u64 = 1;

/// Durations of the searches with one worker, in seconds.
const LENGTHS: [(&str, f64); 2] = [("core-hour", 3600.0), ("core-month", 30.0 * 24.0 * 3600.0)];

/// One-way latencies between a client and the server, in seconds.
const LATENCIES: [f64; 3] = [0.001, 0.010, 0.050];

const WORKERS: [usize; 9] = [1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000];

/// Greatest wall time in seconds: searches that take longer are not simulated.
const LONGEST: f64 = 10.0 * 3600.0;

/// Number of parts that a measured slice gives away.
const PARTS: u32 = 2;

fn main() {
    let mut curves: BTreeMap<(String, u32), Vec<(f64, f64)>> = BTreeMap::new();
    for name in PROGRAMS {
        let program = corpus::parse(name).expect("the corpus has it").program();
        let slices = Checker::new()
            .measured(EXECUTIONS, PARTS, program)
            .expect("the corpus can be searched");
        let search = Search::of(&slices);
        println!("{name}: {}", described(&slices));
        println!(
            "search      latency  workers  efficiency  wall (s)  slice (s)  messages/s  leading"
        );
        for (length, seconds) in LENGTHS {
            for latency in LATENCIES {
                let enough = |&workers: &usize| seconds / workers as f64 <= LONGEST;
                for workers in WORKERS.into_iter().filter(enough) {
                    let cluster = Cluster::of(workers, latency);
                    let outcome = simulate(&search, seconds, &cluster);
                    row(length, latency, workers, &outcome);
                    let label = format!("{length}, {name}");
                    let curve = curves.entry((label, (latency * 1e3) as u32)).or_default();
                    curve.push((workers as f64, 100.0 * outcome.efficiency));
                }
            }
        }
    }
    if let Ok(file) = std::env::var("MAZURKA_PLOT") {
        plot(&file, &curves).expect("the plot is drawn");
    }
}

fn described(slices: &[Measured]) -> String {
    let executions: u64 = slices.iter().map(|slice| slice.executions).sum();
    let seconds: f64 = slices.iter().map(|slice| slice.took_s).sum();
    format!(
        "{executions} executions in {} slices, {seconds:.1} s",
        slices.len()
    )
}

fn row(length: &str, latency: f64, workers: usize, outcome: &Outcome) {
    println!(
        "{length:<10} {:>5} ms  {workers:>7}  {:>8.1} %  {:>8.1}  {:>9.2}  {:>10.0}  {:>5.1} %",
        latency * 1e3,
        100.0 * outcome.efficiency,
        outcome.wall_s,
        outcome.slice_s,
        outcome.messages / outcome.wall_s,
        100.0 * outcome.leading_s / outcome.wall_s,
    );
}

/// Plots the efficiency by number of workers, per program and length, at the middle latency.
fn plot(
    file: &str,
    curves: &BTreeMap<(String, u32), Vec<(f64, f64)>>,
) -> Result<(), Box<dyn std::error::Error>> {
    let root = SVGBackend::new(file, (930, 480)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .margin(16)
        .margin_right(32)
        .x_label_area_size(40)
        .y_label_area_size(56)
        .build_cartesian_2d((1.0..10_000.0).log_scale(), 0.0..100.0)?;
    chart
        .configure_mesh()
        .x_desc("workers")
        .y_desc("efficiency (%), 10 ms between a client and the server")
        .light_line_style(TRANSPARENT)
        .draw()?;
    let middle = curves.iter().filter(|((_, latency), _)| *latency == 10);
    for (index, ((label, _), points)) in middle.enumerate() {
        let color = Palette99::pick(index).to_rgba();
        chart
            .draw_series(LineSeries::new(
                points.iter().copied(),
                color.stroke_width(2),
            ))?
            .label(label)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], color.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerLeft)
        .background_style(WHITE)
        .border_style(BLACK)
        .draw()?;
    root.present()?;
    Ok(())
}
