//! The command mazurka.
fn main() {}
