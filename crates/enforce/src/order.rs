//! What the command tells the process that it becomes: one JSON object in the environment.

use report::Inputs;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The variable of the environment that holds an [`Order`].
pub const ENFORCE: &str = "MAZURKA_ENFORCE";

/// Under what a program is to run.
///
/// ```
/// use enforce::Order;
/// let order = Order { trace: "safe.trace".into(), ..Order::default() };
/// assert_eq!(Order::read(&order.written()).unwrap(), order);
/// assert!(Order::read("{").is_err());
/// ```
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Order {
    /// The file of the safe trace, which is followed while the program runs.
    pub trace: PathBuf,
    /// The checksum of the program, which the file has to be about; nobody looks if it is left out.
    #[serde(default)]
    pub checksum: Option<String>,
    /// The values of the program's inputs.
    #[serde(default)]
    pub inputs: Inputs,
    /// Where to write which order happened.
    #[serde(default)]
    pub record: Option<PathBuf>,
    /// Threads are delayed at random at every hook, with this seed: for tests.
    #[serde(default)]
    pub delays: Option<u64>,
    /// Count and record, but let nobody wait: for tests.
    #[serde(default)]
    pub runs_free: bool,
    /// After how many milliseconds without any event somebody is told that nothing moves.
    #[serde(default)]
    pub patience: Option<u64>,
}

impl Order {
    /// Reads what [`ENFORCE`] holds.
    ///
    /// # Errors
    /// If it is no order.
    pub fn read(text: &str) -> serde_json::Result<Order> {
        serde_json::from_str(text)
    }

    /// As it stands in the environment.
    pub fn written(&self) -> String {
        serde_json::to_string(self).expect("an order has only maps from strings")
    }
}
