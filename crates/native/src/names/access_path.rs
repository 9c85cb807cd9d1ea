//! Translates bytes within a variable to the notation of a programmer: `.nodes[2].next`.

use super::information::EntryId;
use super::types::{Member, Record, Shape, Types};
use super::value::Kind;

/// Bytes within a variable or one of its parts.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    pub offset: u64,
    /// 0 selects whatever begins at the offset: a structure rather than its first member.
    pub size: u64,
}

/// A part of a variable.
pub struct Part {
    /// The text that follows the name of the variable.
    pub path: String,
    /// The interpretation of the bytes, if they are exactly this part.
    pub kind: Option<Kind>,
    fit: Fit,
}

/// How well a part matches the bytes, from worst to best. This decides between members of a union.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// The part and the bytes differ in extent.
    Loose,
    /// Exactly these bytes, which hold several values.
    Whole,
    /// Exactly one value.
    Value,
}

/// The greatest depth of nested types.
const DEEPEST: usize = 32;

/// Returns the part of a variable of this type to which these bytes belong.
pub fn part(types: Types<'_>, id: EntryId, span: Span) -> Part {
    Descent { types }.within_type(id, span, Way::default())
}

/// The path to a nested type: its text so far, and its depth.
#[derive(Clone, Default)]
struct Way {
    path: String,
    depth: usize,
}

impl Way {
    fn on(&self, written: &str) -> Way {
        Way {
            path: format!("{}{written}", self.path),
            depth: self.depth + 1,
        }
    }
}

struct Descent<'a> {
    types: Types<'a>,
}

impl Descent<'_> {
    fn within_type(&self, id: EntryId, span: Span, way: Way) -> Part {
        if way.depth > DEEPEST {
            return loose(way, span);
        }
        match self.types.shape(id) {
            Shape::Scalar { kind, size } => {
                match span.offset == 0 && (span.size == size || span.size == 0) {
                    true => Part {
                        path: way.path,
                        kind: Some(kind),
                        fit: Fit::Value,
                    },
                    false => loose(way, span),
                }
            }
            Shape::Array { element, lengths } => self.within_array(element, &lengths, span, way),
            Shape::Record(record) => self.within_record(&record, self.types.size(id), span, way),
            Shape::Opaque => loose(way, span),
        }
    }

    fn within_array(&self, element: EntryId, lengths: &[u64], span: Span, way: Way) -> Part {
        let Some(size) = self.types.size(element).filter(|size| *size > 0) else {
            return loose(way, span);
        };
        let first = span.offset / size;
        let within = Span {
            offset: span.offset % size,
            size: span.size,
        };
        if within.offset + within.size <= size {
            let way = way.on(&indices(first, lengths));
            return self.within_type(element, within, way);
        }
        let all: u64 = size * lengths.iter().product::<u64>();
        if span.offset == 0 && span.size == all {
            return whole(way);
        }
        let last = (span.offset + span.size - 1) / size;
        let path = match lengths.len() {
            1 => format!("{}[{first} ... {last}]", way.path),
            // The elements may span several rows, so only the first element is named.
            _ => format!("{}{} and following", way.path, indices(first, lengths)),
        };
        Part {
            path,
            kind: None,
            fit: Fit::Loose,
        }
    }

    fn within_record(&self, record: &Record, size: Option<u64>, span: Span, way: Way) -> Part {
        // A pointer to a structure rarely means its first member.
        if (span.offset, span.size) == (0, 0) {
            return whole(way);
        }
        let plain = record.members.iter().filter(|member| member.bits.is_none());
        let mut best: Option<Part> = None;
        for member in plain.filter(|member| self.contains(member, span)) {
            let within = Span {
                offset: span.offset - member.offset,
                size: span.size,
            };
            let found = self.within_type(member.type_of, within, way.on(&written(record, member)));
            if best.as_ref().is_none_or(|best| found.fit > best.fit) {
                best = Some(found);
            }
        }
        let is_whole = span.offset == 0 && size == Some(span.size);
        match best {
            Some(best) if best.fit == Fit::Value || !is_whole => best,
            Some(_) => whole(way),
            None => bit_fields(record, span, &way).unwrap_or_else(|| {
                if is_whole {
                    whole(way)
                } else {
                    loose(way, span)
                }
            }),
        }
    }

    fn contains(&self, member: &Member, span: Span) -> bool {
        let Some(offset) = span.offset.checked_sub(member.offset) else {
            return false;
        };
        match self.types.size(member.type_of) {
            // An array at the end of a structure may be longer than its type says.
            Some(0) | None => true,
            Some(size) => offset + span.size.max(1) <= size,
        }
    }
}

