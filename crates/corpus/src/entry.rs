//! A program of the corpus, and a program with its sizes.

use crate::expectation::{Expectation, SizeExpectation};
use actors::Delivery;
use std::fmt;
use std::ops::RangeInclusive;

/// A program of the corpus.
pub struct Entry {
    /// The name of its directory, followed by `-fixed` for a repaired version.
    pub name: &'static str,
    /// A one-line description.
    pub about: &'static str,
    /// Its sizes, in the order in which they are written after the name.
    pub parameters: &'static [Parameter],
    /// Runs the program with these sizes.
    pub(crate) body: fn(&[u32]),
    /// The contents of its `expect.toml`.
    pub(crate) expect: &'static str,
}

/// A size of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// The name of the size in messages, such as `N`.
    pub name: &'static str,
    /// The value if no value is given.
    pub default: u32,
    /// The smallest meaningful value.
    pub min: u32,
    /// The greatest value. With a greater value, the program would not just take longer, but
    /// overflow.
    pub max: u32,
}

impl Entry {
    /// Returns the expected results from `expect.toml`.
    pub fn expectation(&self) -> Expectation {
        toml::from_str(self.expect).expect("a test reads every expect.toml")
    }

    /// Returns the program with its default sizes.
    pub fn with_defaults(&'static self) -> Instance {
        let sizes = self
            .parameters
            .iter()
            .map(|parameter| parameter.default)
            .collect();
        Instance { entry: self, sizes }
    }

    /// Returns the program with these sizes, if they match its parameters and their limits.
    pub fn with_sizes(&'static self, sizes: &[u32]) -> Option<Instance> {
        let fits = sizes.len() == self.parameters.len()
            && self
                .parameters
                .iter()
                .zip(sizes)
                .all(|(parameter, size)| parameter.allows(*size));
        fits.then(|| Instance {
            entry: self,
            sizes: sizes.to_vec(),
        })
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Parameter {
    /// The delivery model of a system of processes; 0 is the strongest (see [`delivery`]).
    pub(crate) const DELIVERY: Parameter = Parameter::new("D", 0, 0..=3);

    pub(crate) const fn new(
        name: &'static str,
        default: u32,
        limits: RangeInclusive<u32>,
    ) -> Parameter {
        Parameter {
            name,
            default,
            min: *limits.start(),
            max: *limits.end(),
        }
    }

    /// Checks whether the program can have this size.
    pub fn allows(&self, size: u32) -> bool {
        (self.min..=self.max).contains(&size)
    }
}

/// A program of the corpus with its sizes; displayed as `NAME:SIZE`.
#[derive(Clone, Debug)]
pub struct Instance {
    entry: &'static Entry,
    sizes: Vec<u32>,
}

impl Instance {
    /// Returns the program.
    pub fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// Returns its sizes, one per parameter.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// Returns the program as a function that can be checked.
    pub fn program(&self) -> impl Fn() + Clone + Send + Sync + 'static {
        let Instance { entry, sizes } = self.clone();
        move || (entry.body)(&sizes)
    }

    /// Returns the expected results at these sizes, if known.
    pub fn expected(&self) -> Option<SizeExpectation> {
        let expectation = self.entry.expectation();
        expectation
            .sizes
            .into_iter()
            .find(|expected| expected.size == self.sizes)
    }
}

/// Returns the delivery model with this number: 0 mailbox order, 1 causal, 2 FIFO per pair, 3
/// unordered.
pub(crate) fn delivery(number: u32) -> Delivery {
    Delivery::ALL[number as usize]
}

impl fmt::Display for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.entry.name)?;
        for (index, size) in self.sizes.iter().enumerate() {
            let separator = if index == 0 { ':' } else { ',' };
            write!(f, "{separator}{size}")?;
        }
        Ok(())
    }
}
