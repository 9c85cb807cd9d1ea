//! The configuration of the model that a search runs.

use super::Checker;
use runtime::Config;
use runtime::native::{Memory, Native, PlainAccesses, SourceMap};

/// What the checker asks of the model.
pub(super) fn config_of(checker: &Checker) -> Config {
    let default = Config::default();
    Config {
        max_events: checker.conditions.max_events,
        timeouts: checker.conditions.timeouts,
        panics_fail: checker.conditions.panics_fail,
        waiting_after_main: checker.conditions.waiting_after_main,
        leaks_fail: checker.leaks_fail,
        spurious: checker.conditions.spurious,
        reuse: checker.conditions.reuse,
        waits_alone: checker.waits_alone,
        noticed_rounds: checker.noticed_rounds(),
        is_enforceable: checker.conditions.is_enforceable,
        max_threads: checker.max_threads,
        explores: checker.explores,
        locations: checker.locations,
        library: crate::sources(),
        patience: checker.patience.unwrap_or(default.patience),
        native: checker.native.map(|native| native_of(checker, native)),
        without: checker.without.clone(),
        stack_size: match checker.native {
            Some(_) => NATIVE_STACK,
            None => checker.stack_size.unwrap_or(default.stack_size),
        },
    }
}

/// Bytes of the stack of a native thread, as its system would give it; only what is used takes memory.
const NATIVE_STACK: usize = (8 << 20) + runtime::native::SPARE_STACK;

fn native_of(
    checker: &Checker,
    (source_map, memory): (&'static dyn SourceMap, &'static dyn Memory),
) -> Native {
    Native {
        plain: match checker.conditions.interleaves_plain {
            true => PlainAccesses::Interleaved,
            false => PlainAccesses::Raced,
        },
        unroll: checker.conditions.unroll,
        source_map,
        memory,
    }
}
