//! A NATS server on this machine, and its workers.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Every action ends within this time, even on a busy machine.
pub const LATE: Duration = Duration::from_secs(400);

/// A process that is killed when this value is dropped.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server with its own folder.
pub struct Server {
    pub port: u16,
    pub folder: TempDir,
    pub process: Option<Running>,
}

impl Server {
    /// Starts a server; `None` if nats-server is not installed.
    pub fn start(settings: &str) -> Option<Server> {
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let text = settings.replace("STORE", &folder.path().display().to_string());
        fs::write(folder.path().join("settings"), text).unwrap();
        let mut server = Server {
            port,
            folder,
            process: None,
        };
        if Command::new("nats-server")
            .arg("--version")
            .output()
            .is_err()
        {
            println!("skipped: nats-server is not installed");
            return None;
        }
        server.restart();
        Some(server)
    }

    pub fn restart(&mut self) {
        self.process = None;
        let process = Command::new("nats-server")
            .args([
                "-a",
                "127.0.0.1",
                "-p",
                &self.port.to_string(),
                "-c",
                "settings",
            ])
            .current_dir(self.folder.path())
            .stderr(Stdio::null())
            .spawn();
        self.process = Some(Running(process.unwrap()));
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(start.elapsed() < LATE, "the server does not start");
            thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub fn worker(&self) -> Running {
        self.worker_by(Path::new(env!("CARGO_BIN_EXE_mazurka")))
    }

    /// Starts a worker with this file of mazurka.
    pub fn worker_by(&self, file: &Path) -> Running {
        let mut command = Command::new(file);
        command.args(["worker", &self.url(), "--jobs", "1", "--as-root"]);
        let said = File::options()
            .create(true)
            .append(true)
            .open(self.folder.path().join("said"));
        Running(command.stderr(said.unwrap()).spawn().unwrap())
    }

    /// Drops all waiting messages.
    pub fn lose_messages(&self) {
        let mut connection = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let purge = "CONNECT {}\r\nPUB $JS.API.STREAM.PURGE.MAZURKA 0\r\n\r\nPING\r\n";
        connection.write_all(purge.as_bytes()).unwrap();
        let mut said = BufReader::new(connection).lines();
        assert!(said.any(|line| line.unwrap() == "PONG"));
    }

    /// Returns the output of all workers, and the list of jobs.
    pub fn said(&self) -> String {
        let said = fs::read_to_string(self.folder.path().join("said")).unwrap_or_default();
        format!("{said}{:?}", self.command("jobs", &[]))
    }

    /// Runs a command of mazurka with the server as its first argument.
    pub fn command(&self, name: &str, more: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
        command.args([name, &self.url()]).args(more);
        command.output().unwrap()
    }

    pub fn submit(&self, folder: &Path, arguments: &str) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
        command
            .arg("check")
            .args(arguments.split_whitespace())
            .args(["--cluster", &self.url(), "--format", "json", "--no-output"])
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().unwrap()
    }
}

/// Settings of a server.
pub const SETTINGS: &str = "jetstream { store_dir: \"STORE\" }";
