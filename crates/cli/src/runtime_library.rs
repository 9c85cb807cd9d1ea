//! The runtime library, which this command brings along.

use crate::refusal::Refusal;
use native::RuntimeLibrary;

/// Its bytes; none where it was not built, as on systems whose programs cannot be checked.
static EMBEDDED: Option<&[u8]> = embed::shared_library!(intercept);

/// The library as a file that programs can be linked with.
pub fn runtime_library() -> Result<RuntimeLibrary, Refusal> {
    let environment = |name: &str| std::env::var_os(name);
    let command = std::env::current_exe().map_err(|error| Refusal::System {
        what: "find this command",
        error,
    })?;
    Ok(RuntimeLibrary::find(&command, EMBEDDED, &environment)?)
}