fn whole(way: Way) -> Part {
    Part {
        path: way.path,
        kind: None,
        fit: Fit::Whole,
    }
}

/// Describes bytes that are not a named part.
fn loose(way: Way, span: Span) -> Part {
    let path = match (span.offset, span.size) {
        (0, 0) => way.path,
        (first, 0 | 1) => format!("{} (byte {first})", way.path),
        (first, size) => format!("{} (bytes {first} to {})", way.path, first + size - 1),
    };
    Part {
        path,
        kind: None,
        fit: Fit::Loose,
    }
}

/// Returns a description of the bit fields that overlap these bytes, or `None` if there are none.
fn bit_fields(record: &Record, span: Span, way: &Way) -> Option<Part> {
    let (first, end) = (span.offset * 8, (span.offset + span.size.max(1)) * 8);
    let overlapping = record.members.iter().filter(|member| match member.bits {
        Some((bit, width)) => bit < end && first < bit + width,
        None => false,
    });
    let names: Vec<&str> = overlapping
        .filter_map(|member| member.name.as_deref())
        .collect();
    let path = match names[..] {
        [] => return None,
        [name] => format!("{}.{name}", way.path),
        _ => format!("{}.{{{}}}", way.path, names.join(", ")),
    };
    Some(Part {
        path,
        kind: None,
        fit: Fit::Loose,
    })
}

/// Returns the indices of an element: `[1][2]` for element 6 of `[3][4]`.
fn indices(element: u64, lengths: &[u64]) -> String {
    let mut rest = element;
    let mut indices = Vec::new();
    for length in lengths.iter().skip(1).rev() {
        let length = (*length).max(1);
        indices.push(rest % length);
        rest /= length;
    }
    indices.push(rest);
    let written = indices.iter().rev().map(|index| format!("[{index}]"));
    written.collect()
}

/// Returns the text for a member: empty for a base class, an anonymous structure, or an internal
/// member of a library.
fn written(record: &Record, member: &Member) -> String {
    let is_reserved = |name: &str| {
        let mut letters = name.chars();
        letters.next() == Some('_')
            && letters
                .next()
                .is_some_and(|second| second == '_' || second.is_uppercase())
    };
    match member.name.as_deref() {
        None => String::new(),
        Some(name) if record.is_of_library && is_reserved(name) => String::new(),
        Some(name) if name.starts_with("_vptr") => "._vptr".to_owned(),
        Some(name) => format!(".{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_arrays_of_arrays_have_an_index_for_each_dimension() {
        assert_eq!(indices(6, &[3, 4]), "[1][2]");
        assert_eq!(indices(23, &[2, 3, 4]), "[1][2][3]");
        assert_eq!(indices(7, &[0]), "[7]");
        assert_eq!(indices(7, &[]), "[7]");
    }

    #[test]
    fn bytes_without_a_name_are_counted_from_the_last_one_that_has_a_name() {
        let of = |offset, size| loose(Way::default().on("x"), Span { offset, size }).path;
        assert_eq!(of(2, 1), "x (byte 2)");
        assert_eq!(of(4, 4), "x (bytes 4 to 7)");
    }
}
