//! The options in the parentheses of `#[mazurka::test(…)]`.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use std::time::Duration;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, Ident, LitBool, LitInt, LitStr, Result, Token};

/// The known options and the kinds of their values.
const KNOWN: [(&str, Takes); 16] = [
    ("algorithm", Takes::Algorithm),
    ("memory", Takes::Memory),
    ("max_executions", Takes::Number),
    ("time_limit", Takes::Time),
    ("preemptions", Takes::Bound),
    ("max_events", Takes::Number),
    ("timeouts", Takes::Number),
    ("seed", Takes::Number),
    ("extra", Takes::Number),
    ("unroll", Takes::Number),
    ("jobs", Takes::Number),
    ("keep_going", Takes::Flag),
    ("panics_fail", Takes::Flag),
    ("waiting_after_main", Takes::Flag),
    ("accept_hidden", Takes::Flag),
    ("fails", Takes::Failure),
];

/// The kind of an option's value.
#[derive(Clone, Copy)]
enum Takes {
    Algorithm,
    Memory,
    Number,
    /// A number, or a range `n..` in which the bound grows.
    Bound,
    Time,
    Flag,
    Failure,
}

/// One option, as a call on a `mazurka::TestCase`.
struct TestOption {
    name: Ident,
    call: TokenStream,
}

/// Returns all options, as calls on a `mazurka::TestCase`.
pub fn calls(options: TokenStream) -> Result<TokenStream> {
    let parser = Punctuated::<TestOption, Token![,]>::parse_terminated;
    let options = syn::parse::Parser::parse2(parser, options)?;
    let mut calls = TokenStream::new();
    for (position, option) in options.iter().enumerate() {
        let is_same = |other: &&TestOption| other.name == option.name;
        if options.iter().take(position).any(|other| is_same(&other)) {
            let message = format!("`{}` is given twice", option.name);
            return Err(Error::new(option.name.span(), message));
        }
        calls.extend(option.call.clone());
    }
    Ok(calls)
}

impl Parse for TestOption {
    fn parse(input: ParseStream) -> Result<TestOption> {
        if !input.peek(Ident::peek_any) {
            return Err(input.error(format!("expected an option: {}", names())));
        }
        let name = Ident::parse_any(input)?;
        let known = KNOWN.iter().find(|(known, _)| name == known);
        let Some(&(_, takes)) = known else {
            let message = format!("there is no option `{name}`; the options are {}", names());
            return Err(Error::new(name.span(), message));
        };
        let call = match takes {
            Takes::Algorithm => algorithm(&name, input),
            Takes::Memory => memory(&name, input),
            Takes::Number => number(&name, input),
            Takes::Bound => bound(&name, input),
            Takes::Time => time(&name, input),
            Takes::Flag => flag(&name, input),
            Takes::Failure => failure(&name, input),
        }?;
        Ok(TestOption { name, call })
    }
}

fn algorithm(name: &Ident, input: ParseStream) -> Result<TokenStream> {
    let text: LitStr = value(name, input, "the name of an algorithm, such as \"optimal\"")?;
    // Only `mazurka` knows the names. The generated code looks up the name while it initializes a
    // constant, so that an unknown name is a compile error, even with `cargo check`.
    Ok(quote_spanned! {text.span()=> .#name({
        const CHOSEN: ::mazurka::Algorithm = ::mazurka::Algorithm::named(#text);
        CHOSEN
    })})
}

fn memory(name: &Ident, input: ParseStream) -> Result<TokenStream> {
    let text: LitStr = value(name, input, "the name of a memory model, such as \"rc11\"")?;
    // The name is looked up as in `algorithm`.
    Ok(quote_spanned! {text.span()=> .#name({
        const CHOSEN: ::mazurka::MemoryModel = ::mazurka::MemoryModel::named(#text);
        CHOSEN
    })})
}

