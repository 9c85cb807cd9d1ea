//! `mazurka replay`: repeats exactly one saved execution.

use crate::arguments::ReplayOptions;
use crate::check::quoted;
use crate::output_files::{are_distinct, is_writable};
use crate::refusal::Refusal;
use crate::subject::NativeProgram;
use crate::{Done, exit_code, native_check, presentation};
use mazurka::Checker;
use report::{Recipe, ScheduleFile};
use std::path::Path;
use std::process::ExitCode;

/// Replays a saved schedule.
pub fn replay(options: &ReplayOptions) -> Done {
    let schedule = ScheduleFile::load(&options.file)?;
    let _pipes = options
        .report
        .files()
        .map(is_writable)
        .collect::<Result<Vec<_>, _>>()?;
    let sources = schedule.recipe.iter().flat_map(|recipe| &recipe.files);
    let inputs = sources.map(Path::new).chain([options.file.as_path()]);
    are_distinct(options.report.files(), inputs)?;
    if let Some(recipe) = &schedule.recipe {
        if let Some(part) = foreign_part(recipe).filter(|_| !options.trust_recipe) {
            return Err(Refusal::ForeignRecipe {
                path: options.file.clone(),
                part,
                recipe: shown(recipe),
            });
        }
        return replay_native(options, &NativeProgram::from_recipe(recipe), &schedule);
    }
    if options.gdb {
        return Err(Refusal::Option {
            option: "--gdb",
            why: "this is for programs in C and C++",
        });
    }
    let Ok(instance) = corpus::parse(&schedule.program) else {
        let program = schedule.program;
        return Err(Refusal::ForeignSchedule {
            path: options.file.clone(),
            program,
        });
    };
    let report = Checker::new()
        .name(&schedule.program)
        .explain(options.report.explains())
        .replay(&schedule, instance.program())
        .map_err(|error| Refusal::Check {
            program: schedule.program.clone(),
            error,
        })?;
    presentation::show(&report, &options.report)?;
    Ok(exit_code(report.verdict))
}

/// Describes the first part of a recipe that is not known to be harmless, if there is one. Files
/// are harmless only beneath the current directory.
pub fn foreign_part(recipe: &Recipe) -> Option<String> {
    let folder = std::env::current_dir().unwrap_or_default();
    native::foreign_part(recipe, &folder)
}

/// Formats the recipe as a command line.
fn shown(recipe: &Recipe) -> String {
    let Recipe {
        files,
        flags,
        compiler,
        arguments,
    } = recipe;
    let words = compiler.iter().chain(files).chain(flags).chain(arguments);
    let words: Vec<String> = words.map(|word| quoted(word)).collect();
    words.join(" ")
}

fn replay_native(
    options: &ReplayOptions,
    program: &Option<NativeProgram>,
    schedule: &ScheduleFile,
) -> Done {
    let Some(program) = program else {
        return Err(Refusal::Recipe(options.file.clone()));
    };
    let replayed = match options.gdb {
        true => native_check::debug(options, program, schedule.clone())?,
        false => Some(native_check::replay(options, program, schedule.clone())?),
    };
    match replayed {
        Some(report) => {
            presentation::show(&report, &options.report)?;
            Ok(exit_code(report.verdict))
        }
        // The user left the debugger before the end.
        None => Ok(ExitCode::SUCCESS),
    }
}
