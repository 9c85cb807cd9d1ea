//! Abstract systems of objects, run by `actors`.

mod closures;
mod machines;

pub use closures::main_task;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use testkit::object_system::{Final, Task};

/// How the tasks other than the main one are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    Closures,
    Machines,
}

/// A record of the current execution: the position of each task, and the states of the objects.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Seen>>);

#[derive(Default)]
struct Seen {
    objects: Vec<u8>,
    tasks: BTreeMap<Vec<usize>, Task>,
}

impl Log {
    /// Starts the record of a new execution.
    pub fn begin(&self, objects: usize) {
        let mut seen = self.0.lock().unwrap();
        seen.objects = vec![0; objects];
        seen.tasks.clear();
    }

    /// Records that the object holds this number.
    pub fn holds(&self, object: usize, number: u8) {
        self.0.lock().unwrap().objects[object] = number;
    }

    /// Records the position of the task with this path.
    pub fn is_at(&self, path: &[usize], task: &Task) {
        let mut seen = self.0.lock().unwrap();
        seen.tasks.insert(path.to_vec(), task.clone());
    }

    /// Returns the state at the end of the execution.
    pub fn final_state(&self) -> Final {
        let seen = self.0.lock().unwrap();
        Final {
            objects: seen.objects.clone(),
            tasks: seen.tasks.clone().into_iter().collect(),
        }
    }
}
