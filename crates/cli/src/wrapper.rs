//! `mazurka cc` and `mazurka c++`: run the user's compiler with our hooks, and link our library.

use crate::Done;
use crate::arguments::WrapperOptions;
use crate::refusal::Refusal;
use crate::runtime_library::runtime_library;
use native::{Compiler, Instrumented, Language};
use std::os::unix::process::CommandExt;

/// Replaces this process with the compiler. Returns only if that fails.
pub fn compile(language: Language, options: &WrapperOptions) -> Done {
    let environment = |name: &str| std::env::var_os(name);
    let compiler = Compiler::behind_wrapper(language, &environment)?;
    let system = |what, error| Refusal::System { what, error };
    let library = runtime_library()?;
    let mut instrumented = Instrumented::new(&compiler, &library, &options.arguments, &|| false)
        .map_err(|error| system("prepare the compiler", error))?;
    Err(system("run the compiler", instrumented.command().exec()))
}
