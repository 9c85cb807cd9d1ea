//! The form of an operation: its kind, its access, and the part of the object that it refers to.

use explore::{Access, ObjectId, Op, OpKind};

/// An operation without the concrete object. [`Form::on`] adds the object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Form {
    /// The kind of the operation, for display.
    pub kind: OpKind,
    /// The part of the object that is accessed, or that the operation refers to.
    pub part: u32,
    /// The access to the part.
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

    /// Returns the operation on the object that begins with the id `object`.
    pub const fn on(self, object: ObjectId) -> Op {
        Op {
            kind: self.kind,
            access: self.access,
            object: ObjectId(object.0 + self.part),
        }
    }
}
