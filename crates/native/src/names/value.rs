//! Formats bytes as source-level values.

/// The interpretation of the bytes of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Signed,
    Unsigned,
    Boolean,
    Character,
    Float,
    Pointer,
    /// The constants in source order.
    Enumeration(Vec<(i128, String)>),
}

/// Formats a value from its bytes, the least significant first. A value without a kind is formatted
/// in hexadecimal.
pub fn shown(kind: Option<&Kind>, bytes: &[u8]) -> String {
    let Some(unsigned) = unsigned(bytes) else {
        return format!("{} bytes", bytes.len());
    };
    match kind {
        None => hexadecimal(unsigned),
        Some(Kind::Signed) => signed(unsigned, bytes.len()).to_string(),
        Some(Kind::Unsigned) => unsigned.to_string(),
        Some(Kind::Boolean) => match unsigned {
            0 => "false".to_owned(),
            1 => "true".to_owned(),
            other => other.to_string(),
        },
        Some(Kind::Character) => character(unsigned, bytes.len()),
        Some(Kind::Float) => float(bytes).unwrap_or_else(|| hexadecimal(unsigned)),
        Some(Kind::Pointer) => match unsigned {
            0 => "NULL".to_owned(),
            address => hexadecimal(address),
        },
        Some(Kind::Enumeration(constants)) => constant(constants, unsigned, bytes.len()),
    }
}

fn unsigned(bytes: &[u8]) -> Option<u128> {
    let mut all = [0; 16];
    all.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(u128::from_le_bytes(all))
}

fn signed(unsigned: u128, size: usize) -> i128 {
    let unused = 128 - 8 * size.clamp(1, 16);
    (unsigned << unused).cast_signed() >> unused
}

fn hexadecimal(unsigned: u128) -> String {
    match unsigned {
        0..10 => unsigned.to_string(),
        more => format!("{more:#x}"),
    }
}

fn character(unsigned: u128, size: usize) -> String {
    let printable = u8::try_from(unsigned)
        .ok()
        .filter(|letter| matches!(letter, b' '..=b'~'));
    match printable {
        Some(letter) => format!("'{}'", char::from(letter)),
        None => signed(unsigned, size).to_string(),
    }
}

fn float(bytes: &[u8]) -> Option<String> {
    if let Ok(bytes) = <[u8; 4]>::try_from(bytes) {
        return Some(f32::from_le_bytes(bytes).to_string());
    }
    let bytes = <[u8; 8]>::try_from(bytes).ok()?;
    Some(f64::from_le_bytes(bytes).to_string())
}

fn constant(constants: &[(i128, String)], unsigned: u128, size: usize) -> String {
    let signed = signed(unsigned, size);
    let named = constants
        .iter()
        .find(|(value, _)| *value == signed || u128::try_from(*value) == Ok(unsigned));
    named.map_or_else(|| signed.to_string(), |(_, name)| name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_as_their_type_says() {
        let colours = Kind::Enumeration(vec![(0, "red".to_owned()), (-1, "none".to_owned())]);
        for (kind, bytes, text) in [
            (Some(Kind::Signed), &[0xfe, 0xff, 0xff, 0xff][..], "-2"),
            (
                Some(Kind::Unsigned),
                &[0xfe, 0xff, 0xff, 0xff],
                "4294967294",
            ),
            (Some(Kind::Signed), &[0x80], "-128"),
            (Some(Kind::Boolean), &[1], "true"),
            (Some(Kind::Boolean), &[7], "7"),
            (Some(Kind::Character), b"x", "'x'"),
            (Some(Kind::Character), &[0], "0"),
            (Some(Kind::Float), &1.5f64.to_le_bytes(), "1.5"),
            (Some(Kind::Float), &0.25f32.to_le_bytes(), "0.25"),
            (Some(Kind::Pointer), &[0; 8], "NULL"),
            (
                Some(Kind::Pointer),
                &0x5555_0010u64.to_le_bytes(),
                "0x55550010",
            ),
            (Some(colours.clone()), &[0, 0, 0, 0], "red"),
            (Some(colours.clone()), &[0xff, 0xff, 0xff, 0xff], "none"),
            (Some(colours), &[9, 0, 0, 0], "9"),
            (None, &[3, 0], "3"),
            (None, &[3, 1], "0x103"),
            (None, &[0; 40], "40 bytes"),
        ] {
            assert_eq!(shown(kind.as_ref(), bytes), text, "{kind:?} {bytes:?}");
        }
    }
}
