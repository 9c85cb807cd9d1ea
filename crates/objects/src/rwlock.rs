//! Reader-writer lock: first come, first served, with concurrent readers.
//!
//! A reader queues after a waiting writer. If an implementation lets the reader pass, this is
//! equivalent to the execution in which the reader's request comes first. Only deadlocks can depend
//! on this order ([`is_overtaking`](RwLock::is_overtaking)).
//!
//! A try is one event. If a try took a place first and got its result in a second step, the results
//! of two tries would not commute. A try must conflict with the releases that decide its result. So
//! releases have an access once a lock is used with tries (`tried`). If the lock prefers readers, a
//! try-read passes waiting writers. Its result then depends on whether it comes before or after a
//! release by a reader, so such a try-read is a write.

use crate::{Form, Object, Ticket};
use explore::{EventId, OpKind, ThreadId};

/// The holders of a reader-writer lock and the waiting threads.
#[derive(Clone, Default, Debug)]
pub struct RwLock {
    places: Vec<Place>,
    /// The index of the first place that is not free, or the number of places if all are free.
    head: usize,
    /// The index of the first writer's place that is not free, or the number of places if there is
    /// none.
    first_writer: usize,
    last_write_release: Option<EventId>,
    /// Releases by readers since the last release by a writer.
    read_releases: Vec<EventId>,
    /// Whether try-reads pass waiting writers.
    prefers_readers: bool,
    /// The number of readers that hold the lock and have passed a waiting writer.
    passing: usize,
    /// The numbers of try-reads and try-writes that have failed.
    failed: [u32; 2],
}

#[derive(Clone, Copy, Debug)]
struct Place {
    thread: ThreadId,
    is_writer: bool,
    is_free: bool,
    is_passing: bool,
    /// Whether it was a writer's place when it was taken. (A writer may turn into a reader.)
    has_written: bool,
    /// Whether the thread of the place changed nothing, as in a round of a spin loop without
    /// progress.
    is_idle: bool,
    /// The index of the first place that can be granted after this place is released. For a reader
    /// that passes writers, this index is smaller than that of its own place.
    first_later: usize,
    /// The number of places when this place was released.
    taken_at_release: usize,
    /// The numbers of try-reads and try-writes that had failed when the place was taken.
    failed: [u32; 2],
}

impl RwLock {
    /// Takes a reader's place: [`read_request`](RwLock::read_request).
    pub const READ_REQUEST: Form = Form::read(OpKind::ReadRequest, 0);
    /// Waits until the reader's place is granted.
    pub const READ_WAIT: Form = Form::none(OpKind::ReadWait);
    /// Takes a writer's place: [`write_request`](RwLock::write_request).
    pub const WRITE_REQUEST: Form = Form::write(OpKind::WriteRequest, 0);
    /// Waits until the writer's place is granted.
    pub const WRITE_WAIT: Form = Form::none(OpKind::WriteWait);
    /// Returns the form of [`try_read`](RwLock::try_read).
    pub const fn try_read_form(prefers_readers: bool) -> Form {
        match prefers_readers {
            true => Form::write(OpKind::TryRead, 0),
            false => Form::read(OpKind::TryRead, 0),
        }
    }

    /// The form of [`try_write`](RwLock::try_write).
    pub const TRY_WRITE: Form = Form::write(OpKind::TryWrite, 0);

    /// Returns the form of a reader's [`release`](RwLock::release). `tried` says whether the lock
    /// is used with tries.
    pub const fn read_release(tried: bool) -> Form {
        if tried {
            Form::read(OpKind::ReadRelease, 0)
        } else {
            Form::none(OpKind::ReadRelease)
        }
    }

    /// Returns the form of a writer's [`release`](RwLock::release). `tried` says whether the lock
    /// is used with tries.
    pub const fn write_release(tried: bool) -> Form {
        if tried {
            Form::write(OpKind::WriteRelease, 0)
        } else {
            Form::none(OpKind::WriteRelease)
        }
    }

    /// Checks whether try-reads pass waiting writers.
    pub fn prefers_readers(&self) -> bool {
        self.prefers_readers
    }

