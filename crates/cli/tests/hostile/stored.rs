//! Modified schedules, safe traces and records with a valid checksum.

use crate::random::{Random, seeds};
use enforce::Plan;
use mazurka::Checker;
use report::{
    Case, Choice, Condition, Constraint, Described, Input, Inputs, Point, Recorded, Recording,
    SafeTrace, ScheduleFile,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The number of files for each kind and seed.
const FILES: usize = 200;

/// Returns the number of values in this value, including itself.
fn size(value: &Value) -> usize {
    1 + match value {
        Value::Array(values) => values.iter().map(size).sum(),
        Value::Object(values) => values.values().map(size).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// Returns the value with this index, counted in depth-first order.
fn nth(value: &mut Value, mut place: usize) -> &mut Value {
    if place == 0 {
        return value;
    }
    place -= 1;
    let below: Vec<&mut Value> = match value {
        Value::Array(values) => values.iter_mut().collect(),
        Value::Object(values) => values.values_mut().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    for value in below {
        let size = size(value);
        if place < size {
            return nth(value, place);
        }
        place -= size;
    }
    unreachable!("the place is among those below")
}

fn mutate(random: &mut Random, value: &mut Value) {
    for _ in 0..=random.below(3) {
        let (one, other) = (random.below(size(value)), random.below(size(value)));
        let copy = nth(value, other).clone();
        let changed = nth(value, one);
        let texts = [
            "",
            "0",
            "0.65535",
            "0.60000.60000",
            "0.4294967296",
            "0.0.0.0.0",
            "merged 0#0/1 0#1/1",
            "tried 0#65535/255",
            "merged 0 0",
            "\u{1b}[2J",
            "../../x",
            "Store",
            "heap@0+1",
        ];
        let numbers = [
            0,
            1,
            2,
            255,
            65_535,
            u64::from(u32::MAX),
            i64::MAX as u64,
            u64::MAX,
        ];
        match (&mut *changed, random.below(5)) {
            (_, 0) => *changed = copy,
            (Value::Array(values), 1) => values.truncate(random.below(values.len() + 1)),
            (Value::Array(values), _) if !values.is_empty() => {
                let again = values[random.below(values.len())].clone();
                values.insert(random.below(values.len()), again);
            }
            (Value::Bool(is_so), _) => *is_so = !*is_so,
            (Value::String(_), _) => *changed = json!(texts[random.below(texts.len())]),
            (Value::Number(_), 1) => *changed = json!(-1 - random.below(5) as i64),
            (Value::Number(_), _) => *changed = json!(numbers[random.below(numbers.len())]),
            (Value::Null | Value::Array(_) | Value::Object(_), _) => {
                *changed = json!(random.below(3))
            }
        }
    }
}

/// Changes a file in many ways. Files that still parse are passed to `used`.
fn change<T: serde::Serialize + DeserializeOwned>(file: &T, mut used: impl FnMut(T)) {
    let value = serde_json::to_value(file).unwrap();
    let mut all = 0;
    for seed in seeds() {
        let mut random = Random(seed);
        let mut number = 0;
        while number < FILES {
            let mut changed = value.clone();
            mutate(&mut random, &mut changed);
            let Ok(file) = serde_json::from_value(changed.clone()) else {
                continue;
            };
            number += 1;
            let start = Instant::now();
            used(file);
            assert!(
                start.elapsed() < Duration::from_secs(20),
                "{seed}: {changed}"
            );
            all += 1;
        }
    }
    assert_eq!(all, 2 * FILES);
}

#[test]
fn no_changed_schedule_leads_astray() {
    for name in ["lost-update", "failing-try-lock", "abba-deadlock"] {
        let Ok(program) = corpus::parse(name) else {
            continue;
        };
        let found = Checker::new().name(name).check(program.program());
        let schedule = found.errors[0].schedule.clone();
        change(&schedule, |schedule: ScheduleFile| {
            let text = schedule.to_json();
            let schedule = ScheduleFile::from_json(&text).unwrap();
            if let Err(error) = Checker::new().replay(&schedule, program.program()) {
                assert!(!error.to_string().trim().contains('\n'), "{error}");
            }
        });
    }
}

fn point(thread: u32, index: u32) -> Point {
    Point { thread, index }
}

fn trace() -> SafeTrace {
    let x = |range: std::ops::Range<i64>| range.map(|x| Inputs::from([("x".to_owned(), x)]));
    let all: Vec<Inputs> = x(0..4).collect();
    let described = |thread, index| Described {
        at: point(thread, index),
        operation: "x.store(1)".to_owned(),
        kind: "Store".to_owned(),
        place: Some("a.c:3:4".to_owned()),
    };
    let constraint = |first, then| Constraint { first, then };
    let case = Case {
        condition: Condition::describing(&all, |inputs| inputs["x"] < 2),
        threads: ["0", "0.0", "0.1", "0.1.0"].map(str::to_owned).to_vec(),
        constraints: vec![
            constraint(point(0, 2), point(1, 1)),
            constraint(point(1, 3), point(3, 2)),
        ],
        choices: vec![Choice {
            at: point(2, 1),
            alternative: 1,
        }],
        events: vec![described(0, 2), described(1, 1)],
        events_of_execution: 12,
        events_of_prefix: 9,
        excluded: vec!["assertion failed".to_owned()],
        ..Case::default()
    };
    SafeTrace {
        program: "queue".to_owned(),
        program_checksum: "1f".to_owned(),
        arguments: vec!["{x}".to_owned()],
        inputs: vec![Input {
            name: "x".to_owned(),
            lowest: 0,
            highest: 3,
        }],
        cases: vec![case],
        ..SafeTrace::default()
    }
}

fn recording() -> Recording {
    let thread = |path: &str| Recorded {
        path: path.to_owned(),
        events: vec![(1, 2), (3, 0), (5, 9)],
    };
    Recording {
        program_checksum: "1f".to_owned(),
        inputs: Inputs::from([("x".to_owned(), 1)]),
        threads: vec![thread("0"), thread("0.0")],
    }
}

#[test]
fn no_changed_safe_trace_or_record_leads_astray() {
    change(&trace(), |trace: SafeTrace| {
        let Ok(trace) = SafeTrace::from_json(&trace.to_json()) else {
            return;
        };
        for text in [
            trace.text(),
            trace.dot(),
            trace.summary("safe.trace".as_ref()),
        ] {
            assert!(text.len() < 1 << 20);
        }
        for case in &trace.cases {
            // The case can be enforced, or the error says why not.
            let _ = Plan::of(case);
            recording().adherence(case);
            case.relaxes(case);
        }
        let _ = Plan::for_inputs(&trace, &recording().inputs);
    });
    let case = &trace().cases[0];
    change(&recording(), |recording: Recording| {
        let adherence = recording.adherence(case);
        assert_eq!(
            adherence.kept + adherence.not_reached + adherence.broken.len(),
            case.constraints.len()
        );
    });
}

#[test]
fn what_is_nested_too_deeply_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    for depth in [200, 100_000] {
        let text = format!("{{\"format\":1,\"steps\":{}", "[".repeat(depth));
        std::fs::write(folder.path().join("deep"), text).unwrap();
        for command in [
            "replay deep",
            "show deep",
            "check-run deep deep",
            "run --safe deep /bin/true",
        ] {
            let ran = crate::command::run(folder.path(), command);
            assert_eq!(
                (ran.code, ran.errors.lines().count()),
                (2, 1),
                "{command}: {}",
                ran.errors
            );
        }
    }
}
