//! Backtracking: the next alternative at the last point of the execution that has one.

use super::clocks::knows;
use super::events::{At, Edges, Node, Operation, Part, Shape};
use super::frame::{Added, Frame, Left, Positions, Removed, Written};
use super::memory_model::MemoryModel;
use super::search::GraphSearch;
use crate::execution::{EventId, MemoryOrder, ReadsFrom, ThreadId, ValueId};
use smallvec::{SmallVec, smallvec};

impl GraphSearch {
    /// Prepares the next branch of the last frame. Returns false if there is no step to perform
    /// yet.
    pub(super) fn advance(&mut self) -> bool {
        let frame = self.frames.last().expect("there is a frame");
        let steps = frame.steps;
        self.truncate(steps);
        let frame = self.frames.last_mut().expect("there is a frame");
        frame.done += 1;
        match &mut frame.left {
            Left::Choices {
                thread,
                next,
                alternatives,
            } => {
                let (thread, choice) = (*thread, *next);
                if choice == *alternatives {
                    self.frames.pop();
                    return false;
                }
                *next += 1;
                self.forced.push_back(Added {
                    choice,
                    ..Added::by(thread)
                });
                true
            }
            Left::Sources {
                operation,
                thread,
                after,
                positions,
            } => {
                let Some(position) = positions.pop() else {
                    self.frames.pop();
                    return false;
                };
                let (operation, thread, after) = (*operation, *thread, after.clone());
                self.read_from(operation, thread, after, position)
            }
            Left::Write {
                write,
                positions,
                reads: reads @ None,
            } => {
                if let Some(position) = positions.pop() {
                    let write = write.clone();
                    return self.place_after(&write, position);
                }
                let prefix = self.graph.prefix(write);
                *reads = Some(self.graph.revisitable(write.operation.object, &prefix));
                false
            }
            Left::Write {
                write,
                reads: Some(reads),
                ..
            } => {
                let Some(read) = reads.pop() else {
                    let next = write.next_alternative(&self.graph);
                    let is_there = next.is_some();
                    self.forced.extend(next);
                    self.frames.pop();
                    return is_there;
                };
                let write = write.clone();
                self.revisit(write, read);
                false
            }
            Left::Revisit {
                write,
                read,
                node,
                positions,
                position,
                alternatives,
                ..
            } => {
                if write.choice + 1 < *alternatives {
                    write.choice += 1;
                } else {
                    *position = positions.pop();
                }
                let Some(position) = *position else {
                    self.leave_revisit();
                    return false;
                };
                let (write, read, stamp) = (write.clone(), *read, node.stamp);
                let at = At {
                    thread: write.thread,
                    index: self.graph.next_of(write.thread).index
                        + u32::from(write.operation.shape == Shape::ReadModifyWrite),
                };
                self.forced.push_back(Added {
                    choice: write.choice,
                    rf: write.rf,
                    position,
                    opens: false,
                    ..Added::by(write.thread)
                });
                self.forced.push_back(Added {
                    rf: Some(at),
                    stamp: Some(stamp),
                    ..Added::by(read.thread)
                });
                true
            }
        }
    }

    /// Prepares the branch in which the thread's next operation reads from the write at this
    /// position, if that is possible. Returns false if there is no step to perform yet, in two
    /// cases: the read is not permitted, or the operation is a read-modify-write with a rival (see
    /// `rival_of_source`), which only makes backward revisits.
    fn read_from(
        &mut self,
        operation: Operation,
        thread: ThreadId,
        after: Edges,
        position: usize,
    ) -> bool {
        let rf = self.graph.write_at(operation.object, position);
        let steps = self.graph.steps.len();
        let Some(rival) = self.rival_of_source(&operation, thread, &after, position) else {
            return false;
        };
        if rival.is_none() {
            self.forced.push_back(Added {
                rf,
                ..Added::by(thread)
            });
            return true;
        }
        let write = Written {
            operation,
            thread,
            after,
            rf,
            choice: 0,
            alternatives: 1,
            value: ValueId::default(),
            has_rival: true,
        };
        let left = Left::Write {
            write,
            positions: Positions::new(),
            reads: None,
        };
        self.frames.push(Frame::new(steps, left));
        false
    }

    /// Returns `None` if the thread's next operation cannot read from the write at this position.
    /// Otherwise returns the rival, if there is one: another read-modify-write that already reads
    /// from this write, and would then have to read from another write.
    pub(super) fn rival_of_source(
        &mut self,
        operation: &Operation,
        thread: ThreadId,
        after: &[At],
        position: usize,
    ) -> Option<Option<At>> {
        if operation.shape == Shape::Load && self.needs_only_coherence([operation.order]) {
            return Some(None);
        }
        let rf = self.graph.write_at(operation.object, position);
        let steps = self.graph.steps.len();
        let first = self.graph.next_of(thread);
        self.graph.steps.push(first);
        let read = self.push_read(operation, thread, after, rf, None);
        let node = self.graph.node(read);
        let rival = match node.is_rmw {
            true => self.graph.rmw_of(operation.object, rf, Some(read)),
            false => None,
        };
        let is_hopeless = rival.is_some_and(|rival| knows(&node.clocks.porf, rival));
        let is_permitted = !is_hopeless && self.memory.permits(&self.graph, &[read]);
        self.graph.truncate(steps);
        is_permitted.then_some(rival)
    }