    /// Takes a reader's place.
    pub fn read_request(&mut self, thread: ThreadId) -> Ticket {
        self.take(thread, false)
    }

    /// Takes a writer's place.
    pub fn write_request(&mut self, thread: ThreadId) -> Ticket {
        self.take(thread, true)
    }

    /// Takes a reader's place if no writer holds the lock and, unless readers are preferred, no
    /// writer waits.
    pub fn try_read(&mut self, thread: ThreadId) -> Option<Ticket> {
        if self.first_writer == self.places.len() {
            return Some(self.take(thread, false));
        }
        let passes = self.prefers_readers && !self.is_granted(Ticket::at(self.first_writer));
        self.failed[0] += u32::from(!passes);
        passes.then(|| {
            let first_writer = self.first_writer;
            let ticket = self.take(thread, false);
            let place = &mut self.places[ticket.index()];
            (place.is_passing, place.first_later) = (true, first_writer);
            self.passing += 1;
            ticket
        })
    }

    /// Takes a writer's place if no thread holds the lock or waits.
    pub fn try_write(&mut self, thread: ThreadId) -> Option<Ticket> {
        let is_free = self.head == self.places.len() && self.passing == 0;
        self.failed[1] += u32::from(!is_free);
        is_free.then(|| self.take(thread, true))
    }

    /// Checks whether a try may have failed because of this held place. A reader's place makes only
    /// try-writes fail. A try-read that fails while readers hold the lock fails because of a
    /// writer.
    pub fn has_made_try_fail(&self, ticket: Ticket) -> bool {
        let place = self.places[ticket.index()];
        let has_failed = |kind: usize| self.failed[kind] != place.failed[kind];
        has_failed(1) || place.is_writer && has_failed(0)
    }

    /// Records that the thread of the place changed nothing and is stopped permanently.
    pub fn made_no_progress(&mut self, ticket: Ticket) {
        self.places[ticket.index()].is_idle = true;
    }

    /// Checks whether, after the release of this place, another holder may have changed guarded
    /// data that this place's thread accesses. A reader may change only data that no other reader
    /// accesses, so between two readers the result is false.
    pub fn is_overtaken(&self, ticket: Ticket) -> bool {
        let own = self.places[ticket.index()];
        let mut later = self.places.iter().enumerate().skip(own.first_later);
        later.any(|(index, place)| {
            let was_before = place.is_passing && index < own.taken_at_release;
            let may_change = place.has_written || own.has_written && !was_before;
            index != ticket.index() && may_change && !place.is_idle
        })
    }

    /// Checks whether this is a writer's place.
    pub fn is_writer(&self, ticket: Ticket) -> bool {
        self.places[ticket.index()].is_writer
    }

    /// Frees a granted place, by the event `at`.
    pub fn release(&mut self, ticket: Ticket, at: EventId) {
        debug_assert!(self.is_granted(ticket), "only a holder releases");
        let taken_at_release = self.places.len();
        let place = &mut self.places[ticket.index()];
        (place.is_free, place.taken_at_release) = (true, taken_at_release);
        self.passing -= usize::from(place.is_passing);
        if place.is_writer {
            self.last_write_release = Some(at);
            self.read_releases.clear();
        } else {
            self.read_releases.push(at);
        }
        self.advance();
    }

    /// Turns the writer that holds the lock into a reader, by the event `at`. This is a release,
    /// followed by a reader's request before all other requests.
    pub fn downgrade(&mut self, ticket: Ticket, at: EventId) {
        debug_assert!(self.is_granted(ticket), "only a holder downgrades");
        self.places[ticket.index()].is_writer = false;
        self.last_write_release = Some(at);
        self.read_releases.clear();
        self.advance();
    }

