//! Vector clocks of the events in one flat column (Mattern 1989, Fidge 1988).

use super::{EventId, ThreadId};
use serde::{Deserialize, Serialize};

/// A group of entries that are copied and joined together. Each row is padded to whole groups.
pub(super) type Lanes = [u32; LANES];

const LANES: usize = 4;

/// The limit for the lanes of a suffix from a file: 64 MiB.
const MOST_LANES: usize = 1 << 22;

/// One row per event: for each thread, the number of its events that happen before the event or are
/// the event.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub(super) struct Clocks {
    /// Lanes per row.
    stride: usize,
    rows: Vec<Lanes>,
}

impl Clocks {
    /// Returns the number of entries per row.
    pub(super) fn width(&self) -> usize {
        self.stride * LANES
    }

    /// Checks whether there is exactly one row for each of the given number of events.
    pub(super) fn has_rows(&self, events: usize) -> bool {
        events.checked_mul(self.stride) == Some(self.rows.len())
    }

    /// Returns the number of lanes per row.
    pub(super) fn stride(&self) -> usize {
        self.stride
    }

    pub(super) fn row(&self, event: EventId) -> &[u32] {
        self.lanes(event).as_flattened()
    }

    fn lanes(&self, event: EventId) -> &[Lanes] {
        &self.rows[event.index() * self.stride..][..self.stride]
    }

    pub(super) fn at(&self, event: EventId, thread: ThreadId) -> u32 {
        self.row(event).get(thread.index()).copied().unwrap_or(0)
    }

    /// Appends the row of the event with this index, which follows `previous` in its thread.
    pub(super) fn push(&mut self, previous: Option<EventId>, thread: ThreadId, index: u32) {
        let end = self.rows.len();
        match previous {
            // A copy of a known size is much faster than a copy of a variable size.
            Some(previous) if self.stride == 1 => self.rows.push(self.rows[previous.index()]),
            Some(previous) => {
                let start = previous.index() * self.stride;
                self.rows.extend_from_within(start..start + self.stride);
            }
            None => self.rows.resize(end + self.stride, Lanes::default()),
        }
        self.rows[end + thread.index() / LANES][thread.index() % LANES] = index;
    }

    /// Joins the row of `event` to the last row.
    pub(super) fn join(&mut self, event: EventId) {
        let before_last = self.rows.len() - self.stride;
        let (rows, last) = self.rows.split_at_mut(before_last);
        let row = &rows[event.index() * self.stride..][..self.stride];
        for (lanes, other) in last.iter_mut().zip(row) {
            join_into(lanes, other);
        }
    }

    pub(super) fn truncate(&mut self, events: usize) {
        self.rows.truncate(events * self.stride);
    }

    /// Makes room for the given number of threads.
    pub(super) fn widen(&mut self, threads: usize) {
        let stride = threads.div_ceil(LANES);
        if stride > self.stride {
            self.rows = restride(&self.rows, self.stride, stride);
            self.stride = stride;
        }
    }

    /// Copies the rows from event number `from` on to `into`.
    pub(super) fn copy_from(&self, from: usize, into: &mut Vec<Lanes>) {
        into.clear();
        into.extend_from_slice(&self.rows[from * self.stride..]);
    }

    /// Checks whether `append` can append these rows for this number of events, in a limited amount
    /// of memory.
    pub(super) fn fits(&self, events: usize, rows: &[Lanes], stride: usize) -> bool {
        let lanes = events.checked_mul(self.stride);
        events.checked_mul(stride) == Some(rows.len())
            && stride <= self.stride
            && (stride > 0 || self.stride == 0)
            && lanes.is_some_and(|lanes| lanes <= MOST_LANES)
    }

    /// Checks whether these rows, widened to the current stride, equal the rows from event number
    /// `from` on. The rows must fit.
    pub(super) fn has_rows_from(&self, from: usize, rows: &[Lanes], stride: usize) -> bool {
        restride(rows, stride, self.stride) == self.rows[from * self.stride..]
    }

    /// Appends rows that were copied when a row had `stride` lanes.
    pub(super) fn append(&mut self, rows: &[Lanes], stride: usize) {
        if stride == self.stride {
            self.rows.extend_from_slice(rows);
        } else {
            self.rows.extend(restride(rows, stride, self.stride));
        }
    }
}

/// Copies the rows, widened from `from` to `to` lanes each.
fn restride(rows: &[Lanes], from: usize, to: usize) -> Vec<Lanes> {
    if from == 0 {
        return Vec::new();
    }
    let mut wide = Vec::with_capacity(rows.len() / from * to);
    for row in rows.chunks_exact(from) {
        wide.extend_from_slice(row);
        wide.resize(wide.len() + to - from, Lanes::default());
    }
    wide
}

/// clock := clock ⊔ other
///
/// Entries are below 2^31, like the lengths of executions. They are compared as signed numbers,
/// because some machines have no vector instruction that compares unsigned numbers.
pub(crate) fn join_into(clock: &mut [u32], other: &[u32]) {
    for (entry, &other) in clock.iter_mut().zip(other) {
        *entry = (*entry as i32).max(other as i32) as u32;
    }
}
