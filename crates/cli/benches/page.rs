//! The time that a browser takes to open the page of a failure of 10,000 events, and to take a step
//! in it: `cargo bench -p mazurka-cli --bench page`.

#[path = "../tests/chromium/mod.rs"]
mod chromium;
#[path = "../tests/command/mod.rs"]
#[allow(dead_code, reason = "tests use more of it")]
mod command;

use chromium::long::long;
use chromium::scrolling::{UNFOLD, Work, scrolled};
use chromium::{ask, look};

/// The number of measurements of each time.
const TIMES: usize = 5;

/// Returns a script that takes 200 steps, draws each with its arrows, and returns the time of the
/// slowest in milliseconds.
fn slowest(to: &str) -> String {
    format!(
        "(() => {{ let slowest = 0; for (let step = 0; step < 200; step++) {{ const start = performance.now(); \
         stepper.go({to}); stepper.draw(); slowest = Math.max(slowest, performance.now() - start); }} return slowest; }})()"
    )
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    let page = page::page(&long(10_000), &page::Sources::default());
    std::fs::write(&path, &page).unwrap();
    println!("10,000 events: {:.2} MB", page.len() as f64 / 1e6);
    for _ in 0..TIMES {
        look(
            &format!("file://{}", path.display()),
            1400,
            async |browser| {
                let opened = "performance.getEntriesByType('navigation')[0].loadEventEnd";
                let opened = ask(browser, opened).await?.as_f64().unwrap();
                let near = ask(browser, &slowest("4000 + step"))
                    .await?
                    .as_f64()
                    .unwrap();
                let far = ask(browser, &slowest("step * 7919 % 10000"))
                    .await?
                    .as_f64()
                    .unwrap();
                println!(
                    "opened in {opened:.0} ms; slowest step {near:.0} ms, to a far event {far:.0} ms"
                );
                Ok(())
            },
        );
    }
    scrolled(
        &format!("file://{}", path.display()),
        UNFOLD,
        20_000,
        |work, depth| {
            let longest = |is: fn(&&Work) -> bool| {
                let times = work.iter().filter(is).map(|work| work.milliseconds);
                times.fold(0.0, f64::max)
            };
            let (script, any) = (longest(|work| work.is_script), longest(|_| true));
            println!(
                "scrolled by {depth:.0} pixels: longest script {script:.1} ms, longest work of any kind {any:.1} ms"
            );
        },
    );
}
