//! Memory with two addresses in one program. Races there are not detected, so such a program is not
//! verified.

use crate::toolchain::run_and_check;

/// Returns a program that maps a file in this way. A thread writes `two`, and main reads `one`.
fn mapped(map: &str) -> String {
    format!(
        "#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#define MAP(offset, how) mmap(NULL, 4096, PROT_READ | PROT_WRITE, how, file, offset)
static atomic_int *one, *two;
static void *set(void *p) {{ atomic_store(two, 1); return p; }}
int main(void) {{
    int file = memfd_create(\"file\", 0);
    assert(!ftruncate(file, 8192));
    {map}
    pthread_t thread;
    pthread_create(&thread, NULL, set, NULL);
    int found = atomic_load(one);
    pthread_join(thread, NULL);
    return found - found;
}}
"
    )
}

#[test]
fn memory_with_two_addresses_is_not_verified() {
    let map_twice = "one = MAP(0, MAP_SHARED); two = MAP(0, MAP_SHARED);";
    let by_system_call = "one = MAP(0, MAP_SHARED); \
        two = (void *)syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);";
    let private_copy = "two = MAP(0, MAP_SHARED); one = MAP(0, MAP_PRIVATE);";
    let doubled = "one = MAP(0, MAP_SHARED); two = mremap(one, 0, 4096, MREMAP_MAYMOVE);";
    for map in [map_twice, by_system_call, private_copy, doubled] {
        let Some((real, report)) = run_and_check("gcc", &mapped(map)) else {
            return;
        };
        assert!(real.success());
        assert_eq!(report["verdict"], "bounded", "{map}: {report}");
        assert!(report.to_string().contains("two addresses"), "{report}");
    }
    let once = "one = two = MAP(0, MAP_SHARED);";
    let other_parts = "one = MAP(0, MAP_SHARED); two = MAP(4096, MAP_SHARED);";
    let one_after_the_other =
        "one = MAP(0, MAP_SHARED); munmap(one, 4096); one = two = MAP(0, MAP_SHARED);";
    let copies = "one = MAP(0, MAP_PRIVATE); two = MAP(0, MAP_PRIVATE);";
    for map in [once, other_parts, one_after_the_other, copies] {
        let Some((real, report)) = run_and_check("gcc", &mapped(map)) else {
            return;
        };
        assert!(real.success());
        assert_eq!(report["verdict"], "verified", "{map}: {report}");
    }
}
