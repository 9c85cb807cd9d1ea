//! Vector clocks of the events, one flat column (Mattern 1989, Fidge 1988).

use super::{EventId, ThreadId};
use serde::{Deserialize, Serialize};

/// A row per event, an entry per thread: how many events of the thread happen before or at the event.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub(super) struct Clocks {
    /// Entries per row, a multiple of `LANES`.
    stride: usize,
    rows: Vec<u32>,
}

/// Rows are padded to this, so that joins need no remainder loop.
const LANES: usize = 4;

impl Clocks {
    pub(super) fn stride(&self) -> usize {
        self.stride
    }

    pub(super) fn row(&self, event: EventId) -> &[u32] {
        &self.rows[event.index() * self.stride..][..self.stride]
    }

    pub(super) fn at(&self, event: EventId, thread: ThreadId) -> u32 {
        self.row(event).get(thread.index()).copied().unwrap_or(0)
    }

    pub(super) fn set(&mut self, event: EventId, thread: ThreadId, index: u32) {
        self.rows[event.index() * self.stride + thread.index()] = index;
    }

    /// A row that begins as a copy of the row of `previous`.
    pub(super) fn push(&mut self, previous: Option<EventId>) {
        match previous {
            Some(previous) => {
                let start = previous.index() * self.stride;
                self.rows.extend_from_within(start..start + self.stride);
            }
            None => self.rows.resize(self.rows.len() + self.stride, 0),
        }
    }

    /// Joins the row of `event` to the last row.
    pub(super) fn join(&mut self, event: EventId) {
        let before_last = self.rows.len() - self.stride;
        let (rows, last) = self.rows.split_at_mut(before_last);
        join_into(last, &rows[event.index() * self.stride..][..self.stride]);
    }

    pub(super) fn truncate(&mut self, events: usize) {
        self.rows.truncate(events * self.stride);
    }

    /// Makes room for so many threads.
    pub(super) fn widen(&mut self, threads: usize) {
        if threads > self.stride {
            let stride = threads.next_multiple_of(LANES);
            self.rows = restride(&self.rows, self.stride, stride);
            self.stride = stride;
        }
    }

    /// Copies the rows from event number `from` on.
    pub(super) fn copy_from(&self, from: usize, into: &mut Vec<u32>) {
        into.clear();
        into.extend_from_slice(&self.rows[from * self.stride..]);
    }

    /// Appends rows that were copied when a row had `stride` entries.
    pub(super) fn append(&mut self, rows: &[u32], stride: usize) {
        if stride == self.stride {
            self.rows.extend_from_slice(rows);
        } else {
            self.rows.extend(restride(rows, stride, self.stride));
        }
    }
}

/// The same rows with more entries each.
fn restride(rows: &[u32], from: usize, to: usize) -> Vec<u32> {
    if from == 0 {
        return Vec::new();
    }
    let mut wide = Vec::with_capacity(rows.len() / from * to);
    for row in rows.chunks_exact(from) {
        wide.extend_from_slice(row);
        wide.resize(wide.len() + to - from, 0);
    }
    wide
}

/// clock := clock ⊔ other
///
/// Indices are below 2^31, as execution lengths are; every machine compares signed numbers in one step,
/// and not every one unsigned ones.
pub(crate) fn join_into(clock: &mut [u32], other: &[u32]) {
    for (entry, &other) in clock.iter_mut().zip(other) {
        *entry = (*entry as i32).max(other as i32) as u32;
    }
}
