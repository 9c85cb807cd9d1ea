//! Embeds the shared library of a dependency in a program.
//!
//! Cargo builds all crate types of a dependency before the program that depends on it, but does not
//! report where the files are. The compiler's command line shows where they are: a `cdylib` lies
//! next to the `rlib` that `--extern` names.
#![forbid(unsafe_code)]

use proc_macro::TokenStream;
use std::env::consts::DLL_EXTENSION;
use std::path::Path;

/// Expands to an `Option<&'static [u8]>`: the bytes of the `cdylib` of the dependency `name`. It is
/// `None` if nothing is linked (`cargo check`) and on targets without shared libraries.
#[proc_macro]
pub fn shared_library(name: TokenStream) -> TokenStream {
    let name = name.to_string();
    let arguments: Vec<String> = std::env::args().collect();
    let library = |file: &Path| {
        let shared = file.with_extension(DLL_EXTENSION);
        let is_linked = file
            .extension()
            .is_some_and(|extension| extension == "rlib");
        (is_linked && shared.is_file()).then_some(shared)
    };
    let expression = match dependency(&name, &arguments).map(library) {
        Some(Some(file)) => format!("::core::option::Option::Some(&*include_bytes!({file:?}))"),
        Some(None) => "::core::option::Option::None".to_owned(),
        None => format!("::core::compile_error!(\"there is no dependency {name}\")"),
    };
    expression
        .parse()
        .expect("the generated expression consists of valid tokens")
}

/// Returns the path that the compiler's arguments give for a dependency (`--extern NAME=PATH`), or
/// `None` if no argument names the dependency.
fn dependency<'a>(name: &str, arguments: &'a [String]) -> Option<&'a Path> {
    let pairs = arguments.iter().zip(arguments.iter().skip(1));
    let mut named = pairs.filter_map(|(option, value)| {
        let (key, path) = value.split_once('=')?;
        (option == "--extern" && key.rsplit(':').next() == Some(name)).then_some(Path::new(path))
    });
    named.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_of_a_dependency_is_found() {
        let words =
            "rustc --extern more_hooks=/d/a.rlib --extern priv:hooks=/d/b.rlib hooks=/d/c.rlib";
        let arguments: Vec<String> = words.split(' ').map(str::to_owned).collect();
        assert_eq!(
            dependency("hooks", &arguments),
            Some(Path::new("/d/b.rlib"))
        );
        assert_eq!(dependency("hook", &arguments), None);
    }
}
