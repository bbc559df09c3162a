//! The routes.
//!
//! Every request passes the gate first. Pages are rendered and acts carried out on threads that may block; the one thread that
//! answers never waits for them.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io::Write as _;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post, put};
use http_body_util::BodyExt;
use throng::{Error, ErrorCode};

use crate::gate::Pass;
use crate::screens::{self, At, Screen};
use crate::studio::Studio;
use crate::work::BREATH;
use crate::{act, folder};

/// Bytes of what a page may send at once: the text of a policy, or a hierarchy.
const MOST_SENT: usize = 8 << 20;
/// Bytes of a table that is dropped.
const MOST_DROPPED: u64 = 4 << 30;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// What every answer says.
const HEADERS: [(&str, &str); 8] = [
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cache-control", "no-store"),
    ("x-frame-options", "DENY"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), microphone=(), geolocation=()"),
];

type Shared = Arc<Studio>;

/// Answers requests until the process ends.
pub fn serve(listener: std::net::TcpListener, studio: Shared) -> std::io::Result<()> {
    studio.read_table();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async move {
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        axum::serve(listener, router(studio)).await
    })
}

fn router(studio: Shared) -> Router {
    Router::new()
        .route("/", get(|| async { moved_to("/table") }))
        .route("/login", post(login))
        .route("/{screen}", get(page))
        .route("/main/{screen}", get(main_part))
        .route("/part/risk", get(risk_part))
        .route("/part/loss", get(loss_part))
        .route("/act", post(acted))
        .route("/upload", put(upload))
        .route("/download", get(download))
        .route("/report", get(report))
        .route("/events", get(events))
        .route("/static/{file}", get(asset))
        .layer(middleware::from_fn_with_state(studio.clone(), guard))
        .with_state(studio)
}

/// Lets through whom the gate lets through.
async fn guard(State(studio): State<Shared>, request: Request, next: Next) -> Response {
    let gate = &studio.gate;
    let is_login = request.uri().path() == "/login" || request.uri().path().starts_with("/static/");
    let mut response = match gate.pass(request.method(), request.uri(), request.headers()) {
        Pass::Yes => next.run(request).await,
        Pass::Enter => entered(gate.cookie(request.headers())),
        Pass::Login if is_login => next.run(request).await,
        Pass::Login => (StatusCode::UNAUTHORIZED, Html(screens::login(false))).into_response(),
        Pass::No(StatusCode::UNAUTHORIZED, _) if request.uri().path().starts_with("/static/") => {
            next.run(request).await
        }
        Pass::No(status, words) => (status, Html(screens::refusal(words))).into_response(),
    };
    for (name, value) in HEADERS {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

/// Sets the cookie and goes on from a page of our own: a redirect of a link that stands elsewhere would not carry it.
fn entered(cookie: String) -> Response {
    let mut response = Html(screens::entered()).into_response();
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

fn moved_to(place: &'static str) -> Response {
    (StatusCode::SEE_OTHER, [(header::LOCATION, place)]).into_response()
}

async fn login(State(studio): State<Shared>, headers: HeaderMap, body: Body) -> Response {
    // One try at a time, and a wrong one takes a second: nobody guesses by trying.
    static TRIES: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
    let _turn = TRIES.lock().await;
    let body = to_bytes(body, 4096).await.unwrap_or_default();
    if studio.gate.opens(&password(&body)) {
        return entered(studio.gate.cookie(&headers));
    }
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    (StatusCode::UNAUTHORIZED, Html(screens::login(true))).into_response()
}

/// The password of a form.
fn password(body: &[u8]) -> Vec<u8> {
    let form = body.strip_prefix(b"password=").unwrap_or_default();
    let mut bytes = Vec::new();
    let mut rest = form.iter();
    while let Some(&byte) = rest.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits: Vec<u8> = rest.by_ref().take(2).copied().collect();
                let digits = String::from_utf8_lossy(&digits).into_owned();
                bytes.extend(u8::from_str_radix(&digits, 16));
            }
            byte => bytes.push(byte),
        }
    }
    bytes
}

