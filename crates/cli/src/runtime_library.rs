//! The runtime library, which is embedded in this command.

use crate::refusal::Refusal;
use native::RuntimeLibrary;

/// The bytes of the library. `None` if the build produced no shared library, as on systems without
/// shared libraries.
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
