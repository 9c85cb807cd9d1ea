//! `mazurka explore`: its page in a real browser, and requests from elsewhere.

#[allow(dead_code, reason = "tests of other pages use more of it")]
mod chromium;
mod command;

use chromium::{ask, look};
use command::{mazurka, run};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use thirtyfour::prelude::*;

/// The running command.
struct Explorer {
    process: Child,
    address: String,
}

impl Explorer {
    fn start(folder: &Path, arguments: &str) -> Explorer {
        let mut command = mazurka(folder, &format!("explore {arguments}"));
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut address = String::new();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        output.read_line(&mut address).unwrap();
        Explorer {
            process,
            address: address.trim_end().to_owned(),
        }
    }

    /// Returns `127.0.0.1:PORT`, and the path with the token.
    fn parts(&self) -> (&str, &str) {
        let rest = self.address.strip_prefix("http://").unwrap();
        rest.split_at(rest.find('/').unwrap())
    }

    /// Sends a request unchanged. Returns the status and the body of the answer.
    fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> (u16, String) {
        let mut stream = TcpStream::connect(self.parts().0).unwrap();
        let headers: String = headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect();
        let length = body.len();
        let text = format!(
            "{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
        );
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        (status, body.to_owned())
    }

    /// Returns the status and the answer that the page would get.
    fn ask(&self, path: &str, question: &Value) -> (u16, Value) {
        let (host, token) = self.parts();
        let headers = [("Host", host), ("Content-Type", "application/json")];
        let (status, body) = self.request(
            "POST",
            &format!("{token}{path}"),
            &headers,
            &question.to_string(),
        );
        (
            status,
            serde_json::from_str(&body).unwrap_or_else(|_| body.into()),
        )
    }
}

impl Drop for Explorer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Waits until a script returns true.
async fn wait_for(browser: &WebDriver, script: &str) -> WebDriverResult<()> {
    for _ in 0..300 {
        if ask(browser, script).await? == true {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let page = ask(browser, "document.body.innerText").await?;
    panic!("not within 30 s: {script}\n{page}");
}

/// Takes the offered step of this thread.
async fn choose(browser: &WebDriver, thread: &str) -> WebDriverResult<()> {
    let count = "document.querySelectorAll('.events tbody tr').length";
    let before = ask(browser, count).await?.as_u64().unwrap();
    let offer = By::Css(format!(".offer[data-thread='{thread}']"));
    browser.find(offer).await?.click().await?;
    wait_for(browser, &format!("{count} > {before}")).await
}

const STATUS: &str = "document.querySelector('[role=status]').textContent";
const COMPLAINT: &str = "document.querySelector('[role=alert]').textContent";

async fn press(browser: &WebDriver, label: &str) -> WebDriverResult<()> {
    let path = format!("//button[normalize-space()='{label}']");
    browser.find(By::XPath(path)).await?.click().await
}

#[test]
fn the_deadlock_of_abba_is_found_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let explorer = Explorer::start(folder.path(), "abba-deadlock");
    look(&explorer.address, 1400, async |browser| {
        wait_for(browser, "document.querySelectorAll('.offer').length === 1").await?;
        for thread in ["main", "main"] {
            choose(browser, thread).await?;
        }
        // Each thread takes its first lock, and then requests the lock of the other thread.
        for thread in ["T0", "T0", "T1", "T1", "T0", "T1"] {
            choose(browser, thread).await?;
        }
        wait_for(browser, &format!("{STATUS}.startsWith('deadlock: ')")).await?;
        assert_eq!(
            ask(browser, "document.querySelectorAll('.offer').length").await?,
            0
        );
        assert_eq!(ask(browser, COMPLAINT).await?, "");
        // Goes back to a position without a failure. Later, the execution runs to its end
        // automatically.
        press(browser, "Undo").await?;
        wait_for(browser, "document.querySelectorAll('.offer').length > 0").await?;
        // Continuing from an event removes the events after it.
        browser.execute("stepper.go(1)", Vec::new()).await?;
        press(browser, "Continue from this event").await?;
        wait_for(
            browser,
            "document.querySelectorAll('.events tbody tr').length === 2",
        )
        .await?;
        press(browser, "Run to the end").await?;
        wait_for(
            browser,
            &format!("{STATUS} === 'The execution has ended, and nothing failed.'"),
        )
        .await?;
        Ok(())
    });
}

#[test]
fn racing_events_are_turned_round() {
    let folder = tempfile::tempdir().unwrap();
    let explorer = Explorer::start(folder.path(), "lost-update");
    look(&explorer.address, 1400, async |browser| {
        wait_for(browser, "document.querySelectorAll('.offer').length === 1").await?;
        press(browser, "Run to the end").await?;
        wait_for(
            browser,
            &format!("{STATUS} === 'The execution has ended, and nothing failed.'"),
        )
        .await?;
        let pairs = "[...document.querySelectorAll('details li')].map((one) => one.textContent)";
        let before = ask(browser, pairs).await?;
        assert!(!before.as_array().unwrap().is_empty());
        press(browser, "Reverse").await?;
        wait_for(
            browser,
            &format!("JSON.stringify({pairs}) !== JSON.stringify({before})"),
        )
        .await?;
        press(browser, "Run to the end").await?;
        wait_for(browser, &format!("{STATUS}.startsWith('panic: ')")).await?;
        Ok(())
    });
}

#[test]
fn only_the_answer_to_the_last_question_counts_and_complaints_stay() {
    let folder = tempfile::tempdir().unwrap();
    let explorer = Explorer::start(folder.path(), "--search mutex:2,2");
    look(&explorer.address, 1400, async |browser| {
        wait_for(browser, "document.querySelectorAll('.offer').length === 1").await?;
        // Three clicks at once make only one step, so one Undo takes it back.
        let presses = "const offer = document.querySelector('.offer'); offer.click(); offer.click(); offer.click();";
        browser.execute(presses, Vec::new()).await?;
        wait_for(
            browser,
            "document.querySelectorAll('.events tbody tr').length === 1",
        )
        .await?;
        press(browser, "Undo").await?;
        wait_for(
            browser,
            "document.querySelectorAll('.events tbody tr').length === 0",
        )
        .await?;
        // The page shows an error message. The message must stay while the page polls the search.
        browser
            .execute("visit({ program: 'other' })", Vec::new())
            .await?;
        wait_for(browser, &format!("{COMPLAINT} !== ''")).await?;
        browser.execute("watch()", Vec::new()).await?;
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert_ne!(ask(browser, COMPLAINT).await?, "");
        Ok(())
    });
}

const COUNTER: &str = "#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int count;
static void *add(void *p) { count = count + 1; return p; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, add, 0);
    count = count + 1;
    pthread_join(thread, 0);
    assert(count == 2);
}
";

