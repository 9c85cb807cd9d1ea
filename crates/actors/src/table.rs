//! Tables that processes share (Erlang/OTP, `ets`: public tables of type `set`).
//!
//! An operation looks whether the table is alive, and then accesses the one key that it is about. So operations
//! on different keys are independent. A table that is ever scanned is one object.

use crate::{Message, Process, System};
use runtime::{Coarsening, State};
use std::collections::BTreeMap;
use std::fmt::{self, Debug};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Add;
use std::sync::{Arc, Mutex, PoisonError};

/// A table from keys to values, shared by whoever has a handle.
pub struct Table<K, V> {
    rows: Arc<Rows<K, V>>,
}

/// The process that owned the table has ended, or the table was deleted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, thiserror::Error)]
#[error("the table is gone: its owner has ended, or it was deleted")]
pub struct TableGone;

/// What can be a key of a table.
pub trait Key: Clone + Ord + Hash + Debug + Send + 'static {}

impl<K: Clone + Ord + Hash + Debug + Send + 'static> Key for K {}

struct Rows<K, V> {
    name: String,
    system: System,
    is_alive: Arc<State<bool>>,
    /// One object for all keys, where the table is scanned.
    all: State<()>,
    /// Each key that was asked for, with its value.
    keys: Mutex<BTreeMap<K, Arc<State<Option<V>>>>>,
}

impl System {
    /// A table that no process owns, so that it lives until it is deleted.
    ///
    /// ```
    /// use actors::{Delivery, Process, System};
    ///
    /// mazurka::model(|| {
    ///     let system = System::new(Delivery::MailboxOrder);
    ///     let table = system.table("hits");
    ///     table.insert("page", 0).unwrap();
    ///     for name in ["ann", "ben"] {
    ///         let table = table.clone();
    ///         system.spawn(name, move |_: &Process<()>| {
    ///             table.update_counter(&"page", 1).unwrap();
    ///         });
    ///     }
    ///     assert!(table.lookup(&"page").unwrap() <= Some(2));
    /// });
    /// ```
    #[track_caller]
    pub fn table<K: Key, V: Message>(&self, name: &str) -> Table<K, V> {
        Table {
            rows: Arc::new(Rows {
                name: name.to_owned(),
                system: self.clone(),
                is_alive: Arc::new(State::new(&format!("table {name}"), true)),
                all: State::new(&format!("all of table {name}"), ()),
                keys: Mutex::default(),
            }),
        }
    }
}

impl<M: Message> Process<M> {
    /// A table that this process owns: when the process ends, the table is gone.
    #[track_caller]
    pub fn table<K: Key, V: Message>(&self, name: &str) -> Table<K, V> {
        let table = self.system().table(name);
        self.tables
            .borrow_mut()
            .push(Arc::clone(&table.rows.is_alive));
        table
    }
}

/// What is done to a key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Look,
    Change,
}

impl<K: Key, V: Message> Table<K, V> {
    /// Inserts a value, in the place of the one that is there.
    ///
    /// # Errors
    ///
    /// [`TableGone`], here and in all other operations.
    #[track_caller]
    pub fn insert(&self, key: K, value: V) -> Result<(), TableGone> {
        let text = format!("insert({key:?}, {value:?})");
        self.at(&key, Access::Change, |row| *row = Some(value), |()| text)
    }

    /// Inserts a value if there is none; whether there was none.
    #[track_caller]
    pub fn insert_new(&self, key: K, value: V) -> Result<bool, TableGone> {
        let text = format!("insert_new({key:?}, {value:?})");
        let act = |row: &mut Option<V>| {
            let is_new = row.is_none();
            row.get_or_insert(value);
            is_new
        };
        self.at(&key, Access::Change, act, |is_new| {
            format!("{text} -> {is_new}")
        })
    }

    /// The value of a key, if there is one.
    #[track_caller]
    pub fn lookup(&self, key: &K) -> Result<Option<V>, TableGone> {
        self.at(
            key,
            Access::Look,
            |row| row.clone(),
            |value| format!("lookup({key:?}) -> {value:?}"),
        )
    }