    /// Returns the threads that hold the lock or will hold it as soon as they run.
    pub fn holders(&self) -> impl Iterator<Item = ThreadId> + '_ {
        (self.head..self.places.len())
            .filter(|&index| !self.places[index].is_free && self.is_granted(Ticket::at(index)))
            .map(|index| self.places[index].thread)
    }

    /// Returns the thread's place, which may not be granted yet, or `None` if the thread has no
    /// place. If the thread has several readers' places, returns the last one. Which one is
    /// returned does not matter.
    pub fn place_of(&self, thread: ThreadId) -> Option<Ticket> {
        let mut taken = (self.head..self.places.len()).rev();
        taken
            .find(|&index| self.places[index].thread == thread && !self.places[index].is_free)
            .map(Ticket::at)
    }

    /// Checks whether a waiting reader waits only for waiting writers. A lock that prefers readers
    /// would let the reader pass, so a deadlock that involves this wait depends on the policy of
    /// the lock.
    pub fn is_overtaking(&self, ticket: Ticket) -> bool {
        let index = ticket.index();
        !self.places[index].is_writer
            && !self.is_granted(ticket)
            && !self.is_granted(Ticket::at(self.first_writer))
    }

    fn take(&mut self, thread: ThreadId, is_writer: bool) -> Ticket {
        self.places.push(Place {
            thread,
            is_writer,
            is_free: false,
            is_passing: false,
            has_written: is_writer,
            is_idle: false,
            first_later: self.places.len() + 1,
            taken_at_release: usize::MAX,
            failed: self.failed,
        });
        self.advance();
        Ticket::at(self.places.len() - 1)
    }

    fn advance(&mut self) {
        while self
            .places
            .get(self.head)
            .is_some_and(|place| place.is_free)
        {
            self.head += 1;
        }
        self.first_writer = self.first_writer.max(self.head);
        while self
            .places
            .get(self.first_writer)
            .is_some_and(|p| p.is_free || !p.is_writer)
        {
            self.first_writer += 1;
        }
    }
}

impl Object for RwLock {
    /// Whether try-reads pass waiting writers.
    type Size = bool;
    type Wait = Ticket;

    /// The number of objects that represent a reader-writer lock.
    const PARTS: u32 = 1;

    fn clear(&mut self, prefers_readers: bool) {
        self.places.clear();
        self.head = 0;
        self.first_writer = 0;
        self.last_write_release = None;
        self.read_releases.clear();
        self.prefers_readers = prefers_readers;
        self.passing = 0;
        self.failed = [0; 2];
    }

    /// Checks whether the place is granted. A reader's place is granted if no writer is before it,
    /// or if the reader has passed the waiting writers. A writer's place is granted if no thread is
    /// before it and no reader that has passed a writer holds the lock.
    fn is_granted(&self, ticket: Ticket) -> bool {
        let place = self.places[ticket.index()];
        if place.is_writer {
            self.head == ticket.index() && self.passing == 0
        } else {
            place.is_passing || self.first_writer >= ticket.index()
        }
    }

    fn edges(&self, ticket: Ticket, edges: &mut Vec<EventId>) {
        debug_assert!(self.is_granted(ticket), "the wait is enabled");
        edges.extend(self.last_write_release);
        if self.places[ticket.index()].is_writer {
            edges.extend_from_slice(&self.read_releases);
        }
    }

