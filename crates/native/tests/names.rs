//! Tests names of addresses in C and C++ programs, as each installed compiler describes them.

mod toolchain;

use mazurka_native::{Block, Built, Compiler, Images, Language, Names, Registers};
use object::{Object, ObjectSegment, ObjectSymbol};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use toolchain::{Workshop, compilers, run};

/// The addresses of symbols, by their names in the source.
struct Addresses(BTreeMap<String, u64>);

impl Addresses {
    fn of(program: &Path) -> Addresses {
        let data = fs::read(program).unwrap();
        let file = object::File::parse(&*data).unwrap();
        let symbols = file.symbols().filter(|symbol| symbol.is_definition());
        Addresses(
            symbols
                .map(|symbol| (symbol.name().unwrap().to_owned(), symbol.address()))
                .collect(),
        )
    }

    /// Returns the address of a symbol by name: `calls`, which compilers may also call `calls.0` or
    /// `count.calls`, or a symbol that ends in the name.
    fn at(&self, name: &str) -> u64 {
        let is_it = |known: &str| known.split('.').any(|part| part == name);
        let exact = self.0.iter().find(|(known, _)| is_it(known));
        let ending = || self.0.iter().find(|(known, _)| known.ends_with(name));
        let address = exact.or_else(ending).map(|(_, address)| *address);
        address.unwrap_or_else(|| panic!("no symbol {name} in {:?}", self.0.keys()))
    }
}

struct Case {
    program: Built,
    names: Names,
    addresses: Addresses,
    compiler: String,
}

impl Case {
    fn new(workshop: &Workshop, compiler: &Compiler, source: (&str, &str), flags: &[&str]) -> Case {
        let program = workshop.built_with(compiler, source.0, source.1, flags);
        let path = program.program();
        Case {
            names: Names::read(&path).unwrap(),
            addresses: Addresses::of(&path),
            compiler: format!("{} {flags:?}", compiler.name()),
            program,
        }
    }

    #[track_caller]
    fn named(&self, symbol: &str, offset: u64, size: u64, name: &str) {
        let address = self.addresses.at(symbol) + offset;
        let variable = self.names.variable(address, size);
        let found = variable.map(|variable| variable.name);
        assert_eq!(
            found.as_deref(),
            Some(name),
            "{}: {symbol}+{offset}",
            self.compiler
        );
    }

    #[track_caller]
    fn valued(&self, symbol: &str, bytes: &[u8], value: &str) {
        let variable = self
            .names
            .variable(self.addresses.at(symbol), bytes.len() as u64)
            .unwrap();
        assert_eq!(variable.value(bytes), value, "{}: {symbol}", self.compiler);
    }
}

fn each(language: Language, source: (&str, &str), check: impl Fn(&Case)) {
    let workshop = Workshop::new();
    for compiler in compilers(language) {
        check(&Case::new(&workshop, &compiler, source, &[]));
        check(&Case::new(&workshop, &compiler, source, &["-gdwarf-4"]));
    }
}

const C: &str = r"
#include <stdatomic.h>
#include <pthread.h>
#include <stdbool.h>
struct node { int value; struct node *next; };
struct queue {
    _Atomic unsigned head;
    struct node nodes[300];
    union { long whole; struct { int low, high; }; } both;
    struct { unsigned a : 3, b : 7; unsigned c : 20; } bits;
    pthread_mutex_t lock;
} myqueue;
int grid[3][4];
enum colour { RED, GREEN = 7, NONE = -1 } colour;
bool flag;
char letter;
double ratio;
int *pointer;
unsigned char byte;
atomic_flag once = ATOMIC_FLAG_INIT;
static int hidden;
int count(void) {
    static int calls;
    { static int calls_inside; calls_inside++; }
    hidden++;
    return ++calls;
}
int main(void) { pointer = &grid[1][2]; return count() != 1; }
";

