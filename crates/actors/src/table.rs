//! Tables that processes share (Erlang/OTP, `ets`: public tables of type `set`).
//!
//! An operation on a key first reads whether the table exists, and then accesses only the key. So
//! operations on different keys are independent. If the program scans a table anywhere, the whole
//! table counts as one object.

use crate::inbox::contents;
use crate::ties::Ties;
use crate::{Message, Process, System};
use runtime::{Coarsening, ObjectId, State};
use std::collections::BTreeMap;
use std::fmt::{self, Debug};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Add;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A table from keys to values, shared by all processes that have a handle.
pub struct Table<K, V> {
    rows: Arc<Rows<K, V>>,
}

/// The error of an operation on a table that was deleted, or whose owner has ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, thiserror::Error)]
#[error("the table is gone: its owner has ended, or it was deleted")]
pub struct TableGone;

/// A type that can be the key of a table.
pub trait Key: Clone + Ord + Hash + Debug + Send + 'static {}

impl<K: Clone + Ord + Hash + Debug + Send + 'static> Key for K {}

/// A type that can be a value of a table. Values are part of the state of the system.
pub trait Value: Message + Eq + Hash {}

impl<V: Message + Eq + Hash> Value for V {}

struct Rows<K, V> {
    name: String,
    system: System,
    is_alive: Arc<State<bool>>,
    /// The object that stands for all keys if the table is scanned.
    all: State<()>,
    keys: Mutex<Keys<K, V>>,
}

/// Each key that was accessed, with its value.
type Keys<K, V> = BTreeMap<K, Arc<Row<V>>>;

/// The value of a key, if it has one.
type Row<V> = State<Option<V>>;

impl System {
    /// Creates a table that no process owns. It exists until it is deleted.
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
    pub fn table<K: Key, V: Value>(&self, name: &str) -> Table<K, V> {
        let rows = Arc::new(Rows {
            name: name.to_owned(),
            system: self.clone(),
            is_alive: Arc::new(State::new(&format!("lifetime of table {name}"), true)),
            all: State::new(&format!("table {name}"), ()),
            keys: Mutex::default(),
        });
        Rows::report_state(&rows);
        Table { rows }
    }
}

impl<M: Message> Process<M> {
    /// Creates a table that this process owns. The table is deleted when the process ends.
    #[track_caller]
    pub fn table<K: Key, V: Value>(&self, name: &str) -> Table<K, V> {
        let table = self.system().table(name);
        self.ties.own(&table);
        table
    }
}

impl<M> Ties<M> {
    /// Makes the process the owner of this table.
    pub(crate) fn own<K, V>(&self, table: &Table<K, V>) {
        let is_alive = Arc::clone(&table.rows.is_alive);
        self.tables.borrow_mut().push(is_alive);
    }
}

/// The kind of access to a key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Change,
}

impl<K: Key, V: Value> Table<K, V> {
    /// Inserts a value, replacing the value that the key has.
    ///
    /// # Errors
    ///
    /// Returns [`TableGone`] if the table no longer exists. All other operations do the same.
    #[track_caller]
    pub fn insert(&self, key: K, value: V) -> Result<(), TableGone> {
        let text = format!("insert({key:?}, {value:?})");
        self.at(&key, Access::Change, |row| *row = Some(value), |()| text)
    }

    /// Inserts a value if the key has none. Returns whether it had none.
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

    /// Returns the value of a key, if it has one.
    #[track_caller]
    pub fn lookup(&self, key: &K) -> Result<Option<V>, TableGone> {
        self.at(
            key,
            Access::Read,
            |row| row.clone(),
            |value| format!("lookup({key:?}) -> {value:?}"),
        )
    }

    /// Adds to the value of a key in one step. Returns the sum; `None` if the key has no value.
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

    /// Deletes the value of a key and returns it.
    #[track_caller]
    pub fn delete(&self, key: &K) -> Result<Option<V>, TableGone> {
        self.at(key, Access::Change, Option::take, |value| {
            format!("delete({key:?}) -> {value:?}")
        })
    }

    /// Returns all keys and values, in the order of the keys. A table that is scanned counts as one
    /// object: its operations are dependent even if they access different keys.
    #[track_caller]
    pub fn scan(&self) -> Result<Vec<(K, V)>, TableGone> {
        self.check_alive()?;
        self.rows.all.is_coarse(Coarsening::Scanned, true);
        let text = |rows: &Vec<(K, V)>| format!("{}.scan() -> {rows:?}", self.rows.name);
        let rows = self.rows.all.read(|()| self.rows.present(), text);
        let all = self.rows.all.object();
        runtime::report_contents(all, all, || self.rows.contents());
        runtime::learn(&rows);
        Ok(rows)
    }