    fn awaited(&self, _: Self::Wait) -> Vec<ThreadId> {
        self.holders().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(lock: &RwLock, ticket: Ticket) -> Vec<EventId> {
        let mut edges = Vec::new();
        lock.edges(ticket, &mut edges);
        edges
    }

    #[test]
    fn readers_hold_together_and_a_writer_waits_for_all() {
        let mut lock = RwLock::default();
        let (a, b) = (
            lock.read_request(ThreadId(0)),
            lock.read_request(ThreadId(1)),
        );
        let writer = lock.write_request(ThreadId(2));
        assert!(lock.is_granted(a) && lock.is_granted(b) && !lock.is_granted(writer));
        lock.release(b, EventId(3));
        assert_eq!(lock.holders().collect::<Vec<_>>(), [ThreadId(0)]);
        lock.release(a, EventId(4));
        assert!(lock.is_granted(writer));
        assert_eq!(edges(&lock, writer), [EventId(3), EventId(4)]);
    }

    #[test]
    fn a_reader_behind_a_writer_comes_after_its_release() {
        let mut lock = RwLock::default();
        let early = lock.read_request(ThreadId(0));
        let writer = lock.write_request(ThreadId(1));
        let late = lock.read_request(ThreadId(2));
        assert!(!lock.is_granted(late) && lock.is_overtaking(late));
        lock.release(early, EventId(3));
        assert!(!lock.is_granted(late) && !lock.is_overtaking(late));
        lock.release(writer, EventId(4));
        assert!(lock.is_granted(late));
        assert_eq!(edges(&lock, late), [EventId(4)]);
    }

    #[test]
    fn a_writer_is_overtaken_by_later_readers_and_a_passing_reader_by_the_writers_it_passed() {
        let mut lock = RwLock {
            prefers_readers: true,
            ..RwLock::default()
        };
        let first = lock.read_request(ThreadId(0));
        let writer = lock.write_request(ThreadId(1));
        let passing = lock.try_read(ThreadId(2)).expect("it passes the writer");
        lock.release(passing, EventId(3));
        assert!(lock.is_overtaken(passing) && lock.is_overtaken(first));
        lock.release(first, EventId(4));
        lock.release(writer, EventId(5));
        assert!(!lock.is_overtaken(writer), "the passing reader came before");
        let late = lock.read_request(ThreadId(3));
        assert!(lock.is_overtaken(writer) && !lock.is_overtaken(late));
        lock.made_no_progress(late);
        assert!(!lock.is_overtaken(writer));
        lock.made_no_progress(writer);
        assert!(!lock.is_overtaken(passing));
    }

    #[test]
    fn a_try_succeeds_only_if_it_is_granted_at_once() {
        let mut lock = RwLock::default();
        let reader = lock.try_read(ThreadId(0)).expect("no thread holds it");
        assert!(lock.try_write(ThreadId(1)).is_none());
        let second = lock.try_read(ThreadId(1)).expect("readers share");
        let writer = lock.write_request(ThreadId(2));
        assert!(lock.try_read(ThreadId(3)).is_none());
        lock.release(reader, EventId(0));
        lock.release(second, EventId(1));
        lock.release(writer, EventId(2));
        assert!(lock.try_write(ThreadId(1)).is_some());
    }

    #[test]
    fn a_try_to_read_passes_a_waiting_writer_if_readers_are_preferred() {
        let mut lock = RwLock::default();
        lock.clear(true);
        let first = lock.read_request(ThreadId(0));
        let writer = lock.write_request(ThreadId(1));
        let passing = lock.try_read(ThreadId(2)).expect("no writer holds");
        let late = lock.read_request(ThreadId(2));
        lock.release(first, EventId(4));
        assert!(!lock.is_granted(writer) && lock.is_granted(passing));
        assert!(lock.is_overtaking(late));
        assert!(lock.try_write(ThreadId(0)).is_none());
        lock.release(passing, EventId(5));
        assert!(lock.is_granted(writer) && !lock.is_overtaking(late));
        assert!(lock.try_read(ThreadId(2)).is_none());
        assert_eq!(edges(&lock, writer), [EventId(4), EventId(5)]);
    }

    #[test]
    fn a_writer_that_goes_on_as_a_reader_lets_readers_in_and_writers_wait() {
        let mut lock = RwLock::default();
        let first = lock.write_request(ThreadId(0));
        let reader = lock.read_request(ThreadId(1));
        let writer = lock.write_request(ThreadId(2));
        let late = lock.read_request(ThreadId(3));
        lock.downgrade(first, EventId(4));
        assert!(lock.is_granted(first) && lock.is_granted(reader));
        assert!(!lock.is_granted(writer) && !lock.is_granted(late));
        assert_eq!(edges(&lock, reader), [EventId(4)]);
        lock.release(reader, EventId(5));
        assert!(!lock.is_granted(writer));
        lock.release(first, EventId(6));
        assert!(lock.is_granted(writer));
        assert_eq!(edges(&lock, writer), [EventId(4), EventId(5), EventId(6)]);
    }

    #[test]
    fn a_later_writer_comes_after_the_readers_between() {
        let mut lock = RwLock::default();
        let first = lock.write_request(ThreadId(0));
        let reader = lock.read_request(ThreadId(1));
        let second = lock.write_request(ThreadId(2));
        lock.release(first, EventId(5));
        lock.release(reader, EventId(6));
        assert_eq!(edges(&lock, second), [EventId(5), EventId(6)]);
    }
}