#[test]
fn a_search_is_watched_and_its_bug_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("counter.c"), COUNTER).unwrap();
    let explorer = Explorer::start(folder.path(), "--search counter.c");
    look(&explorer.address, 1400, async |browser| {
        let shown =
            "[...document.querySelectorAll('button')].some((one) => one.textContent === 'Show')";
        wait_for(browser, shown).await?;
        press(browser, "Show").await?;
        wait_for(browser, &format!("{STATUS}.startsWith('assertion: ')")).await?;
        // The source line is shown beside the event.
        let source = "document.querySelector('.side .source').textContent.includes('count')";
        assert_eq!(ask(browser, source).await?, true);
        Ok(())
    });
}

#[test]
fn a_search_shows_its_tree_while_it_runs() {
    let folder = tempfile::tempdir().unwrap();
    let explorer = Explorer::start(folder.path(), "--search fib-bench:8");
    look(&explorer.address, 1400, async |browser| {
        let lines = "document.querySelectorAll('.tree svg > g').length === 1000";
        wait_for(browser, lines).await?;
        let seconds = "document.querySelector('[aria-label=Search]').textContent.includes(' s')";
        assert_eq!(ask(browser, seconds).await?, true);
        Ok(())
    });
}

#[test]
fn a_schedule_is_entered_at_any_point_and_saved() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("counter.c"), COUNTER).unwrap();
    let found = run(folder.path(), "check counter.c --format json").json();
    let explorer = Explorer::start(folder.path(), "counter.c");
    let file = found["errors"][0]["saved_as"].as_str().unwrap();
    let saved = fs::read_to_string(folder.path().join(file)).unwrap();
    let (status, opened) = explorer.ask("open", &json!({ "text": saved }));
    assert_eq!(status, 200, "{opened}");
    let schedule = &opened["schedule"];
    let (status, there) = explorer.ask("position", &json!({ "schedule": schedule }));
    assert_eq!(
        (status, &there["position"]["failure"]["kind"]),
        (200, &"assertion".into()),
        "{there}"
    );
    // Without its last run of steps, the schedule ends at a position from which the execution can
    // continue.
    let mut shorter = schedule.clone();
    shorter["steps"].as_array_mut().unwrap().pop();
    let (status, before) = explorer.ask("position", &json!({ "schedule": shorter }));
    assert_eq!(
        (status, &before["position"]["failure"]),
        (200, &Value::Null),
        "{before}"
    );
    assert_eq!(before["position"]["is_over"], false);
    // The page saves a schedule that `replay` accepts.
    fs::write(
        folder.path().join("mine.json"),
        there["file"].as_str().unwrap(),
    )
    .unwrap();
    let again = run(folder.path(), "replay mine.json");
    assert_eq!(again.code, 1, "{}{}", again.output, again.errors);
    assert!(
        again.output.starts_with("bug: assertion failed"),
        "{}",
        again.output
    );
    let ran = run(folder.path(), "explore --schedule mine.json lost-update");
    assert_eq!(ran.code, 2);
    assert!(
        ran.errors
            .contains("this is a schedule of counter.c, not of lost-update"),
        "{}",
        ran.errors
    );
}