#[test]
fn members_elements_and_unions_are_named_as_in_c() {
    each(Language::C, ("names.c", C), |case| {
        // Two ints and padding precede the first pointer. A node takes 16 bytes.
        case.named("myqueue", 0, 4, "myqueue.head");
        case.named("myqueue", 8, 4, "myqueue.nodes[0].value");
        case.named("myqueue", 8 + 244 * 16 + 8, 8, "myqueue.nodes[244].next");
        case.named("myqueue", 8 + 2 * 16, 16, "myqueue.nodes[2]");
        case.named("myqueue", 8 + 2 * 16, 48, "myqueue.nodes[2 ... 4]");
        let both = 8 + 300 * 16;
        case.named("myqueue", both, 8, "myqueue.both.whole");
        case.named("myqueue", both, 4, "myqueue.both.low");
        case.named("myqueue", both + 4, 4, "myqueue.both.high");
        case.named("myqueue", both + 2, 1, "myqueue.both.whole (byte 2)");
        case.named("myqueue", both + 8, 4, "myqueue.bits.{a, b, c}");
        case.named("myqueue", both + 8, 1, "myqueue.bits.{a, b}");
        case.named("myqueue", both + 10, 1, "myqueue.bits.c");
        case.named("myqueue", both + 16, 40, "myqueue.lock");
        case.named("myqueue", both + 16, 0, "myqueue.lock");
        case.named("myqueue", both + 16, 4, "myqueue.lock");
    });
}

#[test]
fn arrays_of_arrays_and_statics_of_functions_are_named_as_in_c() {
    each(Language::C, ("names.c", C), |case| {
        case.named("grid", 0, 4, "grid[0][0]");
        case.named("grid", 4 * 6, 4, "grid[1][2]");
        case.named("grid", 4 * 6, 0, "grid[1][2]");
        case.named("grid", 0, 48, "grid");
        case.named("grid", 4 * 2, 8, "grid[0][2] and following");
        case.named("hidden", 0, 4, "hidden");
        case.named("calls", 0, 4, "count::calls");
        case.named("calls_inside", 0, 4, "count::calls_inside");
        case.named("once", 0, 1, "once");
    });
}

#[test]
fn values_are_read_as_their_types_say() {
    each(Language::C, ("names.c", C), |case| {
        case.valued("colour", &[7, 0, 0, 0], "GREEN");
        case.valued("colour", &[0xff; 4], "NONE");
        case.valued("flag", &[1], "true");
        case.valued("letter", b"q", "'q'");
        case.valued("byte", b"q", "113");
        case.valued("ratio", &0.5f64.to_le_bytes(), "0.5");
        case.valued("pointer", &[0; 8], "NULL");
        case.valued("grid", &[0xff; 4], "-1");
        case.valued("myqueue", &[0xff; 4], "4294967295");
    });
}

#[test]
fn a_pointer_to_something_with_a_name_is_shown_by_it() {
    each(Language::C, ("names.c", C), |case| {
        let base = 0x5555_5555_4000;
        let mut images = Images::default();
        images.add(case.program.program(), base, base..base + 0x10_0000);
        let at = |symbol: &str, offset: u64| base + case.addresses.at(symbol) + offset;
        let pointer = images.variable(at("pointer", 0), 8).unwrap();
        let value = |address: u64| images.value(&pointer, &address.to_le_bytes());
        assert_eq!(value(at("grid", 24)), "&grid[1][2]");
        assert_eq!(value(at("myqueue", 8 + 16)), "&myqueue.nodes[1]");
        assert_eq!(value(at("myqueue", 8 + 16 + 8)), "&myqueue.nodes[1].next");
        assert_eq!(value(at("count", 0)), "count");
        assert_eq!(value(0), "NULL");
        assert_eq!(value(0x10), "0x10");
    });
}

const CPP: &str = r#"
#include <atomic>
#include <array>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>
namespace store {
struct Base { long first; virtual ~Base() {} };
struct Other { int other; };
struct Derived : Base, Other {
    std::atomic<int> counter;
    static int shared;
    struct { int x; union { int u; float f; }; };
    std::mutex mutex;
    std::array<int, 4> items;
};
int Derived::shared = 3;
Derived object;
template <typename T> struct Holder { static T value; T add(T more) { static T sum; return sum += more; } };
template <typename T> T Holder<T>::value;
enum class Colour { red, green } colour;
}
namespace { int unnamed; std::atomic<bool> ready; }
namespace outer { inline namespace v1 { struct Pair { int one, two; } pairs[2]; } }
std::vector<int> vector;
std::shared_ptr<int> owner;
std::atomic_flag flag;
thread_local int mine[2];
int main() {
    unnamed++; mine[1]++; ready = true;
    auto lambda = [] { static int inside; return ++inside; };
    return store::Holder<int>().add(1) + store::Holder<int>::value + lambda() != 2;
}
"#;

