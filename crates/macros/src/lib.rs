//! The attribute `#[mazurka::test]`. Its documentation is there, in the crate `mazurka`, which exports it.

#![forbid(unsafe_code)]

mod expansion;
mod options;

use proc_macro::TokenStream;

/// Makes a function a test that is run in every interleaving: `mazurka::test`.
#[proc_macro_attribute]
pub fn test(options: TokenStream, function: TokenStream) -> TokenStream {
    expansion::expand(options.into(), function.into()).into()
}
