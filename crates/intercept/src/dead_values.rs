//! Values on a thread's stack and in its registers that are never read again. The await rule, which
//! stops a thread whose spin loop makes no progress, treats states that differ only in these values
//! as equal.

use crate::gate::Own;
use crate::source_map;
use crate::{image, unhooked};
use native::{Images, Waiting};
use runtime::native::on_own_stack;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Functions that wait for a call to return, by the return address of the call. `None` if the
/// analysis of the function failed.
static WAITING: Own<Option<FxHashMap<usize, Option<Waiting>>>> = Own::new(None);

/// Whether the program calls functions that return twice (`setjmp`). If it does, nothing is
/// cleared, because the analysis does not know the paths of the second return.
static RETURNS_TWICE: Own<Option<bool>> = Own::new(None);

const RETURNING_TWICE: [&str; 7] = [
    "_setjmp",
    "setjmp",
    "__sigsetjmp",
    "sigsetjmp",
    "getcontext",
    "swapcontext",
    "vfork",
];

/// Number of innermost frames that are analysed. All bytes of the other frames are compared.
const DEEPEST: usize = 64;

const WORD: usize = size_of::<usize>();
const REGISTERS: usize = 6;
/// Index of the frame pointer among the registers.
const FRAME_POINTER: usize = 4;

/// The dead parts of a stack. All positions except `start` are offsets from the start of the copy.
#[derive(Default)]
struct Plan {
    /// Address of the copied part of the stack.
    start: usize,
    /// Size in bytes of the copied part.
    length: usize,
    /// Words of the stack on which `dead` depends: offset and value.
    words: Vec<(usize, usize)>,
    /// The bytes that are cleared.
    dead: Vec<Range<usize>>,
}

/// A cache of plans. The start of the stack and the innermost return address determine the slot.
static PLANS: Own<Vec<Plan>> = Own::new(Vec::new());

const SLOTS: usize = 64;

/// Size of a page in bytes. The stacks of threads are whole pages apart.
const PAGE: usize = 4096;

/// Clears the dead values in a copy of a part of a stack. The part begins at the address `start`
/// with a frame (`Frame`): saved registers and a return address.
pub(crate) fn clear(start: usize, copy: &mut [u8]) {
    if returns_twice() {
        return;
    }
    let plans = PLANS.get();
    if plans.is_empty() {
        plans.resize_with(SLOTS, Plan::default);
    }
    let code = word(REGISTERS * WORD, copy).unwrap_or_default();
    let plan = &mut plans[((start / PAGE) ^ code) % SLOTS];
    if !plan.is_of(start, copy) {
        *plan = Plan::new(start, copy);
    }
    for dead in &plan.dead {
        copy[dead.clone()].fill(0);
    }
}

impl Plan {
    fn is_of(&self, start: usize, copy: &[u8]) -> bool {
        let mut words = self.words.iter();
        (self.start, self.length) == (start, copy.len())
            && words.all(|&(offset, value)| word(offset, copy) == Some(value))
    }

    fn new(start: usize, copy: &[u8]) -> Plan {
        let length = copy.len();
        let mut plan = Plan {
            start,
            length,
            ..Plan::default()
        };
        let mut read = |offset: usize| {
            let value = word(offset, copy)?;
            plan.words.push((offset, value));
            Some(value)
        };
        let mut forget = |dead: Range<usize>| {
            if dead.start < dead.end && dead.end <= length {
                plan.dead.push(dead);
            }
        };
        let mut registers: [usize; REGISTERS] = std::array::from_fn(|number| number * WORD);
        let mut slot = REGISTERS * WORD;
        for _ in 0..DEEPEST {
            let stack = slot + WORD;
            let Some(waiting) = read(slot).and_then(waiting_at) else {
                break;
            };
            let base = match waiting.is_by_frame {
                true => read(registers[FRAME_POINTER]).map(|base| base.wrapping_sub(start)),
                false => Some(stack),
            };
            let end = base.map(|base| base.wrapping_add_signed(waiting.distance as isize));
            let Some(end) = end.filter(|&end| end > stack && end <= length) else {
                break;
            };
            let slot_above = end - WORD;
            for (&place, &is_dead) in registers.iter().zip(&waiting.dead.registers) {
                if is_dead {
                    forget(place..place.wrapping_add(WORD));
                }
            }
            for part in &waiting.dead.frame {
                let [from, to] =
                    [part.start, part.end].map(|offset| end.saturating_add_signed(offset as isize));
                forget(from.max(stack)..to.min(slot_above));
            }
            for (place, saved) in registers.iter_mut().zip(&waiting.saved) {
                if let Some(offset) = saved {
                    *place = end.wrapping_add_signed(*offset as isize);
                }
            }
            slot = slot_above;
        }
        plan.dead.sort_by_key(|dead| dead.start);
        plan.dead.dedup_by(|dead, before| {
            let touches = dead.start <= before.end;
            if touches {
                before.end = before.end.max(dead.end);
            }
            touches
        });
        plan
    }
}

/// Returns the word at an offset in a copy of a stack.
fn word(offset: usize, copy: &[u8]) -> Option<usize> {
    let word = copy.get(offset..offset.checked_add(WORD)?)?;
    Some(usize::from_ne_bytes(word.try_into().ok()?))
}

/// The images at the beginning of the program's `main`. The dynamic linker is not queried later,
/// because a suspended thread of the program may hold its lock.
static IMAGES: Own<Option<Images>> = Own::new(None);

/// Saves the images when the program's `main` is about to begin.
pub(crate) fn save() {
    *IMAGES.get() = Some(source_map::loaded());
}

/// Returns the function that contains a return address, if the function could be analysed.
fn waiting_at(returns_to: usize) -> Option<&'static Waiting> {
    let known = WAITING.get().get_or_insert_default();
    let find = || {
        let (code, offset) = image::code_around(returns_to.checked_sub(1)?)?;
        let images = IMAGES.get().as_ref()?;
        images.waiting(returns_to as u64, (code, offset + 1), unhooked::process()?)
    };
    // The program's stack must not keep any remains of this lookup.
    let waiting = known
        .entry(returns_to)
        .or_insert_with(|| on_own_stack(find));
    waiting.as_ref()
}

fn returns_twice() -> bool {
    *RETURNS_TWICE
        .get()
        .get_or_insert_with(|| image::calls_any(&RETURNING_TWICE))
}