/// Runs what may take a while.
async fn apart<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> Result<T, Response> {
    tokio::task::spawn_blocking(run).await.map_err(|_| {
        (
            StatusCode::INTERNAL_SERVER_ERROR,
            Html(screens::refusal("A mistake in throng itself; please report it.")),
        )
            .into_response()
    })
}

async fn page(
    State(studio): State<Shared>,
    Path(screen): Path<String>,
    Query(at): Query<At>,
) -> Result<Response, Response> {
    let Some(screen) = Screen::named(&screen) else {
        return Err((StatusCode::NOT_FOUND, Html(screens::refusal("There is no such page."))).into_response());
    };
    Ok(Html(apart(move || screens::page(&studio, screen, &at)).await?).into_response())
}

async fn main_part(
    State(studio): State<Shared>,
    Path(screen): Path<String>,
    Query(at): Query<At>,
) -> Result<Response, Response> {
    let screen = Screen::named(&screen).unwrap_or(Screen::Table);
    Ok(json(&apart(move || screens::parts(&studio, screen, &at, "")).await?))
}

async fn risk_part(State(studio): State<Shared>) -> Result<Response, Response> {
    Ok(Html(apart(move || screens::table::risk(&studio)).await?).into_response())
}

async fn loss_part(State(studio): State<Shared>, Query(at): Query<At>) -> Result<Response, Response> {
    Ok(Html(apart(move || screens::privacy::loss(&studio, &at)).await?).into_response())
}

async fn acted(State(studio): State<Shared>, body: Body) -> Result<Response, Response> {
    let body = to_bytes(body, MOST_SENT).await.map_err(|_| refused(&too_large("8 MB")))?;
    let request: act::Request = serde_json::from_slice(&body).map_err(|cause| {
        refused(&Error::new(
            ErrorCode::BadUsage,
            format!("this request cannot be read: {}", cause.classify_words()),
        ))
    })?;
    Ok(json(&apart(move || act::carry_out(&studio, request)).await?))
}

trait ClassifyWords {
    fn classify_words(&self) -> &'static str;
}

impl ClassifyWords for serde_json::Error {
    /// What is wrong, without what was sent.
    fn classify_words(&self) -> &'static str {
        match self.classify() {
            serde_json::error::Category::Data => "a part of it is missing or of another kind",
            _ => "it is not JSON",
        }
    }
}

/// Takes a table that was dropped, piece by piece.
async fn upload(
    State(studio): State<Shared>,
    Query(at): Query<BTreeMap<String, String>>,
    body: Body,
) -> Result<Response, Response> {
    let name = at.get("name").cloned().unwrap_or_default();
    let name = dropped_name(&studio, &name).map_err(|error| refused(&error))?;
    let folder = studio.folder.path().to_owned();
    let failed =
        |cause: std::io::Error| refused(&Error::io(ErrorCode::CannotWrite, "write", name.as_ref(), &cause));
    let mut file = tempfile::Builder::new().prefix(".dropped").tempfile_in(&folder).map_err(failed)?;
    let mut body = body;
    let mut taken: u64 = 0;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| {
            refused(
                &Error::new(ErrorCode::CannotRead, "the file did not arrive whole")
                    .with_hint("drop it again"),
            )
        })?;
        let Ok(bytes) = frame.into_data() else { continue };
        taken += bytes.len() as u64;
        if taken > MOST_DROPPED {
            return Err(refused(&too_large("4 GB")));
        }
        file = append(file, bytes).await?.map_err(failed)?;
    }
    file.persist_noclobber(folder.join(&name)).map_err(|error| failed(error.error))?;
    let own = studio.clone();
    let told = apart(move || act::open(&own, &name)).await?;
    told.map_err(|error| refused(&error))?;
    Ok(json(
        &apart(move || {
            screens::parts(&studio, Screen::Table, &At::default(), "The file was taken into the folder.")
        })
        .await?,
    ))
}

