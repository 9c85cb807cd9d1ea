//! Formats for other programs: external parsers or schemas validate each of them.

mod command;

use command::{mazurka, run};
use report::Report;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;

const RACE: &str = "#include <pthread.h>
static int shared;
static void *add(void *argument) { shared++; return argument; }
int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, add, 0);
    pthread_create(&other, 0, add, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return shared - shared;
}
";

/// Checks with each verdict and kind of program. Options are appended to them.
const CHECKS: [&str; 8] = [
    "check mutex:2,2",
    "check lost-update",
    "check abba-deadlock",
    "check lost-update --keep-going",
    "check mutex:3,3 --max-executions 5",
    "check mutex:2,3 --algorithm random --seed 7 --max-executions 20",
    "check race.c --keep-going --plain sc",
    "check race.c --allow race",
];

fn here() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("race.c"), RACE).unwrap();
    folder
}

fn schema(path: &str) -> jsonschema::Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let mut schema: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    // The pattern for languages in SARIF's schema is invalid: it has an unmatched bracket.
    for part in ["run", "toolComponent"] {
        let place = format!("/definitions/{part}/properties/language");
        if let Some(language) = schema.pointer_mut(&place) {
            language.as_object_mut().unwrap().remove("pattern");
        }
    }
    jsonschema::validator_for(&schema).unwrap()
}