    /// Checks whether a write can be placed directly after this position.
    pub(super) fn may_place(&mut self, write: &Written, position: usize) -> bool {
        if write.operation.shape == Shape::Store
            && self.needs_only_coherence([write.operation.order])
        {
            return true;
        }
        let steps = self.graph.steps.len();
        let at = self.push_step(write);
        self.graph.place(at, position);
        let is_permitted = self.memory.permits(&self.graph, &[at]);
        self.graph.truncate(steps);
        is_permitted
    }

    /// Prepares the branch in which a write is placed directly after this position. Returns whether
    /// that is possible.
    fn place_after(&mut self, write: &Written, position: usize) -> bool {
        let is_permitted = self.may_place(write, position);
        if is_permitted {
            self.forced.push_back(Added {
                choice: write.choice,
                rf: write.rf,
                position,
                opens: false,
                ..Added::by(write.thread)
            });
        }
        is_permitted
    }

    /// Prepares the backward revisit in which `read` reads from `write`: removes events from the
    /// graph and adds a frame. Does nothing if the revisit is not permitted.
    fn revisit(&mut self, write: Written, read: At) {
        let new_positions = self.graph.positions_after(read, &self.graph.prefix(&write));
        let node = Node::clone(self.graph.node(read));
        let cut = self.graph.cut(&new_positions);
        let is_rmw = write.operation.shape == Shape::ReadModifyWrite;
        let floor = self.floor(&write.operation, write.thread, &write.after);
        let positions = match is_rmw {
            false => self.positions(&write.operation, floor),
            true if self
                .graph
                .rmw_of(write.operation.object, write.rf, None)
                .is_some() =>
            {
                Positions::new()
            }
            true => smallvec![self.graph.position(write.operation.object, write.rf)],
        };
        let positions: Positions = positions
            .into_iter()
            .filter(|&position| self.is_permitted_revisit(&write, read, &node, position))
            .collect();
        if positions.is_empty() {
            self.graph.restore(cut);
            return;
        }
        let tail = self.execution.remove(&new_positions);
        if cut.has_writes() {
            self.renew_sources();
        }
        let left = Left::Revisit {
            write,
            read,
            node: Box::new(node),
            positions,
            position: None,
            alternatives: 1,
            removed: Box::new(Removed { cut, tail }),
        };
        self.frames.push(Frame::new(self.graph.steps.len(), left));
    }

    /// Checks whether the graph is consistent if the write is placed directly after this position
    /// and the read reads from it.
    fn is_permitted_revisit(
        &mut self,
        write: &Written,
        read: At,
        node: &Node,
        position: usize,
    ) -> bool {
        let orders = [write.operation.order, write.operation.order, node.order];
        if self.needs_only_coherence(orders) {
            return self.floor(&node.operation, read.thread, &node.after) <= position;
        }
        let steps = self.graph.steps.len();
        let object = write.operation.object;
        let at = self.push_step(write);
        self.graph.place(at, position);
        let floor = self.floor(&node.operation, read.thread, &node.after);
        let is_permitted = floor <= position + 1 && {
            self.graph.steps.push(read);
            let again = self.push_read(
                &node.operation,
                read.thread,
                &node.after,
                Some(at),
                Some(node.stamp),
            );
            debug_assert_eq!((again, node.operation.object), (read, object));
            self.memory.permits(&self.graph, &[at, again])
        };
        self.graph.truncate(steps);
        is_permitted
    }

    /// Checks whether coherence alone decides about events with these orderings: the graph stays
    /// consistent if they are added at places that coherence permits.
    fn needs_only_coherence<const EVENTS: usize>(&self, orders: [MemoryOrder; EVENTS]) -> bool {
        let totals = orders.into_iter().filter(|order| order.is_total()).count();
        match self.memory {
            MemoryModel::Ra => true,
            MemoryModel::Rc11 => self.graph.totals + totals < 2,
            MemoryModel::Sc | MemoryModel::Auto | MemoryModel::Tso => false,
        }
    }

    /// Ends the revisit of the last frame, and restores the events that it removed.
    fn leave_revisit(&mut self) {
        let Some(Frame {
            left: Left::Revisit { removed, .. },
            ..
        }) = self.frames.pop()
        else {
            unreachable!("the last frame is a revisit");
        };
        self.execution.put_back(removed.cut.first, &removed.tail);
        self.graph.restore(removed.cut);
    }

    /// Computes again the source of each store (`NEWEST` or `OVERWRITTEN`), because writes were
    /// removed.
    fn renew_sources(&mut self) {
        // For each object, the position of the newest write so far in coherence order.
        let mut newest: SmallVec<[usize; 16]> = smallvec![0; self.graph.objects.len()];
        for step in 0..self.graph.steps.len() {
            let id = EventId::at(step);
            let last = self.graph.last_of_step(id);
            let node = self.graph.node(last);
            if node.part != Part::Write {
                continue;
            }
            let object = node.operation.object;
            let position = self.graph.position(object, Some(last));
            let newest = &mut newest[object.index()];
            let source = match position > *newest {
                true => ReadsFrom::NEWEST,
                false => ReadsFrom::OVERWRITTEN,
            };
            *newest = position.max(*newest);
            if node.operation.shape == Shape::Store {
                self.execution.set_source(id, source);
            }
        }
    }
}