#[test]
fn classes_namespaces_and_the_standard_library_are_named_as_in_c_plus_plus() {
    each(Language::CPlusPlus, ("names.cpp", CPP), |case| {
        // A pointer to the virtual functions, then the base classes, then the members.
        case.named("_ZN5store6objectE", 0, 8, "store::object._vptr");
        case.named("_ZN5store6objectE", 8, 8, "store::object.first");
        case.named("_ZN5store6objectE", 16, 4, "store::object.other");
        case.named("_ZN5store6objectE", 20, 4, "store::object.counter");
        case.named("_ZN5store6objectE", 24, 4, "store::object.x");
        case.named("_ZN5store6objectE", 28, 4, "store::object.u");
        case.named("_ZN5store6objectE", 32, 40, "store::object.mutex");
        case.named("_ZN5store6objectE", 32, 4, "store::object.mutex");
        case.named("_ZN5store6objectE", 72 + 8, 4, "store::object.items[2]");
        case.named("_ZN5store7Derived6sharedE", 0, 4, "store::Derived::shared");
        case.named(
            "_ZN5store6HolderIiE5valueE",
            0,
            4,
            "store::Holder<int>::value",
        );
        case.named("E3sum", 0, 4, "store::Holder<int>::add::sum");
        case.named("7unnamedE", 0, 4, "unnamed");
        case.named("5readyE", 0, 1, "ready");
        case.named("E6inside", 0, 4, "main::lambda::inside");
        case.named("_ZN5outer2v15pairsE", 12, 4, "outer::v1::pairs[1].two");
        case.named("vector", 8, 8, "vector");
        case.named("flag", 0, 1, "flag");
        case.valued("_ZN5store6colourE", &[1, 0, 0, 0], "green");
        case.valued("5readyE", &[1], "true");
    });
}

#[test]
fn thread_local_variables_are_named_by_their_offset() {
    each(Language::CPlusPlus, ("names.cpp", CPP), |case| {
        let variable = case.names.thread_local(4, 4).unwrap();
        assert_eq!(variable.name, "mine[1]", "{}", case.compiler);
    });
}

const LINES: &str = "\
int shared;
static inline __attribute__((always_inline)) int inlined(int more) {
    return shared += more;
}
namespace deep { struct Worker { int work(int x); }; }
int deep::Worker::work(int x) {
    return inlined(x);
}
int main() { return deep::Worker().work(0); }
";

#[test]
fn instructions_have_lines_and_functions_inlined_ones_first() {
    each(Language::CPlusPlus, ("lines.cpp", LINES), |case| {
        let worker = case.addresses.at("_ZN4deep6Worker4workEi");
        let stacks = (worker..worker + 80).map(|address| case.names.frames(address));
        let inlined = stacks.into_iter().find(|frames| frames.len() == 2).unwrap();
        let frame = |index: usize| {
            let frame = &inlined[index];
            (frame.function.as_deref().unwrap(), frame.line.unwrap())
        };
        assert_eq!(frame(0), ("inlined", 3), "{}", case.compiler);
        assert_eq!(frame(1), ("deep::Worker::work", 7), "{}", case.compiler);
        let file = inlined[0].file.as_deref().unwrap();
        assert!(
            file.starts_with('/') && file.ends_with("/lines.cpp"),
            "{file}"
        );
        let main = case.names.frames(case.addresses.at("main"));
        assert_eq!(
            (main[0].function.as_deref(), main[0].line),
            (Some("main"), Some(9))
        );
    });
}

const STACK: &str = r#"
#include <pthread.h>
#include <stdio.h>
struct pair { int one; int two[3]; };
__attribute__((noinline)) void report(void *address) {
    char **frame = __builtin_frame_address(0);
    printf("%p %p %p %p %p\n", address, (void *)report, __builtin_return_address(0), (void *)frame, (void *)frame[0]);
    for (int i = 0; i < 64; i++) printf("%p\n", (void *)frame[i]);
}
#line 1 "/usr/include/between.h"
__attribute__((noinline)) void between(struct pair *pair, long *others) {
    volatile long room[4] = {0, 0, 0, 0};
    report(&pair->two[1]);
    report(&others[2]);
    report((void *)&room[1]);
}
#line 1 "work.c"
__attribute__((noinline)) int work(void) {
    struct pair shared = {0, {0, 0, 0}};
    { long others[4] = {0, 0, 0, 0}; between(&shared, others); }
    return shared.one;
}
int main(void) { return work(); }
"#;