fn validate(schema: &jsonschema::Validator, value: &Value, what: &str) {
    let errors = schema.iter_errors(value);
    let errors: Vec<String> = errors
        .map(|error| format!("{} at {}", error, error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{what}: {errors:#?}");
}

/// Returns a report in which every text is hostile.
fn hostile() -> Report {
    let folder = here();
    let ran = run(folder.path(), "check lost-update --no-output --format json");
    let mut json = ran.json();
    json["program"] = HOSTILE.into();
    json["warnings"] = vec![HOSTILE].into();
    json["bounds"] = vec![HOSTILE].into();
    let failure = &mut json["errors"][0];
    for field in ["message", "repeat_with"] {
        failure[field] = HOSTILE.into();
    }
    let rows = failure["interleaving"]["rows"].as_array_mut().unwrap();
    for row in rows {
        row["text"] = HOSTILE.into();
        row["location"] = format!("{HOSTILE}:3:4").into();
    }
    for list in ["threads", "ends"] {
        let texts = failure["interleaving"][list].as_array_mut().unwrap();
        texts.iter_mut().for_each(|text| *text = HOSTILE.into());
    }
    serde_json::from_value(json).unwrap()
}

const HOSTILE: &str = "</script><b a=\"'\">]]>&amp;\u{1b}[31m\u{9b}\n::error::%0A\r::add-mask::x\n\"; e0 -> e1; \\\u{0}\u{fffe}#62; end";

#[test]
fn json_is_as_its_schema_says() {
    let schema = schema("../../docs/report.schema.json");
    let folder = here();
    for check in CHECKS {
        let ran = run(folder.path(), &format!("{check} --no-output --format json"));
        validate(&schema, &ran.json(), check);
    }
    let ran = run(
        folder.path(),
        "check lost-update --no-output --format json --html page.html",
    );
    assert!(
        ran.json()["tree"]["branches"]
            .as_array()
            .is_some_and(|all| !all.is_empty())
    );
    validate(&schema, &ran.json(), "with a page");
    let mut changed = run(folder.path(), "check mutex:2,2 --format json").json();
    changed["executed"] = 1.into();
    assert!(!schema.is_valid(&changed));
}

#[test]
fn sarif_is_valid() {
    let schema = schema("tests/formats/sarif-2.1.0.json");
    let folder = here();
    for check in CHECKS {
        let ran = run(
            folder.path(),
            &format!("{check} --no-output --format sarif"),
        );
        validate(&schema, &ran.json(), check);
    }
    validate(&schema, &formats::sarif(&hostile()), "hostile texts");
    let ran = run(folder.path(), "check race.c --no-output --format sarif");
    assert_eq!(ran.code, 1);
    let log = ran.json();
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "data-race");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "race.c");
    assert_eq!(place["region"]["startLine"], 3);
    let flows = result["codeFlows"][0]["threadFlows"].as_array().unwrap();
    let orders = flows
        .iter()
        .flat_map(|flow| flow["locations"].as_array().unwrap());
    let mut orders: Vec<u64> = orders
        .map(|location| location["executionOrder"].as_u64().unwrap())
        .collect();
    orders.sort_unstable();
    let count = orders.len() as u64;
    assert!(count > 4 && orders == (1..=count).collect::<Vec<u64>>());
}

#[test]
fn junit_has_a_test_case_for_the_program() {
    let folder = here();
    let path = folder.path().join("junit.xml");
    for (check, child) in [
        ("check mutex:2,2", None),
        ("check abba-deadlock", Some("failure")),
        ("check mutex:3,3 --max-executions 5", Some("skipped")),
    ] {
        run(
            folder.path(),
            &format!("{check} --no-output --junit junit.xml"),
        );
        let text = fs::read_to_string(&path).unwrap();
        let document = roxmltree::Document::parse(&text).unwrap();
        let case = document
            .descendants()
            .find(|node| node.has_tag_name("testcase"));
        let case = case.unwrap();
        let outcomes = ["failure", "skipped", "error"];
        let mut found = case
            .children()
            .filter(|child| outcomes.contains(&child.tag_name().name()));
        assert_eq!(
            found.next().map(|node| node.tag_name().name()),
            child,
            "{text}"
        );
        assert!(check.contains(case.attribute("name").unwrap()), "{text}");
    }
    let text = formats::junit(&hostile());
    let document = roxmltree::Document::parse(&text).unwrap();
    assert!(document.descendants().all(|node| !node.has_tag_name("b")));
}

/// Returns the lines that a workflow interprets as commands.
fn commands(text: &str) -> Vec<&str> {
    let mut end = None;
    let mut found = Vec::new();
    for line in text.lines() {
        match (end, line.strip_prefix("::")) {
            (None, Some(command)) => match command.strip_prefix("stop-commands::") {
                Some(word) => end = Some(word),
                None => found.push(command),
            },
            (Some(word), Some(command)) if command.strip_suffix("::") == Some(word) => end = None,
            _ => {}
        }
    }
    assert_eq!(end, None);
    found
}

#[test]
fn github_gets_annotations_and_no_command_of_a_program() {
    let folder = here();
    let mut check = mazurka(folder.path(), "check race.c --no-output");
    let output = check.env("GITHUB_ACTIONS", "true").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let found = commands(&text);
    assert_eq!(found.len(), 1, "{text}");
    let annotation = "error file=race.c,line=3,col=";
    assert!(found[0].starts_with(annotation), "{text}");
    let report = hostile();
    let text = formats::github(&report, &report.text(report::Style::default()));
    let found = commands(&text);
    let kinds: Vec<&str> = found
        .iter()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(kinds, ["error", "warning"], "{text}");
    assert!(!text.contains(['\u{1b}', '\r', '\u{9b}']));
}

#[test]
fn diagrams_have_each_event_once() {
    let folder = here();
    let files = "--dot graph.dot --mermaid sequence.mmd";
    let ran = run(
        folder.path(),
        &format!("check abba-deadlock --no-output --quiet {files}"),
    );
    assert_eq!((ran.code, ran.errors.as_str()), (1, ""));
    let graph = fs::read_to_string(folder.path().join("graph.dot")).unwrap();
    let sequence = fs::read_to_string(folder.path().join("sequence.mmd")).unwrap();
    assert!(sequence.starts_with("sequenceDiagram\n"));
    for event in 1..=6 {
        let is_node = |line: &&str| line.contains(&format!("label=\"{event}. "));
        assert_eq!(graph.lines().filter(is_node).count(), 1, "{graph}");
        let is_note = |line: &&str| line.contains(&format!(": {event}. "));
        assert_eq!(sequence.lines().filter(is_note).count(), 1, "{sequence}");
    }
    let report = hostile();
    let execution = &report.errors[0].interleaving;
    for text in [formats::dot(execution), formats::mermaid(execution)] {
        assert!(!text.contains(['\u{1b}', '\r', '\u{0}']));
        // Each text is on one line, so it cannot begin a statement.
        assert!(
            text.lines().all(|line| !line.starts_with(['"', ':', '#'])),
            "{text}"
        );
    }
    let ran = run(folder.path(), "check mutex:2,2 --no-output --dot none.dot");
    assert_eq!(ran.code, 0);
    assert!(
        ran.errors.contains("none.dot was not written"),
        "{}",
        ran.errors
    );
    assert!(!folder.path().join("none.dot").exists());
}

#[test]
fn files_that_cannot_be_written_are_refused_before_the_search() {
    let folder = here();
    for option in ["--junit", "--dot", "--mermaid"] {
        let ran = run(
            folder.path(),
            &format!("check mutex:2,2 {option} nowhere/file"),
        );
        assert_eq!((ran.code, ran.output.as_str()), (2, ""), "{option}");
        assert_eq!(ran.errors.lines().count(), 1, "{}", ran.errors);
        assert!(ran.errors.contains("nowhere"), "{}", ran.errors);
    }
}

#[test]
fn a_page_goes_through_a_pipe_that_somebody_reads() {
    let folder = here();
    let pipe = folder.path().join("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let reader = thread::spawn(move || fs::read_to_string(pipe).unwrap());
    let ran = run(folder.path(), "check lost-update --no-output --html pipe");
    assert_eq!(ran.code, 1, "{}", ran.errors);
    assert!(reader.join().unwrap().ends_with("</html>\n"));
}

#[test]
fn no_file_is_written_twice() {
    let folder = here();
    for options in [
        "--html page --junit page",
        "--html page --output ./page",
        "--dot page --checkpoint page",
    ] {
        let ran = run(folder.path(), &format!("check lost-update {options}"));
        assert_eq!((ran.code, ran.output.as_str()), (2, ""), "{options}");
        assert!(ran.errors.contains("page"), "{}", ran.errors);
        assert!(!folder.path().join("page").exists());
    }
    let ran = run(folder.path(), "check race.c --html race.c");
    assert_eq!((ran.code, ran.output.as_str()), (2, ""));
    assert_eq!(
        fs::read_to_string(folder.path().join("race.c")).unwrap(),
        RACE
    );
    run(folder.path(), "check lost-update");
    let replay = "replay lost-update.schedule.json --html lost-update.schedule.json";
    assert_eq!(run(folder.path(), replay).code, 2);
    assert_eq!(
        run(folder.path(), "replay lost-update.schedule.json").code,
        1
    );
}

#[test]
fn long_executions_are_shown_in_full_if_asked_for() {
    let folder = here();
    let check = "check mutex:2,40 --no-output --max-executions 1 --algorithm random --seed 1";
    let verified = run(folder.path(), check);
    assert_eq!(verified.code, 3);
    let long = "#include <stdatomic.h>\n#include <stdlib.h>\nstatic atomic_int x;\n\
        int main(void) { for (int i = 0; i < 200; i++) x++; abort(); }\n";
    fs::write(folder.path().join("long.c"), long).unwrap();
    let count = |options: &str| {
        let ran = run(
            folder.path(),
            &format!("check long.c --no-output {options}"),
        );
        assert_eq!(ran.code, 1, "{}{}", ran.output, ran.errors);
        ran.output
            .lines()
            .filter(|line| line.contains("long.c:4"))
            .count()
    };
    assert!(count("") < 60);
    assert!(count("--all-events") >= 200);
}

#[test]
fn colours_are_as_asked_for() {
    let folder = here();
    for (option, expected) in [
        ("", false),
        ("--color always", true),
        ("--color never", false),
    ] {
        let ran = run(
            folder.path(),
            &format!("check mutex:2,2 --no-output {option}"),
        );
        assert_eq!(
            ran.output.contains('\u{1b}'),
            expected,
            "{option}: {}",
            ran.output
        );
    }
}

#[test]
fn mistakes_name_what_was_meant_and_the_help_of_the_command() {
    let folder = here();
    let ran = run(folder.path(), "check mutex --no-outpu");
    assert_eq!(ran.code, 2);
    assert_eq!(ran.errors.lines().count(), 1, "{}", ran.errors);
    for part in ["'--no-output'", "see `mazurka check --help`"] {
        assert!(ran.errors.contains(part), "{}", ran.errors);
    }
}

#[test]
fn shells_and_man_know_the_options() {
    let folder = here();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = run(folder.path(), &format!("completions {shell}"));
        assert!(ran.output.contains("all-events"), "{shell}");
    }
    let ran = run(folder.path(), "man check");
    assert!(ran.output.contains(".TH mazurka-check 1"), "{}", ran.output);
    assert!(ran.output.contains(r"\-\-all\-events"), "{}", ran.output);
    assert_eq!(run(folder.path(), "man").code, 0);
    assert_eq!(run(folder.path(), "man nothing").code, 2);
}
