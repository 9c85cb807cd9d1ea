//! The server of the page. It can be reached only from this machine, with the token in its address.

use super::explored::Explored;
use super::watch::Watch;
use crate::refusal::Refusal;
use axum::Router;
use axum::extract::{DefaultBodyLimit, Json, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use page::Sources;
use report::{ScheduleFile, Visit};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Display;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

/// Interval between two checks whether to stop.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// The time that runs of the program get to end their processes.
const PATIENCE: Duration = Duration::from_secs(2);

/// Maximum size of a request in bytes: a schedule.
const LARGEST: usize = 32 << 20;

/// The server, already listening.
pub struct Server {
    listener: TcpListener,
    shared: Arc<Shared>,
}

struct Shared {
    explored: Arc<Explored>,
    schedule: Option<ScheduleFile>,
    watch: Watch,
    address: SocketAddr,
    token: String,
    /// The folder in which source files are looked up.
    folder: PathBuf,
}

/// A request for a position.
#[derive(Deserialize)]
struct Going {
    schedule: Option<ScheduleFile>,
    #[serde(flatten)]
    visit: Visit,
}

/// The content of a schedule file.
#[derive(Deserialize)]
struct Opened {
    text: String,
}

impl Server {
    /// Listens on this port of this machine, or on any free port if none is given.
    pub fn bind(
        explored: Arc<Explored>,
        schedule: Option<ScheduleFile>,
        port: Option<u16>,
    ) -> Result<Server, Refusal> {
        let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0)));
        let listener = bound.and_then(|listener| {
            listener.set_nonblocking(true)?;
            let address = listener.local_addr()?;
            Ok((listener, address))
        });
        let (listener, address) = listener.map_err(|error| Refusal::System {
            what: "listen on the port",
            error,
        })?;
        let shared = Shared {
            explored,
            schedule,
            watch: Watch::default(),
            address,
            token: token()?,
            folder: std::env::current_dir().unwrap_or_default(),
        };
        Ok(Server {
            listener,
            shared: Arc::new(shared),
        })
    }

    /// Returns the address of the page. Anyone who knows the address can run the program.
    pub fn address(&self) -> String {
        let Shared { address, token, .. } = &*self.shared;
        format!("http://{address}/{token}/")
    }

    /// Starts a search.
    pub fn search(&self) {
        self.shared.watch.start(&self.shared.explored);
    }

    /// Serves requests until the flag is set.
    pub fn serve(self, stop: &Arc<AtomicBool>) -> Result<(), Refusal> {
        let stop = Arc::clone(stop);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let served = runtime.and_then(|runtime| {
            let served = runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(self.listener)?;
                let serving = axum::serve(listener, router(Arc::clone(&self.shared)));
                // Pending answers are not awaited, because a search may take long.
                tokio::select! {
                    served = serving => served,
                    () = is_set(&stop) => Ok(()),
                }
            });
            // Interrupted runs of the program end within this time.
            runtime.shutdown_timeout(PATIENCE);
            self.shared.watch.end();
            served
        });
        served.map_err(|error| Refusal::System {
            what: "serve the page",
            error,
        })
    }
}

async fn is_set(flag: &AtomicBool) {
    while !flag.load(Relaxed) {
        tokio::time::sleep(CHECK_INTERVAL).await;
    }
}

/// Returns a word that cannot be guessed.
fn token() -> Result<String, Refusal> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| Refusal::System {
        what: "create a token",
        error: io::Error::other(error.to_string()),
    })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn router(shared: Arc<Shared>) -> Router {
    let pages = Router::new()
        .route("/", get(page))
        .route("/position", post(position))
        .route("/open", post(open))
        .route("/search", get(seen).post(search));
    Router::new()
        .nest(&format!("/{}/", shared.token), pages)
        .layer(DefaultBodyLimit::max(LARGEST))
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), guarded))
        .with_state(shared)
}

