//! `mazurka explore`: a page on which the user chooses which thread runs next.

mod explored;
mod server;
mod watch;

use crate::arguments::ExploreOptions;
use crate::refusal::Refusal;
use crate::{Done, interruption, terminal};
use explored::Explored;
use report::{ScheduleFile, Visit};
use server::Server;
use std::process::ExitCode;
use std::sync::Arc;

/// Serves the page until the command is interrupted.
pub fn explore(mut options: ExploreOptions) -> Done {
    options.refuse_others()?;
    options.check.is_explored = true;
    let schedule = options
        .schedule
        .as_deref()
        .map(ScheduleFile::load)
        .transpose()?;
    let stop = interruption::gentle_flag(options.check.leashed)?;
    let explored = Arc::new(Explored::open(options.check, Arc::clone(&stop))?);
    if let Some(schedule) = &schedule {
        explored.is_of_program(schedule)?;
        explored.position(Some(schedule.clone()), Visit::default())?;
    }
    let server = Server::bind(Arc::clone(&explored), schedule, options.port)?;
    terminal::print(&format!("{}\n", server.address())).map_err(|error| Refusal::System {
        what: "print the address",
        error,
    })?;
    if options.search {
        server.search();
    }
    server.serve(&stop)?;
    Ok(ExitCode::SUCCESS)
}
