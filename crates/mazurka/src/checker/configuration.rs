//! The configuration of the model that a search runs.

use super::settings::Settings;
use runtime::Config;
use runtime::native::{Memory, Native, PlainAccesses, SourceMap};

/// Returns the configuration of the model.
pub(super) fn config_of(settings: &Settings) -> Config {
    let default = Config::default();
    Config {
        max_events: settings.conditions.max_events,
        timeouts: settings.conditions.timeouts,
        panics_fail: settings.conditions.panics_fail,
        waiting_after_main: settings.conditions.waiting_after_main,
        leaks_fail: settings.leaks_fail,
        spurious: settings.conditions.spurious,
        reuse: settings.conditions.reuse,
        waits_alone: settings.waits_alone,
        noticed_rounds: settings.noticed_rounds(),
        is_enforceable: settings.conditions.is_enforceable,
        max_threads: settings.max_threads,
        explores: settings.explores,
        locations: settings.locations,
        library: crate::sources(),
        patience: settings.patience.unwrap_or(default.patience),
        native: settings.native.map(|native| native_of(settings, native)),
        without: settings.without.clone(),
        stack_size: match settings.native {
            Some(_) => NATIVE_STACK,
            None => settings.stack_size.unwrap_or(default.stack_size),
        },
    }
}

/// Stack size of a native thread in bytes, as on its system. Only used pages take memory.
const NATIVE_STACK: usize = (8 << 20) + runtime::native::SPARE_STACK;

fn native_of(
    settings: &Settings,
    (source_map, memory): (&'static dyn SourceMap, &'static dyn Memory),
) -> Native {
    Native {
        plain: match settings.conditions.interleaves_plain {
            true => PlainAccesses::Interleaved,
            false => PlainAccesses::Raced,
        },
        unroll: settings.conditions.unroll,
        source_map,
        memory,
    }
}
