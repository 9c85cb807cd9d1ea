//! The command as users see it: exit codes, output, files.

mod command;

use command::{mazurka, run};
use explore::Algorithm;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

fn here() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn a_verified_program_exits_0() {
    let ran = run(here().path(), "check mutex:2,2");
    assert_eq!(ran.code, 0, "{}{}", ran.output, ran.errors);
    assert!(
        ran.output
            .starts_with("verified: no interleaving of mutex:2,2 has a bug\n"),
        "{}",
        ran.output
    );
    assert!(ran.output.contains("6 executions"), "{}", ran.output);
    assert_eq!(ran.errors, "");
}

#[test]
fn a_bug_exits_1_and_is_shown_with_the_command_that_repeats_it() {
    let directory = here();
    let ran = run(directory.path(), "check lost-update");
    assert_eq!(ran.code, 1, "{}{}", ran.output, ran.errors);
    assert!(
        ran.output.starts_with("bug: panic in lost-update\n"),
        "{}",
        ran.output
    );
    for part in [
        "an update was lost",
        "program.rs:",
        "A → ",
        "mazurka replay lost-update.schedule.json",
    ] {
        assert!(ran.output.contains(part), "no {part} in {}", ran.output);
    }
    assert!(directory.path().join("lost-update.schedule.json").is_file());
}

#[test]
fn a_bound_exits_3_and_is_named() {
    let directory = here();
    for (arguments, bound) in [
        ("check mutex:3,3 --max-executions 5", "5 executions"),
        ("check mutex:4,8 --time-limit 100ms", "100ms"),
        (
            "check mutex:2,3 --algorithm random --seed 7 --max-executions 20",
            "random",
        ),
        (
            "check mutex:2,3 --algorithm exhaustive --preemptions 0",
            "preemption",
        ),
        (
            "check mutex:2,3 --algorithm optimal --preemptions 0",
            "limit of 0 on preemptions",
        ),
        ("check mutex:2,3 --max-events 3", "operations"),
    ] {
        let ran = run(directory.path(), arguments);
        assert_eq!(ran.code, 3, "{arguments}: {}{}", ran.output, ran.errors);
        assert!(
            ran.output.starts_with("bounded: "),
            "{arguments}: {}",
            ran.output
        );
        let named = ran
            .output
            .lines()
            .any(|line| line.contains("bound: ") && line.contains(bound));
        assert!(named, "{arguments}: {}", ran.output);
    }
}

