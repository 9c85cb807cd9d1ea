//! Tests that the memory of the parsimonious algorithm does not grow with the search. The test
//! needs a process of its own, because it measures the peak memory of the process.
#![cfg(all(target_os = "linux", not(debug_assertions)))]

use mazurka::{Checker, MemoryModel};

#[test]
fn parsimonious_needs_no_more_memory_for_a_larger_search() {
    for (small, large) in [
        ("expmem:8", "expmem:14"),
        ("filesystem:20", "filesystem:24"),
    ] {
        let before = peak_after(small);
        let growth = peak_after(large) - before;
        assert!(
            growth <= 2 << 20,
            "{growth} bytes more for {large} than for {small}"
        );
    }
}

fn peak_after(name: &str) -> u64 {
    let instance = corpus::parse(name).expect("the corpus has it");
    let checker = Checker::new().memory(MemoryModel::Sc);
    checker.check(instance.program()).peak_rss_bytes
}
