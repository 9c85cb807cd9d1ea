//! What the command tells the process that becomes the program: one JSON object in an environment
//! variable.

use report::Inputs;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The environment variable that holds an [`Order`].
pub const ENFORCE: &str = "MAZURKA_ENFORCE";

/// The way in which a program runs under enforcement.
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
    /// The checksum of the program for which the trace was verified. Not checked if it is absent.
    #[serde(default)]
    pub checksum: Option<String>,
    /// The values of the program's inputs.
    #[serde(default)]
    pub inputs: Inputs,
    /// The file in which to record the order in which events happen.
    #[serde(default)]
    pub record: Option<PathBuf>,
    /// Seed of random delays of threads at every hook: for tests.
    #[serde(default)]
    pub delays: Option<u64>,
    /// Whether threads are counted and recorded but never wait: for tests.
    #[serde(default)]
    pub runs_free: bool,
    /// Milliseconds without an event after which the lack of progress is reported.
    #[serde(default)]
    pub patience: Option<u64>,
}

impl Order {
    /// Reads the value of [`ENFORCE`].
    ///
    /// # Errors
    /// Returns an error if the text is not an order.
    pub fn read(text: &str) -> serde_json::Result<Order> {
        serde_json::from_str(text)
    }

    /// Returns the value of [`ENFORCE`].
    pub fn written(&self) -> String {
        serde_json::to_string(self).expect("the keys of all maps in an order are strings")
    }
}
