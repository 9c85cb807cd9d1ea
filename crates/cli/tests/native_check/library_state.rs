//! State that the C library and the system keep for the process: uses are ordered or race, as POSIX says of each function.

use crate::toolchain::{Toolchain, check};
use std::path::Path;

/// Pairs of threads of the program, and the kinds of errors that one of the orders has. None: every order is correct.
const PAIRS: [(&str, &[&str]); 40] = [
    ("lock_stream_and_mutex,print_within_mutex", &["deadlock"]),
    ("count_within_stream,count_within_stream", &[]),
    ("print_two,print_two", &[]),
    ("lock_stream,try_stream", &["assertion"]),
    ("print_unlocked,print_unlocked", &["data_race"]),
    ("print_locked,print_locked", &[]),
    (
        "print_locked,close_stream",
        &["data_race", "use_after_free"],
    ),
    ("write_descriptor,close_descriptor", &["assertion"]),
    ("write_by_name,read_by_name", &["assertion"]),
    ("add_by_name,add_by_name", &["assertion"]),
    ("add_to_file,see_size", &["assertion"]),
    ("add_to_file,see_size_of_stream", &["assertion"]),
    ("read_file,cut_file", &["assertion"]),
    ("read_file,empty_file", &["assertion"]),
    ("read_file,empty_stream", &["assertion"]),
    ("set_name,see_name", &["assertion"]),
    ("set_variable,walk_variables", &["data_race"]),
    ("join_third,join_third", &["misuse"]),
    ("detach,do_nothing", &["misuse"]),
    ("create,miss", &["assertion"]),
    ("open_first,open_second", &["assertion"]),
    ("write_null,write_null", &[]),
    ("go_to_root,stay", &["assertion"]),
    ("set_locale,see_locale", &["assertion"]),
    ("set_action,see_action", &["assertion"]),
    ("set_limit,see_limit", &["assertion"]),
    ("set_zone,see_zone", &["assertion"]),
    ("name_file,name_file", &["data_race"]),
    ("read_directory,read_directory", &["data_race"]),
    ("read_own_directory,read_own_directory", &[]),
    ("search_table,search_table", &["data_race"]),
    ("search_tree,search_tree", &["data_race"]),
    ("read_options,read_options", &["data_race"]),
    ("take_gamma,take_gamma", &["data_race"]),
    ("convert,convert", &["data_race"]),
    ("convert_with_state,convert_with_state", &[]),
    ("cut_name,cut_name", &["data_race"]),
    ("take_digits,take_digits", &["data_race"]),
    ("describe_errors,describe_errors", &[]),
    ("lock_again,lock_again", &[]),
];

#[test]
fn state_of_the_process_is_ordered_or_raced_for() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/native_check/library-state.c");
    for compiler in ["gcc", "clang"] {
        let Some(toolchain) = Toolchain::named(compiler) else {
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        let executable = folder.path().join("program");
        let flags = ["-w", "-lm"].map(str::to_owned);
        toolchain.build(&source, &flags, &executable).unwrap();
        let place = folder.path().to_str().unwrap();
        for (pair, expected) in PAIRS {
            let arguments = [pair, place].map(str::to_owned);
            let report = check(&["--algorithm", "optimal"], &executable, &arguments).unwrap();
            let errors = report["errors"].as_array().unwrap();
            let found = errors.first().map(|error| error["kind"].as_str().unwrap());
            let is_right = match found {
                Some(kind) => expected.contains(&kind),
                None => expected.is_empty() && report["verdict"] == "verified",
            };
            assert!(is_right, "{compiler}, {pair}: {report:#}");
            if pair == "go_to_root,stay" {
                let shown = report.to_string();
                assert!(shown.contains("\"chdir() uses the state of the system\""));
                assert!(shown.contains("\"getcwd() reads the state of the system\""));
            }
        }
    }
}