fn number(name: &Ident, input: ParseStream) -> Result<TokenStream> {
    let number: LitInt = value(name, input, "a number, such as 1000")?;
    number.base10_parse::<u64>().map_err(|_| {
        let message = format!("`{name}` takes a number of at most 64 bits, such as 1000");
        Error::new(number.span(), message)
    })?;
    Ok(quote_spanned!(number.span()=> .#name(#number)))
}

/// Parses `2` or `0..`.
fn bound(name: &Ident, input: ParseStream) -> Result<TokenStream> {
    let number: LitInt = value(name, input, "a number, such as 2, or 0..")?;
    number.base10_parse::<u32>().map_err(|_| {
        let message = format!("`{name}` takes a number of at most 32 bits, such as 2, or 0..");
        Error::new(number.span(), message)
    })?;
    let grows: Option<Token![..]> = input.parse()?;
    Ok(quote_spanned!(number.span()=> .#name(#number #grows)))
}

fn time(name: &Ident, input: ParseStream) -> Result<TokenStream> {
    let text: LitStr = value(name, input, "a time, such as \"30s\"")?;
    let Some(limit) = duration(&text.value()) else {
        let message = format!(
            "{:?} is not a time; write a number followed by ms, s, m or h, such as \"30s\"",
            text.value()
        );
        return Err(Error::new(text.span(), message));
    };
    let (seconds, nanoseconds) = (limit.as_secs(), limit.subsec_nanos());
    Ok(quote!(.#name(::core::time::Duration::new(#seconds, #nanoseconds))))
}

fn flag(name: &Ident, input: ParseStream) -> Result<TokenStream> {
    if !input.peek(Token![=]) {
        return Ok(quote!(.#name(true)));
    }
    let value: LitBool = value(name, input, "true or false")?;
    Ok(quote!(.#name(#value)))
}

/// Parses `fails` or `fails = "text"`.
fn failure(name: &Ident, input: ParseStream) -> Result<TokenStream> {
    if !input.peek(Token![=]) {
        return Ok(quote!(.#name("")));
    }
    let text: LitStr = value(
        name,
        input,
        "a part of a bug's kind or message, such as \"deadlock\"",
    )?;
    if text.value().is_empty() {
        let message =
            "every message contains the empty string; write only `fails` to accept any failure";
        return Err(Error::new(text.span(), message));
    }
    Ok(quote!(.#name(#text)))
}

/// Parses the value after the `=`.
fn value<T: Parse>(name: &Ident, input: ParseStream, expected: &str) -> Result<T> {
    let error = |span: Span| Error::new(span, format!("`{name}` takes {expected}"));
    if !input.peek(Token![=]) {
        return Err(error(name.span()));
    }
    input.parse::<Token![=]>()?;
    let span = input.span();
    input.parse().map_err(|_| error(span))
}

/// Parses `30s`, `5m`, `1.5h` or `250ms`.
fn duration(text: &str) -> Option<Duration> {
    let unit = text.find(|letter: char| letter.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(unit);
    let seconds = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let number: f64 = number.parse().ok()?;
    let limit = Duration::try_from_secs_f64(number * seconds).ok()?;
    (!limit.is_zero()).then_some(limit)
}

fn names() -> String {
    KNOWN.map(|(name, _)| name).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the calls for the options, with all spaces removed, or the error message.
    fn shown(options: &str) -> String {
        let tokens = options.parse().unwrap();
        match calls(tokens) {
            Ok(calls) => calls.to_string().replace(' ', ""),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn options_become_calls() {
        assert_eq!(shown(""), "");
        assert_eq!(
            shown("algorithm = \"context-sensitive\", max_executions = 1_000,"),
            ".algorithm({constCHOSEN:::mazurka::Algorithm=::mazurka::Algorithm::named(\"context-sensitive\");CHOSEN}).max_executions(1_000)"
        );
        assert_eq!(
            shown("time_limit = \"1.5s\", panics_fail, keep_going = false"),
            ".time_limit(::core::time::Duration::new(1u64,500000000u32)).panics_fail(true).keep_going(false)"
        );
        assert_eq!(shown("fails = \"lost\""), ".fails(\"lost\")");
        assert_eq!(shown("fails"), ".fails(\"\")");
        assert_eq!(shown("preemptions = 0..,"), ".preemptions(0..)");
    }

    #[test]
    fn errors_in_options_list_the_valid_options() {
        for (options, part) in [
            (
                "preemption = 2",
                "there is no option `preemption`; the options are algorithm, memory, max_executions",
            ),
            (
                "algorithm = optimal",
                "`algorithm` takes the name of an algorithm, such as \"optimal\"",
            ),
            ("algorithm", "`algorithm` takes the name of an algorithm"),
            (
                "max_executions = \"many\"",
                "`max_executions` takes a number, such as 1000",
            ),
            ("preemptions = -1", "`preemptions` takes a number"),
            (
                "max_executions = 99999999999999999999",
                "`max_executions` takes a number of at most 64 bits",
            ),
            (
                "time_limit = 30",
                "`time_limit` takes a time, such as \"30s\"",
            ),
            (
                "time_limit = \"soon\"",
                "\"soon\" is not a time; write a number followed by ms",
            ),
            ("time_limit = \"0s\"", "\"0s\" is not a time"),
            ("panics_fail = 1", "`panics_fail` takes true or false"),
            ("fails = \"\"", "write only `fails` to accept any failure"),
            ("fails, fails = \"lost\"", "`fails` is given twice"),
            ("\"optimal\"", "expected an option: algorithm"),
        ] {
            let message = shown(options);
            assert!(
                message.starts_with(part) || message.contains(part),
                "{options}: {message}"
            );
        }
    }
}
