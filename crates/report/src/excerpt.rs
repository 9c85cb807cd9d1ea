//! Selects the rows of a long execution that are shown: those around decisive events.

use crate::interleaving::Interleaving;
use std::collections::BTreeSet;

/// The number of rows above which an execution is shortened.
const ROWS: usize = 48;
/// Rows kept at the start of a shortened execution.
const FIRST_ROWS: usize = 4;
/// Rows kept on both sides of a decisive row.
const AROUND: usize = 1;
/// Rows kept before the failure.
const BEFORE_FAILURE: usize = 6;
/// The largest number of threads that did not run to completion and whose last row is kept.
const WAITING: usize = 16;

/// Returns the shown rows, sorted. They include the rows in `racing`.
pub(crate) fn excerpt(interleaving: &Interleaving, racing: &BTreeSet<usize>) -> Vec<usize> {
    let rows = &interleaving.rows;
    if rows.len() <= ROWS {
        return (0..rows.len()).collect();
    }
    let mut kept: BTreeSet<usize> = (0..FIRST_ROWS).collect();
    for &row in racing {
        kept.extend(row.saturating_sub(AROUND)..=row + AROUND);
    }
    for (row, _) in rows.iter().enumerate().filter(|(_, row)| row.failed) {
        kept.extend(row.saturating_sub(BEFORE_FAILURE)..=row + AROUND);
    }
    kept.extend(rows.len().saturating_sub(BEFORE_FAILURE)..rows.len());
    // The last row of each thread that does not run to completion shows where the thread waits.
    for (thread, _) in interleaving
        .ends
        .iter()
        .enumerate()
        .filter(|(_, end)| !end.is_empty())
        .take(WAITING)
    {
        kept.extend(rows.iter().rposition(|row| row.thread == thread));
    }
    // A gap of one row is filled.
    let lonely: Vec<usize> = kept
        .iter()
        .map(|row| row + 1)
        .filter(|row| !kept.contains(row) && kept.contains(&(row + 1)))
        .collect();
    kept.extend(lonely);
    kept.into_iter().filter(|&row| row < rows.len()).collect()
}
