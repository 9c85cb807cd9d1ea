//! Pages of reports in a real browser.

mod chromium;
mod command;

use chromium::long::long;
use chromium::scrolling::{UNFOLD, scrolled};
use chromium::{ask, look, settle};
use command::run;
use report::Report;
use serde_json::json;
use std::fs;
use std::path::Path;
use thirtyfour::prelude::*;

/// Returns the address of the page of a check.
fn page_of(folder: &Path, check: &str) -> String {
    let ran = run(folder, &format!("{check} --no-output --html page.html"));
    assert!(ran.code < 2, "{}", ran.errors);
    address(folder)
}

/// Returns the address of the page in a folder.
fn address(folder: &Path) -> String {
    format!("file://{}", folder.join("page.html").display())
}

const EVENT: &str = "document.querySelector('.side h3').textContent";

#[test]
fn a_page_is_stepped_through_by_keys() {
    let folder = tempfile::tempdir().unwrap();
    let page = page_of(folder.path(), "check abba-deadlock");
    look(&page, 1400, async |browser| {
        assert_eq!(browser.title().await?, "bug: deadlock in abba-deadlock");
        let table = browser.find(By::Css("table.events")).await?;
        assert_eq!(ask(browser, EVENT).await?, "Event 8 of 8");
        table.send_keys(Key::Home).await?;
        assert_eq!(ask(browser, EVENT).await?, "Event 1 of 8");
        let objects = "document.querySelector('.side').textContent.includes('held by T0')";
        assert_eq!(ask(browser, objects).await?, false);
        for _ in 0..3 {
            table.send_keys(Key::Down).await?;
        }
        assert_eq!(ask(browser, EVENT).await?, "Event 4 of 8");
        assert_eq!(ask(browser, objects).await?, true);
        let current =
            "document.querySelector('table.events').querySelectorAll('tr[aria-current]').length";
        assert_eq!(ask(browser, current).await?, 1);
        table.send_keys(Key::End).await?;
        let waits = "document.querySelector('.side').textContent.includes('T1 waits')";
        assert_eq!(ask(browser, waits).await?, true);
        let why = "document.querySelector('.why').textContent.startsWith('In the executions seen, it fails whenever ')";
        assert_eq!(ask(browser, why).await?, true);
        let passing = "[...document.querySelectorAll('summary')].some((one) => one.textContent === 'A passing execution')";
        assert_eq!(ask(browser, passing).await?, true);
        // Uses only the keyboard: the Tab key moves the focus to the table.
        browser
            .execute("document.activeElement.blur()", Vec::new())
            .await?;
        let mut is_reached = false;
        for _ in 0..40 {
            browser.active_element().await?.send_keys(Key::Tab).await?;
            is_reached |=
                ask(browser, "document.activeElement.matches('table.events')").await? == true;
        }
        assert!(is_reached);
        Ok(())
    });
}

#[test]
fn a_search_is_shown_as_a_tree_and_events_are_joined_by_arrows() {
    let folder = tempfile::tempdir().unwrap();
    let page = page_of(folder.path(), "check readers:5");
    look(&page, 1400, async |browser| {
        // A line for each of the 2^5 executions.
        let lines = "document.querySelectorAll('.tree svg > g').length";
        assert_eq!(ask(browser, lines).await?, 32);
        Ok(())
    });
    let page = page_of(folder.path(), "check lost-update");
    look(&page, 1400, async |browser| {
        let arrows = |kind: &str| {
            format!("document.querySelector('.lanes').querySelectorAll('.arrows .{kind}').length")
        };
        // Two thread starts and two joins; one value that main reads; and two races.
        for (kind, count) in [("after", 4), ("reads", 1), ("decides", 2)] {
            assert_eq!(ask(browser, &arrows(kind)).await?, count, "{kind}");
        }
        // The arrows of the current event are highlighted.
        assert_eq!(ask(browser, &arrows("current")).await?, 1);
        Ok(())
    });
}