#[test]
fn only_the_page_itself_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let explorer = Explorer::start(folder.path(), "lost-update");
    let (host, token) = explorer.parts();
    let host_header = ("Host", host);
    let port = host.rsplit(':').next().unwrap();
    let elsewhere = format!("evil.example:{port}");
    let get = |path: &str, headers: &[(&str, &str)]| explorer.request("GET", path, headers, "").0;
    assert_eq!(get(token, &[host_header]), 200);
    assert_eq!(get(token, &[("Host", &elsewhere)]), 403);
    assert_eq!(
        get(token, &[host_header, ("Origin", "http://evil.example")]),
        403
    );
    assert_eq!(get(token, &[host_header, ("Origin", "null")]), 403);
    assert_eq!(
        get(token, &[host_header, ("Sec-Fetch-Site", "cross-site")]),
        403
    );
    assert_eq!(get(token, &[]), 403);
    // Requests without the token, or with another one.
    for path in [
        "/",
        "/position",
        "/search",
        "/0123456789abcdef0123456789abcdef/",
        "/../",
        "//",
    ] {
        assert_eq!(get(path, &[host_header]), 404, "{path}");
    }
    // A request that a form on another page could send is refused.
    let form = [host_header, ("Content-Type", "text/plain")];
    let (status, _) = explorer.request("POST", &format!("{token}search"), &form, "{}");
    assert_eq!(status, 415);
    for (question, status) in [
        (json!({}), 200),
        (json!({ "schedule": 3 }), 422),
        (
            json!({ "schedule": null, "reverse": { "first": 0, "second": 7 } }),
            422,
        ),
    ] {
        let (answered, answer) = explorer.ask("position", &question);
        assert_eq!(answered, status, "{question}: {answer}");
    }
    let (status, answer) = explorer.ask("open", &json!({ "text": "{\"format\":1}" }));
    assert_eq!(status, 422, "{answer}");
    // The server listens on this machine only.
    let listening = fs::read_to_string("/proc/net/tcp").unwrap();
    let sockets: Vec<&str> = listening
        .lines()
        .filter_map(|line| line.split_whitespace().nth(1))
        .filter(|address| address.ends_with(&format!(":{:04X}", port.parse::<u16>().unwrap())))
        .collect();
    assert!(
        sockets
            .iter()
            .all(|address| address.starts_with("0100007F:")),
        "{sockets:?}"
    );
}

#[test]
fn it_ends_when_it_is_interrupted_and_refuses_what_it_cannot_do() {
    let folder = tempfile::tempdir().unwrap();
    let mut explorer = Explorer::start(folder.path(), "--search fib-bench:6");
    let id = explorer.process.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-TERM", &id])
            .status()
            .unwrap()
            .success()
    );
    let mut ended = None;
    for _ in 0..100 {
        ended = explorer.process.try_wait().unwrap();
        if ended.is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(ended.and_then(|status| status.code()), Some(0));
    // A schedule whose first step belongs to a thread that has not been started.
    let (_, start) = Explorer::start(folder.path(), "lost-update").ask("position", &json!({}));
    let mut schedule: report::ScheduleFile =
        serde_json::from_str(&start["position"]["schedule"].to_string()).unwrap();
    schedule.steps = vec![report::SavedStep {
        thread: "0.0".to_owned(),
        choices: vec![0],
        reads: Vec::new(),
    }];
    schedule.save(&folder.path().join("unfit.json")).unwrap();
    for arguments in [
        "nothing-like-this",
        "--port 0 lost-update",
        "--html page.html lost-update",
        "--schedule missing.json lost-update",
        "--port 70000 lost-update",
        "--schedule unfit.json lost-update",
    ] {
        let ran = run(folder.path(), &format!("explore {arguments}"));
        assert_eq!(
            (ran.code, ran.errors.lines().count()),
            (2, 1),
            "{arguments}: {}",
            ran.errors
        );
    }
}
