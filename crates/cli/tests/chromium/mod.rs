//! Headless Chromium with its own driver. Tests are skipped if one of them is not installed.

pub mod long;
#[allow(dead_code, reason = "not every test scrolls")]
pub mod scrolling;

use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use thirtyfour::prelude::*;

/// A driver process that ends with the test.
struct Driver {
    process: Child,
    address: String,
}

impl Driver {
    fn start() -> Option<Driver> {
        let is_there = |name: &str| Command::new(name).arg("--version").output().is_ok();
        if !is_there("chromium") || !is_there("chromedriver") {
            eprintln!("skipped: chromium and chromedriver are not installed");
            return None;
        }
        // Several drivers that choose a port at the same time may choose the same one.
        let mut tries = 0..10;
        let driver = tries.find_map(|_| Driver::try_start());
        Some(driver.expect("chromedriver finds a port"))
    }

    fn try_start() -> Option<Driver> {
        let mut command = Command::new("chromedriver");
        command
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let port = output.lines().map_while(Result::ok).find_map(|line| {
            let (_, port) = line.split_once("started successfully on port ")?;
            Some(port.trim_end_matches('.').to_owned())
        });
        let Some(port) = port else {
            let _ = process.wait();
            return None;
        };
        let address = format!("http://127.0.0.1:{port}");
        Some(Driver { process, address })
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Opens an address in a browser and passes the browser to `see`.
pub fn look(address: &str, width: u32, see: impl AsyncFnOnce(&WebDriver) -> WebDriverResult<()>) {
    look_through(DesiredCapabilities::chrome(), address, width, see);
}

/// Does the same as [`look`] in a browser with these capabilities.
fn look_through(
    mut capabilities: thirtyfour::ChromeCapabilities,
    address: &str,
    width: u32,
    see: impl AsyncFnOnce(&WebDriver) -> WebDriverResult<()>,
) {
    let Some(driver) = Driver::start() else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let result: WebDriverResult<()> = runtime.block_on(async {
        for argument in [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
        ] {
            capabilities.add_arg(argument)?;
        }
        let browser = WebDriver::new(&driver.address, capabilities).await?;
        let metrics =
            json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        browser
            .cdp()
            .send_raw("Emulation.setDeviceMetricsOverride", metrics)
            .await?;
        browser.goto(address).await?;
        settle(&browser).await?;
        let seen = see(&browser).await;
        browser.quit().await?;
        seen
    });
    result.unwrap();
}

/// Waits until the page has drawn itself, which takes a few frames.
pub async fn settle(browser: &WebDriver) -> WebDriverResult<()> {
    let frames = "const [done] = arguments; let left = 5; \
        const next = () => left-- ? requestAnimationFrame(next) : done(); next();";
    browser.execute_async(frames, Vec::new()).await?;
    Ok(())
}

/// Returns the result of a script.
pub async fn ask(browser: &WebDriver, script: &str) -> WebDriverResult<Value> {
    let result = browser
        .execute(format!("return {script}"), Vec::new())
        .await?;
    Ok(result.json().clone())
}