#[test]
fn a_write_that_a_read_does_not_see_has_an_arrow_and_a_repair() {
    let folder = tempfile::tempdir().unwrap();
    let page = page_of(folder.path(), "check weak-ring-buffer --why");
    look(&page, 1400, async |browser| {
        let arrows = "document.querySelector('.lanes').querySelectorAll('.arrows .unseen').length";
        assert_eq!(ask(browser, arrows).await?, 1);
        let headings = "[...document.querySelectorAll('h3')].map((one) => one.textContent).join()";
        let headings = ask(browser, headings).await?.to_string();
        assert!(
            headings.contains("lets a read get an old value"),
            "{headings}"
        );
        let why = ask(browser, "document.querySelector('.why').textContent").await?;
        assert!(why.to_string().contains("It cannot happen with "), "{why}");
        // At the read, a button leads to the write.
        let go = "[...document.querySelectorAll('tr')].find((row) => row.textContent.includes('old value')).click()";
        browser.execute(go, Vec::new()).await?;
        let from = ask(browser, EVENT).await?;
        let link = "[...document.querySelectorAll('.links button')].find((one) => one.textContent.startsWith('Does not see')).click()";
        browser.execute(link, Vec::new()).await?;
        assert_ne!(ask(browser, EVENT).await?, from);
        let seen = "document.querySelector('tr[aria-current]').textContent.includes('not seen')";
        assert_eq!(ask(browser, seen).await?, true);
        Ok(())
    });
}

#[test]
fn what_is_safe_and_comparisons_have_pages() {
    let folder = tempfile::tempdir().unwrap();
    let verified = "verify lost-update -o safe.trace --html page.html";
    assert_eq!(run(folder.path(), verified).code, 1);
    for by in [verified, "show safe.trace --html page.html"] {
        assert!(run(folder.path(), by).code < 2);
        look(&address(folder.path()), 1400, async |browser| {
            // The one remaining constraint: a store before a load.
            let texts = "[...document.querySelectorAll('td.own')].map((own) => own.textContent.split('.').pop())";
            let rows = "document.querySelectorAll('.events tbody tr').length";
            let arrows = "document.querySelectorAll('.lanes .arrows .after').length";
            assert_eq!(
                ask(browser, rows).await?,
                2,
                "{}",
                ask(browser, texts).await?
            );
            assert_eq!(ask(browser, arrows).await?, 1);
            let first = "document.querySelector('td.own').textContent.includes('store(1)')";
            assert_eq!(ask(browser, first).await?, true);
            Ok(())
        });
    }
    // There is one version for each state of the file. Later versions have fewer constraints.
    let verified = "verify fib-bench:2 -o fib.trace --html page.html";
    assert_eq!(run(folder.path(), verified).code, 0);
    look(&address(folder.path()), 1400, async |browser| {
        let status = "document.querySelector('[role=status]').textContent";
        let last = ask(browser, status).await?;
        assert!(
            last.as_str().unwrap().starts_with("everything is verified"),
            "{last}"
        );
        browser.execute("showCase(0, 0)", Vec::new()).await?;
        settle(browser).await?;
        let first = ask(browser, status).await?;
        assert!(
            first
                .as_str()
                .unwrap()
                .contains("constraints left, after 1 execution"),
            "{first}"
        );
        assert_ne!(
            ask(
                browser,
                "document.querySelectorAll('.lanes .arrows .after').length"
            )
            .await?,
            0
        );
        Ok(())
    });
    let compared = "compare readers:4 --algorithm optimal,source --html page.html";
    assert_eq!(run(folder.path(), compared).code, 0);
    look(&address(folder.path()), 1400, async |browser| {
        let rows = "[...document.querySelectorAll('.comparison tbody th')].map((one) => one.textContent).slice(0, 2).join()";
        assert_eq!(ask(browser, rows).await?, "optimal,source");
        Ok(())
    });
    for wrong in [
        "show safe.trace --html safe.trace",
        "verify lost-update -o safe.trace --html none/page.html",
    ] {
        let ran = run(folder.path(), wrong);
        assert_eq!(
            (ran.code, ran.errors.lines().count()),
            (2, 1),
            "{wrong}: {}",
            ran.errors
        );
    }
}

#[test]
fn nothing_is_loaded_from_outside() {
    let folder = tempfile::tempdir().unwrap();
    let page = page_of(folder.path(), "check lost-update --keep-going");
    look(&page, 1400, async |browser| {
        let loaded = "performance.getEntriesByType('resource').length";
        assert_eq!(ask(browser, loaded).await?, 0);
        // The policy blocks requests and injected scripts. The page itself makes no requests and
        // injects no scripts, so the test does both.
        let blocked = "await fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'blocked')";
        assert_eq!(ask(browser, blocked).await?, "blocked");
        let injected = "(() => { const script = document.createElement('script'); script.textContent = 'window.ran = 1'; \
             document.body.append(script); return window.ran === undefined })()";
        assert_eq!(ask(browser, injected).await?, true);
        Ok(())
    });
}

