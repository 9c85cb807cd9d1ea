//! The runtime library, which is embedded in this command.

use crate::refusal::Refusal;
use native::RuntimeLibrary;

/// The library's bytes; `None` if it was not built, on systems whose programs cannot be checked.
static EMBEDDED: Option<&[u8]> = embed::shared_library!(intercept);

/// Returns the library as a file for linking.
pub fn runtime_library() -> Result<RuntimeLibrary, Refusal> {
    let environment = |name: &str| std::env::var_os(name);
    let command = std::env::current_exe().map_err(|error| Refusal::System {
        what: "find this command",
        error,
    })?;
    Ok(RuntimeLibrary::find(&command, EMBEDDED, &environment)?)
}
