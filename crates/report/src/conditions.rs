//! The options that affect executions of a program. A search, an order to a process, a checkpoint
//! and a schedule file contain the same options.

use crate::quantity::count;
use explore::MemoryModel;
use serde::{Deserialize, Serialize};

/// The conditions of a run that affect executions of the program.
///
/// ```
/// use report::{Conditions, Order};
///
/// // An order has the conditions among its other fields.
/// let mut order = Order::default();
/// order.conditions.timeouts = 3;
/// let text = serde_json::to_string(&order).unwrap();
/// assert!(text.contains(r#""timeouts":3"#));
/// // Absent conditions have their defaults.
/// let order = Order::read(&text.replace(r#""timeouts":3,"#, "")).unwrap();
/// assert_eq!(order.conditions, Conditions::default());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Conditions {
    /// The number of operations after which a thread stops (`Halt::Bound(Bound::Events)`).
    pub max_events: u32,
    /// The number of timed operations of a thread that may expire. The thread stops when one more
    /// expires.
    pub timeouts: u32,
    /// The number of operations of a thread that may fail or wake up spuriously.
    pub spurious: u32,
    /// The number of allocations of a thread that may reuse freed memory.
    pub reuse: u32,
    /// Whether each panic is a failure, even a panic that the program observes (by join, or as
    /// poison).
    pub panics_fail: bool,
    /// Whether threads may still wait after the main thread has returned.
    pub waiting_after_main: bool,
    /// Whether plain accesses of a native program are events, treated like sequentially consistent
    /// atomic accesses. If not, two unordered accesses that are not both reads are a data race,
    /// which is a bug (C11, C++11).
    pub interleaves_plain: bool,
    /// How often a thread of a native program may return to the same place that reads memory. Then
    /// the thread stops (`Halt::Bound(Bound::Unroll)`). See also [`Conditions::observed_rounds`].
    pub unroll: Option<u32>,
    /// Whether the verified schedules will be enforced outside of the model
    /// ([`mazurka::program`](https://docs.rs/mazurka)). If so, the set of events must not depend on
    /// what the search learns, so changes to the reference count of an `Arc` are always events.
    /// Every operation that cannot be enforced is a failure.
    pub is_enforceable: bool,
    /// The memory model, which determines what a read may read.
    pub memory: MemoryModel,
}

/// The default of [`Conditions::observed_rounds`]. More rounds multiply the executions but seldom
/// show anything new.
const OBSERVED_ROUNDS: u32 = 1;

impl Default for Conditions {
    fn default() -> Conditions {
        Conditions {
            max_events: 10_000,
            timeouts: 2,
            spurious: 0,
            reuse: 0,
            panics_fail: false,
            waiting_after_main: false,
            interleaves_plain: false,
            unroll: None,
            is_enforceable: false,
            memory: MemoryModel::Sc,
        }
    }
}

impl Conditions {
    /// Returns how often a thread may repeat a spin loop whose rounds undo all their effects,
    /// although other threads observe these effects in between. Then the thread stops
    /// (`Halt::Bound(Bound::Unroll)`). Without a limit, two threads could repeat their loops
    /// forever.
    pub fn observed_rounds(&self) -> u32 {
        self.unroll.unwrap_or(OBSERVED_ROUNDS)
    }

    /// Returns the name and the value of each condition, as text.
    pub fn described(&self) -> [(&'static str, String); 10] {
        let Conditions {
            max_events,
            timeouts,
            spurious,
            reuse,
            panics_fail,
            waiting_after_main,
            interleaves_plain,
            unroll,
            is_enforceable,
            memory,
        } = *self;
        let number = |limit: u32| count(limit.into());
        let either = |is_so, one: &str, other: &str| if is_so { one } else { other }.to_owned();
        [
            ("memory model", memory.name().to_owned()),
            ("limit on operations per thread", number(max_events)),
            ("limit on timeouts per thread", number(timeouts)),
            (
                "verdict on panics that the program handles",
                either(panics_fail, "a bug", "no bug"),
            ),
            (
                "verdict on threads that still wait when main returns",
                either(waiting_after_main, "no bug", "a bug"),
            ),
            (
                "treatment of plain accesses",
                either(interleaves_plain, "interleaved", "checked for races"),
            ),
            (
                "limit on iterations of a loop",
                unroll.map_or("none".to_owned(), number),
            ),
            (
                "purpose",
                either(is_enforceable, "safe execution", "a check"),
            ),
            (
                "limit on spurious failures and wakeups per thread",
                number(spurious),
            ),
            (
                "limit on allocations per thread that reuse memory",
                number(reuse),
            ),
        ]
    }
}
