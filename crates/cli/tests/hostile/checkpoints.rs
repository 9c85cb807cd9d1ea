//! Modified checkpoints with a valid checksum: they are refused, or the search ends.

use crate::random::{Random, mutate, seeds};
use mazurka::{Algorithm, CheckError, Checker, MemoryModel, Report};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// The number of files for each algorithm and seed.
const FILES: usize = 70;

/// Programs without and with states to compare, and the number of executions before saving.
const PROGRAMS: [(&str, u64); 2] = [("mutex:2,2", 3), ("registration:4", 5)];

fn checker(algorithm: Algorithm, name: &str) -> Checker {
    let checker = Checker::new().name(name).algorithm(algorithm);
    checker.keep_going(true).time_limit(Duration::from_secs(2))
}

fn check(checker: Checker, name: &str) -> Result<Report, CheckError> {
    checker.try_check(corpus::parse(name).unwrap().program())
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes[..8].try_into().unwrap())
}

/// Returns the payload of a checkpoint, in the format of `checker::checkpoint_file`.
pub fn payload(file: &[u8]) -> Vec<u8> {
    file[16..].to_vec()
}

/// Computes the checksum of `checker::checkpoint_file`.
fn checksum(payload: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut mix = |word: u64| {
        hash = (hash ^ word).wrapping_mul(0x0100_0000_01b3);
        hash ^= hash >> 29;
    };
    mix(payload.len() as u64);
    let words = payload.chunks_exact(8);
    let rest = words.remainder();
    words.for_each(|word| mix(number(word)));
    rest.iter().for_each(|&byte| mix(u64::from(byte)));
    hash
}

/// Returns a checkpoint with this payload.
pub fn file(magic: &[u8], payload: &[u8]) -> Vec<u8> {
    [magic, &checksum(payload).to_le_bytes(), payload].concat()
}

fn resumed(path: &Path, algorithm: Algorithm, name: &str) -> Result<Report, CheckError> {
    check(
        checker(algorithm, name).resume(path).max_executions(2_000),
        name,
    )
}

/// Under weak memory models, the state is an execution graph.
#[test]
fn no_changed_graph_leads_astray() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let name = "fib-bench:2";
    let (mut refused, mut all) = (0, 0);
    for seed in seeds() {
        let mut random = Random(seed);
        for (memory, executions) in [MemoryModel::Tso, MemoryModel::Rc11]
            .into_iter()
            .flat_map(|memory| [3, 11, 40].map(|executions| (memory, executions)))
        {
            let checker = || checker(Algorithm::default(), name).memory(memory);
            let saved = checker().checkpoint(&path).max_executions(executions);
            check(saved, name).unwrap();
            let whole = fs::read(&path).unwrap();
            let (magic, state) = (&whole[..8], payload(&whole));
            for _ in 0..FILES {
                let mut changed = state.clone();
                mutate(&mut random, &mut changed);
                fs::write(&path, file(magic, &changed)).unwrap();
                let start = Instant::now();
                let resumed = checker().resume(&path).max_executions(2_000);
                let result = check(resumed, name);
                let elapsed = start.elapsed();
                assert!(
                    elapsed < Duration::from_secs(20),
                    "{memory}, {seed}: {elapsed:?}"
                );
                all += 1;
                if let Err(error) = result {
                    refused += 1;
                    assert!(!error.to_string().contains('\n'), "{error}");
                }
            }
        }
    }
    println!("{refused} of {all} refused");
    assert!(refused > all / 4);
}

#[test]
fn no_changed_checkpoint_leads_astray() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let mut refused = 0;
    let mut all = 0;
    for seed in seeds() {
        let mut random = Random(seed);
        for algorithm in Algorithm::ALL {
            let (name, executions) = match algorithm.compares_states() {
                true => PROGRAMS[1],
                false => PROGRAMS[0],
            };
            let saved = checker(algorithm, name)
                .checkpoint(&path)
                .max_executions(executions);
            check(saved, name).unwrap();
            let whole = fs::read(&path).unwrap();
            let (magic, state) = (&whole[..8], payload(&whole));
            fs::write(&path, file(magic, &state)).unwrap();
            resumed(&path, algorithm, name).unwrap();
            for _ in 0..FILES {
                let mut changed = state.clone();
                mutate(&mut random, &mut changed);
                fs::write(&path, file(magic, &changed)).unwrap();
                let start = Instant::now();
                let result = resumed(&path, algorithm, name);
                let elapsed = start.elapsed();
                assert!(
                    elapsed < Duration::from_secs(20),
                    "{algorithm}, {seed}: {elapsed:?}"
                );
                all += 1;
                if let Err(error) = result {
                    refused += 1;
                    assert!(!error.to_string().contains('\n'), "{error}");
                }
            }
        }
    }
    println!("{refused} of {all} refused");
    assert!(refused > all / 4);
}

/// A byte that can be read as one element, as the first thread, or as some operation. A file that
/// consists of this byte is nested as deeply as it is long.
const NESTED: u8 = 1;

#[test]
fn deeply_nested_data_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let (name, executions) = PROGRAMS[0];
    for algorithm in [Algorithm::Optimal, Algorithm::Parsimonious] {
        let saved = checker(algorithm, name).checkpoint(&path);
        check(saved.max_executions(executions), name).unwrap();
        let whole = fs::read(&path).unwrap();
        let (magic, state) = (&whole[..8], payload(&whole));
        for kept in (0..state.len()).step_by(7) {
            let mut nested = state[..kept].to_vec();
            nested.resize(kept + 1_000_000, NESTED);
            fs::write(&path, file(magic, &nested)).unwrap();
            let error = resumed(&path, algorithm, name).unwrap_err();
            assert!(!error.to_string().contains('\n'), "{error}");
        }
        let output = Command::new(env!("CARGO_BIN_EXE_mazurka"))
            .args(["check", name, "--keep-going", "--resume"])
            .arg(&path)
            .args(["--algorithm", algorithm.name()])
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert_eq!(errors.trim().lines().count(), 1, "{errors}");
    }
}

#[test]
fn no_changed_checkpoint_of_a_divided_search_leads_astray() {
    const NAME: &str = "mutex:3,3";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let program = corpus::parse(NAME).unwrap().program();
    let saved = checker(Algorithm::Parsimonious, NAME).checkpoint(&path);
    let saved = saved.max_executions(1_100).jobs(2);
    assert_eq!(saved.try_check(program.clone()).unwrap().executions, 1_100);
    let whole = fs::read(&path).unwrap();
    let (magic, state) = (&whole[..8], payload(&whole));
    let mut refused = 0;
    for seed in seeds() {
        let mut random = Random(seed);
        for number in 0..5 * FILES {
            let mut changed = state.clone();
            mutate(&mut random, &mut changed);
            fs::write(&path, file(magic, &changed)).unwrap();
            let start = Instant::now();
            let again = checker(Algorithm::Parsimonious, NAME).resume(&path);
            let again = again.max_executions(3_000).jobs(number % 3 + 1);
            let result = again.try_check(program.clone());
            assert!(start.elapsed() < Duration::from_secs(20), "{seed}");
            if let Err(error) = result {
                refused += 1;
                assert!(!error.to_string().contains('\n'), "{error}");
            }
        }
    }
    println!("{refused} refused");
    assert!(refused > FILES);
}