/// The program's output for one address: its own stack, and the address of a function.
struct Printed {
    address: u64,
    function: u64,
    registers: Registers,
    start: u64,
    stack: Vec<u64>,
}

fn printed(program: &Path) -> Vec<Printed> {
    let printed = run(&mut Command::new(program));
    let mut numbers = printed.split_whitespace().map(|word| {
        u64::from_str_radix(word.trim_start_matches("0x").trim_matches(['(', ')']), 16).unwrap_or(0)
    });
    let mut all = Vec::new();
    while let Some(address) = numbers.next() {
        let mut next = || numbers.next().unwrap();
        let (function, returns_to, frame, callers_frame) = (next(), next(), next(), next());
        all.push(Printed {
            address,
            function,
            registers: Registers::new(returns_to - 1, frame + 16, callers_frame),
            start: frame,
            stack: (0..64).map(|_| next()).collect(),
        });
    }
    all
}

/// Returns eight bytes of the image as it is loaded.
fn loaded(image: &object::File<'_>, address: u64) -> Option<u64> {
    let mut segments = image.segments();
    segments.find_map(|segment| {
        let bytes = segment.data_range(address, 8).ok()??;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    })
}

#[test]
fn local_variables_are_found_in_whichever_frame_has_them() {
    each(Language::C, ("stack.c", STACK), |case| {
        let expected = ["work::shared.two[1]", "work::others[2]", "between::room[1]"];
        let printed = printed(&case.program.program());
        assert_eq!(printed.len(), expected.len());
        let data = fs::read(case.program.program()).unwrap();
        let file = object::File::parse(&*data).unwrap();
        for (printed, name) in printed.iter().zip(expected) {
            let base = printed.function - case.addresses.at("report");
            let mut images = Images::default();
            images.add(case.program.program(), base, base..base + 0x10_0000);
            let memory = |address: u64| {
                if (base..base + 0x10_0000).contains(&address) {
                    return loaded(&file, address - base);
                }
                let index = address.checked_sub(printed.start)? / 8;
                printed.stack.get(usize::try_from(index).ok()?).copied()
            };
            let size = if name.starts_with("work::shared") {
                4
            } else {
                8
            };
            let bytes = (printed.address, size);
            let local = images.local(&printed.registers, &memory, bytes);
            assert_eq!(
                local.map(|local| local.name).as_deref(),
                Some(name),
                "{}",
                case.compiler
            );
            let scanned = images.on_stack(bytes, &memory);
            assert_eq!(
                scanned.map(|local| local.name).as_deref(),
                Some(name),
                "{}",
                case.compiler
            );
            let returns_to = printed.registers.instruction() + 1;
            let position = images
                .outside_libraries(returns_to, printed.start + 8, &memory)
                .unwrap();
            let caller = &images.frames(position - 1)[0];
            assert_eq!(
                (caller.function.as_deref(), caller.line),
                (Some("work"), Some(3)),
                "{}",
                case.compiler
            );
            let stack = images.stack(&printed.registers, &memory);
            let functions: Vec<_> = stack
                .iter()
                .filter_map(|at| at.frames.first()?.function.as_deref())
                .collect();
            assert_eq!(functions, ["between", "work", "main"], "{}", case.compiler);
        }
    });
}

