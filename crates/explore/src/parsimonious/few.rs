//! A short list that is often copied.

use super::candidate::Name;
use crate::execution::ObjectId;
use serde::{Deserialize, Deserializer, Serialize, de::Error};
use std::ops::{Deref, DerefMut};

/// A list that holds up to two elements in place, so that copying it copies bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Few<T> {
    /// The number of valid elements, and the elements.
    Here(#[serde(deserialize_with = "at_most_two")] u8, [T; 2]),
    /// More than two elements.
    Elsewhere(Vec<T>),
}

/// An element of a list, with a placeholder for unused places.
pub(super) trait Listed: Copy {
    /// The placeholder.
    const NOTHING: Self;
}

impl Listed for u64 {
    const NOTHING: u64 = 0;
}

impl Listed for Name {
    const NOTHING: Name = Name::NONE;
}

impl Listed for (u32, Name) {
    const NOTHING: (u32, Name) = (0, Name::NONE);
}

impl Listed for (ObjectId, Name) {
    const NOTHING: (ObjectId, Name) = (ObjectId::NONE, Name::NONE);
}

impl<T: Listed> Default for Few<T> {
    fn default() -> Few<T> {
        Few::EMPTY
    }
}

impl<T: Listed> Few<T> {
    /// The empty list.
    pub(super) const EMPTY: Few<T> = Few::Here(0, [T::NOTHING; 2]);

    /// Returns a list of one element.
    pub(super) fn one(element: T) -> Few<T> {
        Few::Here(1, [element, T::NOTHING])
    }

    /// Appends an element.
    pub(super) fn push(&mut self, element: T) {
        match self {
            Few::Here(length @ 0..2, elements) => {
                elements[usize::from(*length)] = element;
                *length += 1;
            }
            Few::Here(_, elements) => {
                *self = Few::Elsewhere(vec![elements[0], elements[1], element]);
            }
            Few::Elsewhere(elements) => elements.push(element),
        }
    }
}

impl<T> Deref for Few<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            Few::Here(length, elements) => &elements[..usize::from(*length)],
            Few::Elsewhere(elements) => elements,
        }
    }
}

impl<T> DerefMut for Few<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Few::Here(length, elements) => &mut elements[..usize::from(*length)],
            Few::Elsewhere(elements) => elements,
        }
    }
}

/// Rejects longer lengths, because a saved search may have been manipulated.
fn at_most_two<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    match u8::deserialize(deserializer)? {
        length @ 0..=2 => Ok(length),
        length => Err(Error::custom(format!("a short list of {length}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_holds_what_was_pushed_in_that_order() {
        let mut list = Few::default();
        for length in 0..6 {
            assert_eq!(*list, (0..length).collect::<Vec<u64>>());
            list.push(length);
        }
        list[4] = 7;
        assert_eq!(*list, [0, 1, 2, 3, 7, 5]);
        assert_eq!(*Few::one(3), [3]);
    }
}