/// Refuses requests that do not come from the page. Adds headers that restrict the use of answers.
async fn guarded(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let mut response = match is_from_here(request.headers(), shared.address) {
        true => next.run(request).await,
        false => complaint(
            StatusCode::FORBIDDEN,
            &"requests from other pages are refused",
        ),
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, "frame-ancestors 'none'"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Checks whether the request names this server as the page does. An attacker's host name may also
/// resolve to this server.
fn is_from_here(headers: &HeaderMap, address: SocketAddr) -> bool {
    let port = address.port();
    let hosts = [address.to_string(), format!("localhost:{port}")];
    let is_ours = |host: &str| hosts.iter().any(|known| known.eq_ignore_ascii_case(host));
    // A header may occur several times.
    let all = |name: &str, is_right: &dyn Fn(&str) -> bool| {
        let mut values = headers.get_all(name).iter();
        values.all(|value| value.to_str().is_ok_and(is_right))
    };
    headers.contains_key(header::HOST)
        && all("host", &is_ours)
        && all("origin", &|origin| {
            origin.strip_prefix("http://").is_some_and(is_ours)
        })
        && all("sec-fetch-site", &|site| {
            site == "same-origin" || site == "none"
        })
}

fn complaint(status: StatusCode, why: &dyn Display) -> Response {
    (status, Json(json!({ "error": why.to_string() }))).into_response()
}

async fn page(State(shared): State<Arc<Shared>>) -> Html<String> {
    let schedule = shared.schedule.as_ref();
    Html(page::explorer(shared.explored.name(), schedule))
}

async fn position(State(shared): State<Arc<Shared>>, Json(going): Json<Going>) -> Response {
    let asked = tokio::task::spawn_blocking(move || {
        if let Some(schedule) = &going.schedule {
            shared.explored.is_of_program(schedule)?;
        }
        let position = shared.explored.position(going.schedule, going.visit)?;
        let rows = position.execution.rows.iter();
        let places = rows.filter_map(|row| row.location.as_deref());
        let sources = Sources::around(places, &shared.folder);
        Ok::<Value, Refusal>(json!({
            "file": position.schedule.to_json(),
            "position": position,
            "sources": Value::from(&sources),
        }))
    });
    match asked.await {
        Ok(Ok(answer)) => Json(answer).into_response(),
        Ok(Err(refusal)) => complaint(StatusCode::UNPROCESSABLE_ENTITY, &refusal),
        Err(error) => complaint(StatusCode::INTERNAL_SERVER_ERROR, &error),
    }
}

async fn open(State(shared): State<Arc<Shared>>, Json(opened): Json<Opened>) -> Response {
    let schedule = ScheduleFile::from_json(&opened.text).map_err(|problem| problem.to_string());
    let fits = schedule.and_then(|schedule| {
        let is_ours = shared.explored.is_of_program(&schedule);
        is_ours
            .map(|()| schedule)
            .map_err(|refusal| refusal.to_string())
    });
    match fits {
        Ok(schedule) => Json(json!({ "schedule": schedule })).into_response(),
        Err(why) => complaint(StatusCode::UNPROCESSABLE_ENTITY, &why),
    }
}

async fn search(State(shared): State<Arc<Shared>>, Json(_): Json<Value>) -> Response {
    shared.watch.start(&shared.explored);
    Json(shared.watch.seen()).into_response()
}

async fn seen(State(shared): State<Arc<Shared>>) -> Response {
    Json(shared.watch.seen()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pairs = pairs.iter();
        pairs
            .map(|&(name, value)| {
                let name = header::HeaderName::from_static(name);
                (name, HeaderValue::from_static(value))
            })
            .fold(HeaderMap::new(), |mut all, (name, value)| {
                all.append(name, value);
                all
            })
    }

    #[test]
    fn requests_from_other_origins_are_recognized() {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 8000));
        let from = |pairs: &[_]| is_from_here(&headers(pairs), address);
        let host = ("host", "127.0.0.1:8000");
        assert!(from(&[host]));
        assert!(from(&[("host", "localhost:8000")]));
        assert!(from(&[
            host,
            ("origin", "http://127.0.0.1:8000"),
            ("sec-fetch-site", "same-origin")
        ]));
        assert!(!from(&[]));
        assert!(!from(&[("host", "127.0.0.1")]));
        assert!(!from(&[("host", "evil.example:8000")]));
        assert!(!from(&[host, ("origin", "http://evil.example")]));
        assert!(!from(&[host, ("origin", "null")]));
        assert!(!from(&[host, ("origin", "https://127.0.0.1:8000")]));
        assert!(!from(&[host, ("sec-fetch-site", "cross-site")]));
        assert!(!from(&[
            host,
            ("origin", "http://127.0.0.1:8000"),
            ("origin", "http://evil.example")
        ]));
        assert!(!from(&[host, ("host", "evil.example:8000")]));
        assert!(from(&[("host", "LocalHost:8000")]));
    }
}