async fn append(
    mut file: tempfile::NamedTempFile,
    bytes: Bytes,
) -> Result<std::io::Result<tempfile::NamedTempFile>, Response> {
    apart(move || file.write_all(&bytes).map(|()| file)).await
}

/// The name that a dropped file gets: its own, with a number if that is taken.
fn dropped_name(studio: &Studio, name: &str) -> throng::Result<String> {
    let plain = !name.contains(['/', '\\', '\0']) && !name.starts_with('.') && name.chars().count() <= 200;
    if !plain || name.chars().any(char::is_control) {
        return Err(
            Error::new(ErrorCode::BadValue, "a file with this name cannot be taken").with_hint("rename it")
        );
    }
    if !folder::is_table(name) {
        return Err(Error::new(ErrorCode::BadFileEnding, "this does not look like a table").with_hint(
            format!("its name should end in one of {}; .gz and .zst too", throng::format::endings()),
        ));
    }
    let (stem, ending) = name.split_once('.').unwrap_or((name, "csv"));
    let names =
        std::iter::once(name.to_owned()).chain((2..1000).map(|number| format!("{stem}-{number}.{ending}")));
    let mut free = names.filter(|name| !studio.folder.path().join(name).exists());
    let found =
        free.next().ok_or_else(|| Error::new(ErrorCode::FileExists, "too many files of this name"))?;
    studio.folder.to_write(&found).map(|_| found)
}

fn too_large(most: &str) -> Error {
    Error::new(ErrorCode::BadUsage, format!("this is larger than {most}"))
        .with_hint("copy the file into the folder and open it there")
}

/// A file that was published, or the tree of an attribute.
async fn download(State(studio): State<Shared>, Query(at): Query<At>) -> Result<Response, Response> {
    let found = apart(move || act::download(&studio, &at)).await?;
    let (name, bytes) = found.map_err(|error| refused(&error))?;
    let plain: String = name
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() || "-_.".contains(letter) { letter } else { '_' })
        .collect();
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{plain}\"")),
    ];
    Ok((headers, bytes).into_response())
}

/// The report of a result as a page of its own. It brings its style, and runs nothing.
async fn report(State(studio): State<Shared>, Query(at): Query<At>) -> Result<Response, Response> {
    let page = apart(move || act::report(&studio, &at)).await?.map_err(|error| refused(&error))?;
    let policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox";
    Ok(([(header::CONTENT_SECURITY_POLICY, policy)], Html(page)).into_response())
}

/// Tells a page whenever there is something new to see.
async fn events(State(studio): State<Shared>) -> impl IntoResponse {
    let moved = studio.works.moved().listen();
    let stream =
        futures_util::stream::unfold((studio, moved, true), |(studio, mut moved, first)| async move {
            if !first {
                moved.changed().await.ok()?;
                tokio::time::sleep(BREATH).await;
                moved.mark_unchanged();
            }
            let told = serde_json::json!({
                "revision": studio.project(|project| project.revision),
                "works": studio.works.all(),
            });
            let event = Event::default().data(told.to_string());
            Some((Ok::<_, Infallible>(event), (studio, moved, false)))
        });
    Sse::new(stream).keep_alive(KeepAlive::default())
}

async fn asset(Path(file): Path<String>) -> Response {
    match screens::asset(&file) {
        Some((kind, text)) => ([(header::CONTENT_TYPE, kind)], text).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

fn json(value: &serde_json::Value) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}

fn refused(error: &Error) -> Response {
    let told = serde_json::json!({ "error": screens::trouble(error) });
    (StatusCode::UNPROCESSABLE_ENTITY, [(header::CONTENT_TYPE, "application/json")], told.to_string())
        .into_response()
}
