//! The form of an operation: what all its events at one kind of object have in common.

use explore::{Access, ObjectId, Op, OpKind};

/// What an event of an object announces, whatever object of the kind it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Form {
    /// What it does, for people.
    pub kind: OpKind,
    /// Which of the object's parts it touches, or is about.
    pub part: u32,
    /// How it touches the part.
    pub access: Access,
}

impl Form {
    pub(crate) const fn none(kind: OpKind) -> Form {
        Form {
            kind,
            part: 0,
            access: Access::None,
        }
    }

    pub(crate) const fn read(kind: OpKind, part: u32) -> Form {
        Form {
            kind,
            part,
            access: Access::Read,
        }
    }

    pub(crate) const fn write(kind: OpKind, part: u32) -> Form {
        Form {
            kind,
            part,
            access: Access::Write,
        }
    }

    /// The operation at the object that begins with the id `object`.
    pub const fn on(self, object: ObjectId) -> Op {
        Op {
            kind: self.kind,
            access: self.access,
            object: ObjectId(object.0 + self.part),
        }
    }
}
