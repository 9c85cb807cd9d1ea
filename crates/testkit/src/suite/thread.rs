//! One thread of a random program.

use super::{Piece, Suite};
use crate::entry::Act;
use crate::program::{Action, Condition, Register, Statement, Value, Verb};
use crate::random::Random;

/// A random thread while it is generated.
pub(super) struct RandomThread<'a> {
    pub(super) suite: &'a Suite,
    pub(super) pieces: &'a [Piece],
    pub(super) random: &'a mut Random,
    pub(super) number: usize,
    /// Number of threads.
    pub(super) threads: usize,
    /// The receiver of each channel.
    pub(super) receivers: &'a [usize],
    pub(super) next_register: Register,
    /// The factor by which the thread is longer than usual.
    pub(super) size: usize,
}

impl RandomThread<'_> {
    pub(super) fn body(&mut self) -> Vec<Statement> {
        let most = match self.threads {
            2 => 5,
            3 => 3,
            _ => 2,
        };
        let mut body = Vec::new();
        for _ in 0..1 + self.random.index(most * self.size) {
            self.add_some_piece(&mut body);
        }
        body
    }

    fn add_some_piece(&mut self, body: &mut Vec<Statement>) {
        let piece = self.pieces[self.random.index(self.pieces.len())];
        self.add(piece, body);
    }

    fn variable(&mut self) -> usize {
        self.random.index(self.suite.variables)
    }

    fn value(&mut self) -> Value {
        match self.random.chance(20) && self.next_register > 0 {
            true => Value::Register(self.some_register()),
            false => Value::Constant(self.random.below(3)),
        }
    }

    fn some_register(&mut self) -> Register {
        self.random.below(u64::from(self.next_register.clamp(1, 8))) as Register
    }

    /// Returns a condition on an earlier result that may or may not hold.
    fn condition(&mut self) -> Condition {
        let left = Value::Register(self.some_register());
        let right = Value::Constant(self.random.below(2));
        Condition {
            left,
            equal: self.random.chance(60),
            right,
        }
    }

    /// Returns an action with random values. Its result goes to the next register.
    fn act(&mut self, verb: Verb, objects: &[usize]) -> Statement {
        let signature = verb.signature();
        let values = (0..signature.values).map(|_| self.value()).collect();
        let into = signature.has_result.then(|| {
            self.next_register += 1;
            (self.next_register - 1) % 8
        });
        Statement::Do(Action {
            verb,
            into,
            objects: objects.to_vec(),
            values,
            order: explore::MemoryOrder::SeqCst,
            on_failure: explore::MemoryOrder::SeqCst,
        })
    }

    fn add(&mut self, piece: Piece, body: &mut Vec<Statement>) {
        match piece {
            Piece::Load => self.add_access(Verb::Load, body),
            Piece::Store => self.add_access(Verb::Store, body),
            Piece::ReadModifyWrite => {
                let verb = if self.random.chance(50) {
                    Verb::FetchAdd
                } else {
                    Verb::Swap
                };
                self.add_access(verb, body);
            }
            Piece::CompareExchange => self.add_access(Verb::CompareExchange, body),
            Piece::Weak => self.add_access(Verb::WeakCompareExchange, body),
            Piece::Fence => body.push(self.act(Verb::Fence, &[])),
            Piece::Yield => body.push(self.act(Verb::Yield, &[])),
            Piece::Choose => {
                let mut choose = self.act(Verb::Choose, &[]);
                if let Statement::Do(action) = &mut choose {
                    action.values = vec![Value::Constant(2 + self.random.below(2))];
                }
                body.push(choose);
            }
            Piece::Assume => body.push(Statement::Assume(self.condition())),
            Piece::Assert => body.push(Statement::Assert(self.condition())),
            Piece::Branch => {
                let condition = self.condition();
                let inner = self.nested();
                body.push(Statement::If(condition, inner));
            }
            Piece::Loop => {
                let inner = self.nested();
                body.push(Statement::Repeat(2, inner));
            }
            Piece::Critical => self.add_critical(Verb::Lock, Verb::Unlock, body),
            Piece::ReadCritical => self.add_critical(Verb::ReadLock, Verb::Release, body),
            Piece::WriteCritical => self.add_critical(Verb::WriteLock, Verb::Release, body),
            Piece::TryCritical => self.add_try(Verb::TryLock, Verb::Unlock, body),
            Piece::TryRead => self.add_try(Verb::TryRead, Verb::Release, body),
            Piece::TryWrite => self.add_try(Verb::TryWrite, Verb::Release, body),
            Piece::Wait => self.add_wait(Verb::Wait, body),
            Piece::TimedWait => self.add_wait(Verb::TimedWait, body),
            Piece::Signal => body.push(self.act(Verb::Signal, &[0])),
            Piece::Broadcast => body.push(self.act(Verb::Broadcast, &[0])),
            Piece::Notify => {
                body.push(self.act(Verb::Lock, &[0]));
                body.push(self.act(Verb::Store, &[0]));
                body.push(self.act(Verb::Signal, &[0]));
                body.push(self.act(Verb::Unlock, &[0]));
            }
            Piece::Act(act) => body.push(self.act(Verb::Act(act), &[0])),
            Piece::AnyAct => {
                let act = Act::ALL[self.random.index(Act::ALL.len())];
                body.push(self.act(Verb::Act(act), &[0]));
            }
            Piece::Arrive => body.push(self.act(Verb::Arrive, &[0])),
            Piece::Lead => body.push(self.act(Verb::Lead, &[0])),
            Piece::Once => {
                let variable = self.variable();
                body.push(self.act(Verb::Once, &[0, variable]));
            }
            Piece::FailOnce => body.push(self.act(Verb::FailOnce, &[0])),
            Piece::Get => body.push(self.act(Verb::Get, &[0])),
            Piece::Talk => self.add_talk(Verb::Send, Verb::Receive, body),
            Piece::TryTalk => self.add_talk(Verb::TrySend, Verb::TryReceive, body),
            Piece::TimedTalk => self.add_talk(Verb::TimedSend, Verb::TimedReceive, body),
            Piece::EndTalk => self.add_talk(Verb::HangUp, Verb::Leave, body),
            Piece::Park => body.push(self.act(Verb::Park, &[])),
            Piece::TimedPark => body.push(self.act(Verb::TimedPark, &[])),
            Piece::Unpark => {
                let target = self.random.index(self.threads);
                body.push(self.act(Verb::Unpark, &[target]));
            }
            Piece::Ended => {
                let target = self.random.index(self.threads);
                body.push(self.act(Verb::Ended, &[target]));
            }
        }
    }

    fn nested(&mut self) -> Vec<Statement> {
        let simple = [Piece::Load, Piece::Store, Piece::CompareExchange];
        let mut piece = self.pieces[self.random.index(self.pieces.len())];
        if matches!(piece, Piece::Branch | Piece::Loop) {
            piece = simple[self.random.index(simple.len())];
        }
        let mut inner = Vec::new();
        self.add(piece, &mut inner);
        inner
    }

    fn add_access(&mut self, verb: Verb, body: &mut Vec<Statement>) {
        let variable = self.variable();
        body.push(self.act(verb, &[variable]));
    }

    fn add_critical(&mut self, take: Verb, free: Verb, body: &mut Vec<Statement>) {
        let lock = self.random.index(2);
        body.push(self.act(take, &[lock]));
        match self.random.below(10) {
            0..5 => self.add_access(Verb::Store, body),
            5..8 => self.add_access(Verb::Load, body),
            8 => body.push(self.act(take, &[1 - lock])),
            _ => {}
        }
        if self.random.chance(90) {
            body.push(self.act(free, &[lock]));
        }
    }

    fn add_try(&mut self, take: Verb, free: Verb, body: &mut Vec<Statement>) {
        let lock = self.random.index(2);
        body.push(self.act(take, &[lock]));
        if self.random.chance(40) {
            self.add_access(Verb::Store, body);
        }
        if self.random.chance(80) {
            body.push(self.act(free, &[lock]));
        }
    }

    fn add_wait(&mut self, verb: Verb, body: &mut Vec<Statement>) {
        body.push(self.act(Verb::Lock, &[0]));
        let wait = if self.random.chance(50) {
            let load = self.act(Verb::Load, &[0]);
            let register = (self.next_register - 1) % 8;
            body.push(load);
            let left = Value::Register(register);
            let condition = Condition {
                left,
                equal: true,
                right: Value::Constant(0),
            };
            Statement::If(condition, vec![self.act(verb, &[0, 0])])
        } else {
            self.act(verb, &[0, 0])
        };
        body.push(wait);
        if self.random.chance(80) {
            body.push(self.act(Verb::Unlock, &[0]));
        }
    }

    fn add_talk(&mut self, send: Verb, receive: Verb, body: &mut Vec<Statement>) {
        let channel = self.random.index(self.receivers.len());
        let verb = if self.receivers[channel] == self.number {
            receive
        } else {
            send
        };
        body.push(self.act(verb, &[channel]));
    }
}
