//! The full state of a program, for comparison with other states.

use siphasher::sip128::{Hasher128, SipHasher13};
use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// The full state of a program, or a part of it ([`Footprint`](crate::Footprint)). The full state
/// consists of the position, local state and pending operation of each thread, and the state of
/// each object. The core can only compare states for equality.
///
/// Equality is exact. The digest has 128 bits and is the same in every process. Different states
/// have different digests, except for hash collisions.
///
/// ```
/// use explore::Fingerprint;
///
/// let one = Fingerprint::of((vec![1, 2], "waits"));
/// let same = Fingerprint::of((vec![1, 2], "waits"));
/// assert_eq!(one, same);
/// assert_eq!(one.digest(), same.digest());
/// assert_ne!(one, Fingerprint::of((vec![1, 3], "waits")));
/// ```
#[derive(Clone)]
pub struct Fingerprint {
    digest: u128,
    state: Rc<dyn Any>,
    is_equal: fn(&dyn Any, &dyn Any) -> bool,
}

impl Fingerprint {
    /// Returns the fingerprint of a state. States of one type are compared with `==`. States of
    /// different types differ.
    ///
    /// The state must not depend on how it was reached: no events, addresses or step counters.
    pub fn of<S: Eq + Hash + 'static>(state: S) -> Fingerprint {
        let mut hasher = SipHasher13::new();
        state.hash(&mut hasher);
        Fingerprint {
            digest: hasher.finish128().as_u128(),
            state: Rc::new(state),
            is_equal: is_equal::<S>,
        }
    }

    /// Returns a hash of the state.
    pub fn digest(&self) -> u128 {
        self.digest
    }
}

fn is_equal<S: Eq + 'static>(one: &dyn Any, other: &dyn Any) -> bool {
    match (one.downcast_ref::<S>(), other.downcast_ref::<S>()) {
        (Some(one), Some(other)) => one == other,
        _ => false,
    }
}

impl PartialEq for Fingerprint {
    fn eq(&self, other: &Fingerprint) -> bool {
        self.digest == other.digest && (self.is_equal)(&*self.state, &*other.state)
    }
}

impl Eq for Fingerprint {}

/// Hashes the digest, so that a state can contain fingerprints.
impl Hash for Fingerprint {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.digest.hash(hasher);
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({:032x})", self.digest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A state whose hash is always the same.
    #[derive(PartialEq, Eq)]
    struct Colliding(u32);

    impl Hash for Colliding {
        fn hash<H: Hasher>(&self, _hasher: &mut H) {}
    }

    #[test]
    fn states_with_the_same_digest_are_distinguished() {
        let (one, other) = (Fingerprint::of(Colliding(1)), Fingerprint::of(Colliding(2)));
        assert_eq!(one.digest(), other.digest());
        assert_ne!(one, other);
        assert_eq!(one, Fingerprint::of(Colliding(1)));
    }

    #[test]
    fn states_of_different_types_differ() {
        assert_ne!(Fingerprint::of(1u32), Fingerprint::of(Colliding(1)));
        assert_ne!(Fingerprint::of(1u32), Fingerprint::of(1i32));
    }

    #[test]
    fn a_state_can_be_made_of_states() {
        let nested = |value: u32| Fingerprint::of(vec![(0u16, Fingerprint::of(value))]);
        assert_eq!(nested(1), nested(1));
        assert_ne!(nested(1), nested(2));
    }

    /// Digests are saved with searches.
    #[test]
    fn a_digest_is_the_same_in_every_process() {
        let digest = Fingerprint::of(7u64).digest();
        assert_eq!(digest, 260_355_527_958_302_913_472_671_385_337_372_416_298);
    }
}
