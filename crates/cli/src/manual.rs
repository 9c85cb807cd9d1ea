//! Shell completions and manual pages, generated from the command line.

use crate::arguments::{Arguments, CompletionsOptions, ManOptions};
use crate::refusal::Refusal;
use crate::{Done, terminal};
use clap::CommandFactory;
use std::process::ExitCode;

/// Prints the completion script for a shell.
pub fn completions(options: &CompletionsOptions) -> Done {
    let mut script = Vec::new();
    clap_complete::generate(
        options.shell,
        &mut Arguments::command(),
        "mazurka",
        &mut script,
    );
    print(&script)
}

/// Prints a manual page.
pub fn man(options: &ManOptions) -> Done {
    let mut all = Arguments::command();
    all.build();
    let command = match &options.command {
        None => all,
        Some(name) => {
            let found = all
                .find_subcommand(name)
                .filter(|found| !found.is_hide_set());
            let command = found
                .cloned()
                .ok_or_else(|| Refusal::NoCommand(name.clone()))?;
            let title = format!("mazurka-{}", command.get_name());
            command.display_name(title)
        }
    };
    let mut page = Vec::new();
    let written = clap_mangen::Man::new(command).render(&mut page);
    written.expect("writing to memory cannot fail");
    print(&page)
}

fn print(text: &[u8]) -> Done {
    let printed = terminal::print(&String::from_utf8_lossy(text));
    printed.map_err(|error| Refusal::System {
        what: "print",
        error,
    })?;
    Ok(ExitCode::SUCCESS)
}
