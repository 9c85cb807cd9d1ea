//! The expansion of a function with the attribute `#[mazurka::test]` into a standard `#[test]`.

use crate::options;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Error, Ident, ItemFn, Result, ReturnType, Signature};

/// Returns the test that replaces the function, or a compile error with the original function.
pub fn expand(options: TokenStream, function: TokenStream) -> TokenStream {
    let parsed: Result<ItemFn> = syn::parse2(function.clone());
    let test = parsed.and_then(|parsed| test(options, &parsed));
    // The function is kept, so that the compiler reports no further errors.
    test.unwrap_or_else(|error| {
        let complaint = error.to_compile_error();
        quote!(#complaint #[allow(dead_code)] #function)
    })
}

fn test(options: TokenStream, function: &ItemFn) -> Result<TokenStream> {
    let ItemFn {
        attrs,
        vis,
        sig,
        block,
        ..
    } = function;
    check(sig, attrs)?;
    let calls = options::calls(options)?;
    let (name, output) = (&sig.ident, &sig.output);
    let asyncness = &sig.asyncness;
    let call = call(name, sig);
    Ok(quote! {
        #[::core::prelude::v1::test]
        #(#attrs)*
        #vis fn #name() {
            #asyncness fn #name() #output #block
            ::mazurka::TestCase::new(
                ::core::concat!(::core::module_path!(), "::", ::core::stringify!(#name)),
                ::core::env!("CARGO_PKG_NAME"),
            )
            #calls
            .run_by_jobs(|| #call);
        }
    })
}

/// Returns the expression that the model runs.
fn call(name: &Ident, sig: &Signature) -> TokenStream {
    let call = match sig.asyncness {
        Some(_) => quote!(::mazurka::future::block_on(#name())),
        None => quote!(#name()),
    };
    match sig.output {
        ReturnType::Default => call,
        ReturnType::Type(..) => quote!(::mazurka::Returned::expect(#call)),
    }
}

/// Checks that the function can be a model: it has no arguments and no generic parameters, is safe,
/// and has no other `#[test]`.
fn check(sig: &Signature, attrs: &[Attribute]) -> Result<()> {
    let refuse = |span: &dyn quote::ToTokens, message: &str| {
        Err(Error::new_spanned(span.to_token_stream(), message))
    };
    if let Some(first) = sig.inputs.first() {
        return refuse(first, "a model takes no arguments");
    }
    if !sig.generics.params.is_empty() {
        return refuse(&sig.generics, "a model must not be generic");
    }
    if matches!(sig.safety, syn::Safety::Unsafe(_)) {
        return refuse(
            &sig.safety,
            "a model must be a safe function: no caller meets its safety conditions",
        );
    }
    if let Some(own) = attrs.iter().find(|attribute| is_test(attribute)) {
        return refuse(
            own,
            "`#[mazurka::test]` already makes this a test; remove the other `#[test]`",
        );
    }
    Ok(())
}

fn is_test(attribute: &Attribute) -> bool {
    let last = attribute.path().segments.last();
    last.is_some_and(|segment| segment.ident == "test")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(options: &str, function: &str) -> String {
        let tokens = expand(options.parse().unwrap(), function.parse().unwrap());
        tokens.to_string().replace(' ', "")
    }

    #[test]
    fn other_attributes_stay_and_the_body_is_run_by_the_model() {
        let expanded = expanded(
            "preemptions = 2",
            "#[ignore] #[should_panic(expected = \"x\")] fn model() { one(); }",
        );
        let expected = "#[::core::prelude::v1::test]#[ignore]#[should_panic(expected=\"x\")]fnmodel(){fnmodel(){one();}";
        assert!(expanded.starts_with(expected), "{expanded}");
        assert!(
            expanded.ends_with(".preemptions(2).run_by_jobs(||model());}"),
            "{expanded}"
        );
    }

    #[test]
    fn what_is_returned_is_looked_at_and_futures_are_blocked_on() {
        let result = expanded("", "fn model() -> Result<(), String> { Ok(()) }");
        assert!(
            result.contains(".run_by_jobs(||::mazurka::Returned::expect(model()))"),
            "{result}"
        );
        let future = expanded("", "async fn model() {}");
        assert!(future.contains("{asyncfnmodel(){}"), "{future}");
        assert!(
            future.contains(".run_by_jobs(||::mazurka::future::block_on(model()))"),
            "{future}"
        );
    }

    #[test]
    fn what_cannot_be_a_model_is_refused_with_a_reason_and_left_as_it_is() {
        for (function, reason) in [
            ("fn model(n: u32) {}", "amodeltakesnoarguments"),
            ("fn model<T>() {}", "amodelmustnotbegeneric"),
            ("unsafe fn model() {}", "amodelmustbeasafefunction"),
            ("#[test] fn model() {}", "removetheother`#[test]`"),
            ("#[core::prelude::v1::test] fn model() {}", "removetheother"),
        ] {
            let expanded = expanded("", function);
            assert!(expanded.contains(reason), "{expanded}");
            assert!(expanded.ends_with(&function.replace(' ', "")), "{expanded}");
        }
        assert!(expanded("", "struct Model;").contains("compile_error"));
    }
}