const BLOCKS: &str = r#"
#include <cstdio>
#include <cstdlib>
#include <atomic>
__attribute__((noinline)) void *allocate(size_t size) {
    printf("%p %p\n", (void *)allocate, __builtin_return_address(0));
    return malloc(size);
}
__attribute__((noinline)) void *operator new(size_t size) {
    printf("%p %p\n", (void *)allocate, __builtin_return_address(0));
    return malloc(size);
}
void operator delete(void *block) noexcept { free(block); }
void operator delete(void *block, size_t) noexcept { free(block); }
namespace list {
struct node { int value; node *next; };
struct Counter { std::atomic<int> count; long room[3]; Counter(int start) : count(start) {} };
}
typedef struct { char letter; int numbers[3]; } pack;
list::node *head;
pack *packs;
int *plain;
int main() {
    list::node *first = (list::node *)allocate(sizeof(list::node));
    head = (list::node *)allocate(4 * sizeof(list::node));
    packs = (pack *)allocate(sizeof(pack));
    auto *counter = new list::Counter(3);
    int *numbers = (int *)allocate(5 * sizeof(int));
    void *nothing = allocate(16);
    return first == nullptr || nothing == nullptr || counter == nullptr || numbers == nullptr;
}
"#;

#[test]
fn blocks_of_the_heap_have_the_type_of_what_their_address_is_stored_into() {
    each(Language::CPlusPlus, ("blocks.cpp", BLOCKS), |case| {
        let data = fs::read(case.program.program()).unwrap();
        let file = object::File::parse(&*data).unwrap();
        let printed = run(&mut Command::new(case.program.program()));
        let mut sites = printed.lines().map(|line| {
            let address =
                |word: &str| u64::from_str_radix(word.trim_start_matches("0x"), 16).unwrap();
            let (function, returns_to) = line.split_once(' ').unwrap();
            (
                address(function) - case.addresses.at("_Z8allocatem"),
                address(returns_to),
            )
        });
        for (size, offset, length, name) in [
            (16, 8, 8, Some("list::node.next")),
            (64, 32, 4, Some("list::node[2].value")),
            (16, 8, 4, Some("pack.numbers[1]")),
            (32, 0, 4, Some("list::Counter.count")),
            (20, 12, 4, Some("int[3]")),
            (16, 0, 8, None),
        ] {
            let (base, returns_to) = sites.next().unwrap();
            let mut images = Images::default();
            images.add(case.program.program(), base, base..base + 0x10_0000);
            let memory = |address: u64| loaded(&file, address.checked_sub(base)?);
            let found = images.in_block(Block { returns_to, size }, (offset, length), &memory);
            let found = found.map(|content| format!("{}{}", content.type_name, content.part.name));
            assert_eq!(found.as_deref(), name, "{}", case.compiler);
        }
    });
}

#[test]
fn without_debug_information_symbols_take_its_place() {
    let workshop = Workshop::new();
    for compiler in compilers(Language::CPlusPlus) {
        let case = Case::new(&workshop, &compiler, ("names.cpp", CPP), &["-g0"]);
        case.named("_ZN5store6objectE", 0, 8, "store::object");
        case.named("_ZN5store6objectE", 20, 4, "store::object+20");
        let main = case.names.frames(case.addresses.at("main"));
        assert_eq!(main[0].function.as_deref(), Some("main"));
        assert_eq!(main[0].line, None);
        assert!(case.names.variable(1, 4).is_none());
    }
}

#[test]
fn variables_of_several_sources_are_distinguished() {
    let workshop = Workshop::new();
    for compiler in compilers(Language::C) {
        let one = workshop.file(
            "one.c",
            "static int same[2]; int *one(void) { return same; }",
        );
        let two = workshop.file(
            "two.c",
            "static struct { int a, b; } same; int *one(void); int main(void) { return one()[1] + same.b; }",
        );
        let build = mazurka_native::Build {
            compiler: &compiler,
            library: &workshop.library,
            files: &[one, two],
            flags: &[],
        };
        let program = build.run(&|| false).unwrap();
        let names = Names::read(&program.program()).unwrap();
        let data = fs::read(program.program()).unwrap();
        let file = object::File::parse(&*data).unwrap();
        let mut found: Vec<String> = file
            .symbols()
            .filter(|symbol| symbol.name() == Ok("same"))
            .map(|symbol| names.variable(symbol.address() + 4, 4).unwrap().name)
            .collect();
        found.sort();
        assert_eq!(found, ["same.b", "same[1]"], "{}", compiler.name());
    }
}

#[test]
fn a_file_that_is_no_program_is_an_error() {
    let workshop = Workshop::new();
    let text = workshop.file("text", "hello");
    for path in [text, workshop.folder.path().join("nothing")] {
        let error = Names::read(&path).err().unwrap().to_string();
        assert!(error.starts_with(&path.display().to_string()), "{error}");
    }
}
