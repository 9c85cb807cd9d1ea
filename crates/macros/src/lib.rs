//! The attribute `#[mazurka::test]`. It is documented in the crate `mazurka`, which exports it.

#![forbid(unsafe_code)]

mod expansion;
mod options;

use proc_macro::TokenStream;

/// Turns a function into a test that runs in every interleaving (`mazurka::test`).
#[proc_macro_attribute]
pub fn test(options: TokenStream, function: TokenStream) -> TokenStream {
    expansion::expand(options.into(), function.into()).into()
}