    /// Adds to the value of a key, in one step; gives the sum, none if there is no value.
    #[track_caller]
    pub fn update_counter(&self, key: &K, increment: V) -> Result<Option<V>, TableGone>
    where
        V: Add<Output = V>,
    {
        let text = format!("update_counter({key:?}, {increment:?})");
        let act = |row: &mut Option<V>| {
            *row = row.take().map(|value| value + increment);
            row.clone()
        };
        self.at(key, Access::Change, act, |sum| format!("{text} -> {sum:?}"))
    }

    /// Deletes the value of a key, and gives it.
    #[track_caller]
    pub fn delete(&self, key: &K) -> Result<Option<V>, TableGone> {
        self.at(key, Access::Change, Option::take, |value| {
            format!("delete({key:?}) -> {value:?}")
        })
    }

    /// All keys and values, in the order of the keys. A table that is scanned is one object: its operations
    /// are ordered even if they are about different keys.
    #[track_caller]
    pub fn scan(&self) -> Result<Vec<(K, V)>, TableGone> {
        self.look_for_life()?;
        self.rows.all.is_coarse(Coarsening::Scanned, true);
        let look = |_: &()| {
            let keys = self
                .rows
                .keys
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let rows = keys.iter();
            rows.filter_map(|(key, row)| Some((key.clone(), row.silently(|row| row.clone())?)))
                .collect()
        };
        let text = |rows: &Vec<(K, V)>| format!("{}.scan() -> {rows:?}", self.rows.name);
        Ok(self.rows.all.read(look, text))
    }

    /// Deletes the table.
    #[track_caller]
    pub fn delete_table(&self) -> Result<(), TableGone> {
        self.rows.system.shared.checkpoint();
        let was_alive = self.rows.is_alive.write(
            |is_alive| std::mem::replace(is_alive, false),
            |_| format!("{} is deleted", self.rows.name),
        );
        was_alive.then_some(()).ok_or(TableGone)
    }

    #[track_caller]
    fn look_for_life(&self) -> Result<(), TableGone> {
        self.rows.system.shared.checkpoint();
        let name = &self.rows.name;
        let is_alive = self.rows.is_alive.read(
            |&is_alive| is_alive,
            |is_alive| match is_alive {
                true => format!("{name} is there"),
                false => format!("{name} is gone"),
            },
        );
        is_alive.then_some(()).ok_or(TableGone)
    }

    /// An operation on one key.
    #[track_caller]
    fn at<R>(
        &self,
        key: &K,
        access: Access,
        act: impl FnOnce(&mut Option<V>) -> R,
        text: impl FnOnce(&R) -> String,
    ) -> Result<R, TableGone> {
        self.look_for_life()?;
        let row = self.row(key);
        let text = |result: &R| format!("{}.{}", self.rows.name, text(result));
        let all = &self.rows.all;
        Ok(match (all.is_coarse(Coarsening::Scanned, false), access) {
            (false, Access::Look) => row.read(|row| act(&mut row.clone()), text),
            (false, Access::Change) => row.write(act, text),
            (true, Access::Look) => all.read(|()| row.silently(act), text),
            (true, Access::Change) => all.write(|()| row.silently(act), text),
        })
    }

    fn row(&self, key: &K) -> Arc<State<Option<V>>> {
        let mut keys = self
            .rows
            .keys
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let row = keys.entry(key.clone()).or_insert_with(|| {
            let mut hasher = DefaultHasher::new();
            key.hash(&mut hasher);
            Arc::new(State::part_of(&self.rows.all, hasher.finish(), None))
        });
        Arc::clone(row)
    }
}

impl<K, V> Clone for Table<K, V> {
    fn clone(&self) -> Table<K, V> {
        Table {
            rows: Arc::clone(&self.rows),
        }
    }
}

impl<K, V> Debug for Table<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Table({})", self.rows.name)
    }
}
