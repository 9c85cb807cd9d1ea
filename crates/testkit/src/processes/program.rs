//! The programs of the processes of a random system.

use crate::random::Random;
use objects::Delivery;

/// A system of processes that all start together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct System {
    /// The way in which messages are delivered.
    pub delivery: Delivery,
    /// Number of messages of each process that may be lost.
    pub losses: u32,
    /// Number of messages of each process that may be duplicated.
    pub duplicates: u32,
    /// Whether the first process owns the table that all processes share. If so, the table is gone
    /// when this process ends.
    pub is_owned: bool,
    /// The statements of each process.
    pub processes: Vec<Body>,
}

/// The statements of a process, in order.
pub type Body = Vec<Statement>;

/// A statement, which is one step. Messages are numbers; processes are numbered from 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Statement {
    /// Sends a number to a process.
    Send(usize, u32),
    /// Sends the number received last, plus ten.
    Forward(usize),
    /// Receives the first message, or the first odd message.
    Receive {
        /// Whether the message must be odd.
        odd: bool,
    },
    /// Receives with a time limit, which may be zero.
    ReceiveWithin {
        /// Whether the message must be odd.
        odd: bool,
        /// Whether the limit is zero.
        zero: bool,
    },
    /// Inserts a value at a key of the table.
    Insert(u32, u32),
    /// Inserts a value if the key has none.
    InsertNew(u32, u32),
    /// Looks up a key.
    Lookup(u32),
    /// Adds one to a key.
    Count(u32),
    /// Deletes a key.
    Delete(u32),
    /// Lists the table.
    Scan,
    /// Kills a process.
    Kill(usize),
    /// Sends an exit signal to a process.
    Signal(usize),
    /// Links with a process.
    Link(usize),
    /// Unlinks from a process.
    Unlink(usize),
    /// Monitors a process.
    Monitor(usize),
    /// Traps exits from now on.
    TrapExits,
    /// Checks whether a process is alive.
    IsAlive(usize),
    /// Registers itself under the only name.
    Register,
    /// Unregisters the name.
    Unregister,
    /// Looks up the process with the name.
    WhereIs,
    /// Ends abnormally.
    Exit,
}

/// The theme of a random system. Each has different statements.
#[derive(Clone, Copy)]
enum Theme {
    Messages,
    Tables,
    Exits,
    Names,
}

impl System {
    /// Generates a random system.
    pub fn random(random: &mut Random) -> System {
        let theme = [
            Theme::Messages,
            Theme::Messages,
            Theme::Tables,
            Theme::Exits,
            Theme::Exits,
            Theme::Names,
        ][random.index(6)];
        let count = 2 + random.index(2);
        let most = if count == 2 { 4 } else { 3 };
        let processes = (0..count)
            .map(|process| {
                let length = 1 + random.index(most);
                let statement = |random: &mut Random| theme.statement(process, count, random);
                (0..length).map(|_| statement(random)).collect()
            })
            .collect();
        let unreliable = |random: &mut Random| u32::from(random.chance(12));
        System {
            delivery: Delivery::ALL[random.index(4)],
            losses: unreliable(random),
            duplicates: unreliable(random),
            is_owned: random.chance(30),
            processes,
        }
    }
}

impl Theme {
    fn statement(self, process: usize, count: usize, random: &mut Random) -> Statement {
        let other = (process + 1 + random.index(count - 1)) % count;
        let number = random.index(4) as u32;
        let key = random.index(2) as u32;
        let message = |random: &mut Random| match random.index(8) {
            0..3 => Statement::Send(other, number),
            3 => Statement::Forward(other),
            4 | 5 => Statement::Receive { odd: false },
            6 => Statement::Receive { odd: true },
            _ => Statement::ReceiveWithin {
                odd: number == 0,
                zero: key == 0,
            },
        };
        match (self, random.index(10)) {
            (Theme::Messages, _) | (_, 0 | 1) => message(random),
            (Theme::Tables, 2 | 3) => Statement::Insert(key, number),
            (Theme::Tables, 4) => Statement::InsertNew(key, number),
            (Theme::Tables, 5 | 6) => Statement::Lookup(key),
            (Theme::Tables, 7) => Statement::Count(key),
            (Theme::Tables, 8) => Statement::Delete(key),
            (Theme::Tables, _) => Statement::Scan,
            (Theme::Exits, 2) => Statement::Kill(other),
            (Theme::Exits, 3) => Statement::Signal(other),
            (Theme::Exits, 4 | 5) => Statement::Link(other),
            (Theme::Exits, 6) => Statement::Monitor(other),
            (Theme::Exits, 7) => Statement::TrapExits,
            (Theme::Exits, 8) => {
                [Statement::IsAlive(other), Statement::Unlink(other)][key as usize]
            }
            (Theme::Exits, _) => Statement::Exit,
            (Theme::Names, 2..5) => Statement::Register,
            (Theme::Names, 5) => Statement::Unregister,
            (Theme::Names, 6 | 7) => Statement::WhereIs,
            (Theme::Names, 8) => Statement::Kill(other),
            (Theme::Names, _) => message(random),
        }
    }
}