    /// Deletes the table.
    #[track_caller]
    pub fn delete_table(&self) -> Result<(), TableGone> {
        self.rows.system.shared.checkpoint();
        let was_alive = self.rows.is_alive.write(
            |is_alive| std::mem::replace(is_alive, false),
            |_| format!("{} is deleted", self.rows.name),
        );
        runtime::learn(&was_alive);
        was_alive.then_some(()).ok_or(TableGone)
    }

    #[track_caller]
    fn check_alive(&self) -> Result<(), TableGone> {
        self.rows.system.shared.checkpoint();
        let name = &self.rows.name;
        let is_alive = self.rows.is_alive.read(
            |&is_alive| is_alive,
            |is_alive| match is_alive {
                true => format!("{name} exists"),
                false => format!("{name} is gone"),
            },
        );
        runtime::learn(&is_alive);
        is_alive.then_some(()).ok_or(TableGone)
    }

    /// Performs an operation on one key.
    #[track_caller]
    fn at<R: Clone + Eq + Hash + 'static>(
        &self,
        key: &K,
        access: Access,
        act: impl FnOnce(&mut Option<V>) -> R,
        text: impl FnOnce(&R) -> String,
    ) -> Result<R, TableGone> {
        self.check_alive()?;
        let row = self.row(key);
        let text = |result: &R| format!("{}.{}", self.rows.name, text(result));
        let all = &self.rows.all;
        let result = match (all.is_coarse(Coarsening::Scanned, false), access) {
            (false, Access::Read) => row.read(|row| act(&mut row.clone()), text),
            (false, Access::Change) => row.write(act, text),
            (true, Access::Read) => all.read(|()| row.silently(act), text),
            (true, Access::Change) => all.write(|()| row.silently(act), text),
        };
        let at = match all.is_coarse(Coarsening::Scanned, false) {
            true => all.object(),
            false => row.object(),
        };
        runtime::report_contents(all.object(), at, || self.rows.contents());
        runtime::learn(&result);
        Ok(result)
    }

    fn row(&self, key: &K) -> Arc<Row<V>> {
        let mut keys = self.rows.keys();
        if let Some(row) = keys.get(key) {
            return Arc::clone(row);
        }
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        let row = Arc::new(State::part_of(&self.rows.all, hasher.finish(), None));
        keys.insert(key.clone(), Arc::clone(&row));
        report_state_of_part(&keys, row.object());
        row
    }
}

/// Makes the rows of this object report their state. Rows whose keys have the same hash share an
/// object.
fn report_state_of_part<K: Key, V: Value>(keys: &Keys<K, V>, object: ObjectId) {
    let same = keys.iter().filter(|(_, row)| row.object() == object);
    let same: Vec<(K, Arc<Row<V>>)> = same
        .map(|(key, row)| (key.clone(), Arc::clone(row)))
        .collect();
    runtime::report_state_of_part(object, move || {
        let rows = same.iter();
        let values = rows.map(|(key, row)| (key.clone(), row.silently(|row| row.clone())));
        values.collect::<Vec<_>>()
    });
}

impl<K, V> Rows<K, V> {
    fn keys(&self) -> MutexGuard<'_, Keys<K, V>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Key, V: Value> Rows<K, V> {
    /// Returns the keys and values in the table.
    fn present(&self) -> Vec<(K, V)> {
        let keys = self.keys();
        let rows = keys.iter();
        rows.filter_map(|(key, row)| Some((key.clone(), row.silently(|row| row.clone())?)))
            .collect()
    }

    /// Formats the contents of the table for people.
    fn contents(&self) -> String {
        let rows = self.present().into_iter();
        contents(rows.map(|(key, value)| format!("{key:?}: {value:?}")))
    }

    /// Makes the table report whether it exists, and its contents if it counts as one object.
    /// Otherwise each row reports its state separately.
    fn report_state(rows: &Arc<Rows<K, V>>) {
        let is_alive = Arc::clone(&rows.is_alive);
        let shown = Arc::clone(&is_alive);
        runtime::report_state_of(is_alive.object(), move || {
            shown.silently(|is_alive| *is_alive)
        });
        let (all_rows, is_scanned) = (
            Arc::clone(rows),
            rows.all.is_coarse(Coarsening::Scanned, false),
        );
        runtime::report_state_of(rows.all.object(), move || {
            is_scanned.then(|| all_rows.present())
        });
    }
}

impl<K, V> Clone for Table<K, V> {
    fn clone(&self) -> Table<K, V> {
        Table {
            rows: Arc::clone(&self.rows),
        }
    }
}

/// Compares the identity of the tables.
impl<K, V> PartialEq for Table<K, V> {
    fn eq(&self, other: &Table<K, V>) -> bool {
        self.rows.all.object() == other.rows.all.object()
    }
}

impl<K, V> Eq for Table<K, V> {}

impl<K, V> Hash for Table<K, V> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.rows.all.object().hash(hasher);
    }
}

impl<K, V> Debug for Table<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Table({})", self.rows.name)
    }
}