#[test]
fn pages_are_dark_where_the_reader_wants_it() {
    let folder = tempfile::tempdir().unwrap();
    let page = page_of(folder.path(), "check mutex:2,2");
    look(&page, 1400, async |browser| {
        let colour = "getComputedStyle(document.body).backgroundColor";
        assert_eq!(ask(browser, colour).await?, "rgb(255, 255, 255)");
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": "dark" }] });
        browser
            .cdp()
            .send_raw("Emulation.setEmulatedMedia", media)
            .await?;
        assert_eq!(ask(browser, colour).await?, "rgb(13, 17, 23)");
        Ok(())
    });
}

#[test]
fn a_page_fits_narrow_and_wide_screens() {
    let folder = tempfile::tempdir().unwrap();
    let page = page_of(folder.path(), "check lost-update");
    for width in [360, 1400, 3840] {
        look(&page, width, async |browser| {
            let fits = "document.documentElement.scrollWidth <= innerWidth";
            assert_eq!(ask(browser, fits).await?, true, "{width}");
            Ok(())
        });
    }
}

#[test]
fn long_executions_are_folded() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let text = page::page(&long(10_000), &page::Sources::default());
    assert!(text.len() < 5 << 20);
    fs::write(&page, text).unwrap();
    look(&address(folder.path()), 1400, async |browser| {
        let rows = "document.querySelectorAll('.events tbody tr').length";
        let before = ask(browser, rows).await?.as_u64().unwrap();
        assert!(before < 100, "{before}");
        browser
            .find(By::Css("tr.fold button"))
            .await?
            .click()
            .await?;
        let after = ask(browser, rows).await?.as_u64().unwrap();
        assert_eq!(after, before + 500);
        // A step to a folded event unfolds the events around it.
        browser.execute("stepper.go(7000)", Vec::new()).await?;
        assert_eq!(ask(browser, EVENT).await?, "Event 7001 of 10000");
        let current = "document.querySelector('tr[aria-current]').textContent.startsWith('7001')";
        assert_eq!(ask(browser, current).await?, true);
        Ok(())
    });
}

#[test]
fn nothing_runs_while_a_page_is_scrolled() {
    let folder = tempfile::tempdir().unwrap();
    let text = page::page(&long(600), &page::Sources::default());
    fs::write(folder.path().join("page.html"), text).unwrap();
    let address = address(folder.path());
    scrolled(&address, UNFOLD, 4000, |work, depth| {
        assert!(depth > 3000.0, "{depth}");
        assert!(work.iter().any(|work| work.name == "Paint"));
        assert!(!work.iter().any(|work| work.is_script));
    });
    // If a script runs, the browser's trace shows it.
    let draws = format!("{UNFOLD} addEventListener('scroll', () => stepper.draw())");
    scrolled(&address, &draws, 2000, |work, _| {
        assert!(work.iter().any(|work| work.is_script));
    });
}

#[test]
fn texts_of_a_program_are_not_interpreted_by_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let mut json = serde_json::to_value(long(50)).unwrap();
    let hostile = "</script><img src=x onerror=\"window.ran=1\"><script>window.ran=1</script><b>\u{1b}\u{0}\u{202e}'`${1}";
    json["program"] = hostile.into();
    json["warnings"] = vec![hostile, &"x".repeat(10 << 20)].into();
    let failure = &mut json["errors"][0];
    failure["message"] = hostile.into();
    failure["repeat_with"] = hostile.into();
    failure["interleaving"]["threads"][0] = hostile.into();
    failure["interleaving"]["objects"][0] = hostile.into();
    for row in failure["interleaving"]["rows"].as_array_mut().unwrap() {
        row["text"] = hostile.into();
        row["location"] = hostile.into();
    }
    let report: Report = serde_json::from_value(json).unwrap();
    fs::write(&page, page::page(&report, &page::Sources::default())).unwrap();
    look(&address(folder.path()), 1400, async |browser| {
        let nodes = "document.querySelectorAll('main img, main script, main b').length";
        assert_eq!(ask(browser, nodes).await?, 0);
        assert_eq!(ask(browser, "window.ran === undefined").await?, true);
        let shown = "document.querySelector('main pre').textContent.includes('</script><img')";
        assert_eq!(ask(browser, shown).await?, true);
        Ok(())
    });
}