#[test]
fn wrong_usage_exits_2_with_one_line_that_says_what() {
    let directory = here();
    fs::write(directory.path().join("text"), "no schedule").unwrap();
    fs::write(directory.path().join("other"), r#"{"format":99}"#).unwrap();
    let made = Command::new("mkfifo")
        .arg(directory.path().join("pipe"))
        .status();
    assert!(made.unwrap().success());
    for (arguments, what) in [
        ("frobnicate", "frobnicate"),
        ("check", "NAME"),
        ("check nothing-of-that-name", "nothing-of-that-name"),
        ("check mutexx", "mutex"),
        ("check mutex:", "number"),
        ("check mutex:zwei", "zwei"),
        ("check mutex:2,2,2", "sizes"),
        ("check readers:4000000000", "4000000000"),
        ("check lost-update:3", "no sizes"),
        ("check mutex --algorithm magic", "magic"),
        ("check mutex --format xml", "xml"),
        ("check mutex --max-executions 0", "0"),
        ("check mutex --max-executions many", "many"),
        ("check mutex --time-limit 5parsecs", "5parsecs"),
        ("check mutex --preemptions -1", "-1"),
        ("check mutex --seed 1", "seed"),
        ("check mutex --algorithm optimal --seed 1", "seed"),
        ("check mutex --algorithm context-sensitive", "state"),
        ("compare mutex --algorithm context-sensitive", "state"),
        ("check mutex --output a --no-output", "--no-output"),
        ("check mutex --output nowhere/a", "nowhere"),
        ("check mutex --checkpoint nowhere/a", "nowhere"),
        ("check mutex:9,9 --output .", "directory"),
        ("check mutex --checkpoint .", "a regular file"),
        ("check mutex --resume /dev/zero", "not a regular file"),
        ("check mutex --resume pipe", "not a regular file"),
        ("check mutex --resume missing", "missing"),
        ("check mutex --resume text", "text"),
        ("check mutex --unheard-of", "--unheard-of"),
        ("replay", "FILE"),
        ("replay missing", "missing"),
        ("replay text", "text"),
        ("replay other", "99"),
        ("replay .", "not a regular file"),
        ("replay /dev/zero", "not a regular file"),
        ("replay pipe", "not a regular file"),
        ("replay text --checkpoint a", "--checkpoint"),
        ("compare nothing-of-that-name", "nothing-of-that-name"),
        ("compare mutex --algorithm optimal,magic", "magic"),
    ] {
        let ran = run(directory.path(), arguments);
        assert_eq!(ran.code, 2, "{arguments}: {}{}", ran.output, ran.errors);
        assert_eq!(ran.output, "", "{arguments}");
        assert_eq!(ran.errors.lines().count(), 1, "{arguments}: {}", ran.errors);
        assert!(
            ran.errors.starts_with("mazurka: "),
            "{arguments}: {}",
            ran.errors
        );
        assert!(ran.errors.contains(what), "{arguments}: {}", ran.errors);
    }
}

#[test]
fn json_is_one_object_with_the_documented_fields() {
    let directory = here();
    for (arguments, code, verdict) in [
        ("check mutex:2,2 --format json", 0, "verified"),
        ("check lost-update --format json", 1, "bug"),
        (
            "check mutex:3,3 --max-executions 5 --format json",
            3,
            "bounded",
        ),
        (
            "check abba-deadlock --keep-going --quiet --format json",
            1,
            "bug",
        ),
    ] {
        let ran = run(directory.path(), arguments);
        assert_eq!(ran.code, code, "{arguments}: {}{}", ran.output, ran.errors);
        assert_eq!(ran.output.lines().count(), 1, "{arguments}");
        let json = ran.json();
        assert_eq!(json["verdict"], verdict, "{arguments}");
        assert_eq!(json["algorithm"], "parsimonious", "{arguments}");
        for field in [
            "executions",
            "halted",
            "blocked",
            "deadlocks",
            "events",
            "max_depth",
            "peak_rss_bytes",
        ] {
            assert!(json[field].is_u64(), "{arguments}: {field}");
        }
        assert!(json["elapsed_s"].is_f64(), "{arguments}");
        let errors = json["errors"].as_array().unwrap();
        assert_eq!(errors.is_empty(), code != 1, "{arguments}");
        for error in errors {
            assert!(
                error["kind"].is_string() && error["message"].is_string(),
                "{arguments}"
            );
            assert!(Path::new(error["saved_as"].as_str().unwrap()).is_relative());
        }
    }
}

#[test]
fn quiet_prints_the_verdict_alone() {
    let directory = here();
    let ran = run(directory.path(), "check lost-update --quiet");
    assert_eq!(
        (ran.code, ran.output.as_str()),
        (1, "bug: panic in lost-update\n")
    );
}

#[test]
fn no_output_leaves_no_file() {
    let directory = here();
    let ran = run(directory.path(), "check lost-update --no-output");
    assert_eq!(ran.code, 1);
    assert!(!ran.output.contains("mazurka replay"), "{}", ran.output);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_schedule_shows_the_same_failure_in_a_fresh_process() {
    let directory = here();
    let found = run(
        directory.path(),
        "check abba-deadlock --format json --output here.json",
    )
    .json();
    let again = run(directory.path(), "replay here.json --format json");
    assert_eq!(again.code, 1, "{}{}", again.output, again.errors);
    let again = again.json();
    assert_eq!(again["executions"], 1);
    for part in ["kind", "message", "location", "interleaving"] {
        assert_eq!(again["errors"][0][part], found["errors"][0][part], "{part}");
    }
}

#[test]
fn a_damaged_schedule_is_refused() {
    let directory = here();
    run(directory.path(), "check lost-update --output good");
    let good = fs::read_to_string(directory.path().join("good")).unwrap();
    let renamed = good.replace("an update was lost", "an update was kept");
    for (damaged, what) in [
        (&good[..good.len() / 2], "not a schedule file"),
        (renamed.as_str(), "corrupt"),
        (
            &good.replace("\"thread\":\"0\"", "\"thread\":\"0.7\""),
            "corrupt",
        ),
        ("", "not a schedule file"),
        ("\u{1}\u{2}", "not a schedule file"),
    ] {
        fs::write(directory.path().join("bad"), damaged).unwrap();
        let ran = run(directory.path(), "replay bad");
        assert_eq!(ran.code, 2, "{}{}", ran.output, ran.errors);
        assert_eq!(ran.errors.lines().count(), 1, "{}", ran.errors);
        assert!(
            ran.errors.contains("bad: ") && ran.errors.contains(what),
            "{}",
            ran.errors
        );
    }
    fs::write(directory.path().join("bad"), [0xff, 0xfe, 0x00]).unwrap();
    let ran = run(directory.path(), "replay bad");
    assert_eq!(
        (ran.code, ran.errors.lines().count()),
        (2, 1),
        "{}",
        ran.errors
    );
}

#[test]
fn every_bug_of_the_corpus_is_found_by_every_reduction_and_replayed() {
    let directory = here();
    let programs = run(directory.path(), "list --format json").json();
    let bugs: Vec<&serde_json::Value> = programs
        .as_array()
        .unwrap()
        .iter()
        .filter(|program| program["finds"] != "verified")
        .collect();
    assert!(bugs.len() >= 12, "{} bugs", bugs.len());
    for program in bugs {
        let name = program["name"].as_str().unwrap();
        let algorithms = ["sleep", "classic", "source", "optimal", "parsimonious"];
        let searches = match program["memory"].as_str() {
            // Other algorithms search under sequential consistency only.
            Some("rc11") => vec![String::new()],
            _ => algorithms
                .map(|algorithm| format!("--memory sc --algorithm {algorithm}"))
                .to_vec(),
        };
        for search in searches {
            let check = format!("check {name} {search} --format json --output found");
            let found = run(directory.path(), &check);
            assert_eq!(found.code, 1, "{check}: {}{}", found.output, found.errors);
            let found = found.json();
            assert_eq!(found["errors"][0]["kind"], program["failure"], "{check}");
            let again = run(directory.path(), "replay found --format json");
            assert_eq!(again.code, 1, "{check}: {}{}", again.output, again.errors);
            let again = again.json();
            for part in ["kind", "message", "location"] {
                assert_eq!(
                    again["errors"][0][part], found["errors"][0][part],
                    "{check}: {part}"
                );
            }
        }
    }
}

#[test]
fn the_list_has_every_program_and_check_understands_its_names() {
    let directory = here();
    let ran = run(directory.path(), "list");
    assert_eq!(ran.code, 0);
    for program in run(directory.path(), "list --format json")
        .json()
        .as_array()
        .unwrap()
    {
        let name = program["name"].as_str().unwrap();
        assert!(
            ran.output.lines().any(|line| line.starts_with(name)),
            "{name}"
        );
    }
    assert!(ran.output.contains("lastzero"), "{}", ran.output);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let directory = here();
    for arguments in ["list", "--help", "check lost-update"] {
        let mut child = mazurka(directory.path(), arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments}");
        assert!(
            matches!(output.status.code(), Some(0 | 1)),
            "{arguments}: {}",
            output.status
        );
    }
}

#[test]
fn runs_that_compare_states_are_counted_apart() {
    let directory = here();
    let check = "check bounded-buffer:3 --algorithm context-sensitive";
    let json = run(directory.path(), &format!("{check} --format json")).json();
    assert_eq!(
        (&json["executions"], &json["blocked"]),
        (&8.into(), &4.into())
    );
    assert!(json["probes"].as_u64().unwrap() > 0);
    let text = run(directory.path(), check).output;
    assert!(text.contains("more runs to compare states"), "{text}");
    let compared = run(directory.path(), "compare bounded-buffer:3 --format json").json();
    let rows = compared["measured"].as_array().unwrap();
    let row = rows
        .iter()
        .find(|row| row["algorithm"] == "context_sensitive");
    assert_eq!(row.unwrap()["probes"], json["probes"]);
    let general = run(directory.path(), "compare casrot:3").output;
    assert!(!general.contains("context-sensitive"), "{general}");
}

#[test]
fn a_comparison_has_a_row_per_algorithm_and_published_numbers() {
    let directory = here();
    let ran = run(directory.path(), "compare casrot:3 --time-limit 5s");
    assert_eq!(ran.code, 0, "{}{}", ran.output, ran.errors);
    for algorithm in Algorithm::general().map(Algorithm::name) {
        assert!(
            ran.output.lines().any(|line| line.starts_with(algorithm)),
            "{algorithm}: {}",
            ran.output
        );
    }
    let arguments =
        "compare mutex:3,4 --algorithm parsimonious,optimal --time-limit 60s --format json";
    let json = run(directory.path(), arguments).json();
    assert_eq!(json["traces"], 34_650);
    for row in json["measured"].as_array().unwrap() {
        assert_eq!(row["executions"], 34_650);
        assert_eq!(row["cut"], 0);
        assert!(row["peak_rss_bytes"].as_u64().unwrap() > 0);
    }
    let twice = "compare mutex:2,2 --algorithm source,optimal,source --format json";
    let rows = run(directory.path(), twice).json()["measured"].take();
    let names: Vec<&str> = rows
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["algorithm"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["source", "optimal"]);
    assert!(
        json["published"]
            .as_array()
            .unwrap()
            .iter()
            .any(|row| row["source"] == "GenMC --sc")
    );
}

#[test]
fn the_book_shows_what_the_command_prints() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let introduction = format!("{root}/docs/book/src/introduction.md");
    let introduction = fs::read_to_string(introduction).unwrap();
    for arguments in ["check lost-update", "check lost-update-fixed"] {
        let printed = run(here().path(), arguments).output;
        // The last line contains the time and the memory, so it differs between runs.
        let (lasting, _) = printed.trim_end().rsplit_once('\n').unwrap();
        assert!(
            introduction.contains(lasting),
            "`mazurka {arguments}` prints\n{printed}"
        );
    }
    let readme = fs::read_to_string(format!("{root}/README.md")).unwrap();
    let printed = run(here().path(), "check lost-update").output;
    // The README shows the report up to the explanation of names.
    let (columns, _) = printed.split_once("\n(@ and a number").unwrap();
    assert!(
        readme.contains(columns),
        "README.md differs from\n{printed}"
    );
}
