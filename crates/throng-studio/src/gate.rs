//! Who may ask.
//!
//! Anything that runs in a browser can send requests to 127.0.0.1: pages of other sites, and names that others let point
//! there (DNS rebinding). So each request must name a host that we are known by, must carry a cookie that only somebody got
//! who opened the address with the secret in it (or gave the password), and must not come from another site. Whatever changes
//! something must besides name our own origin and carry a token that only our own pages hold.

use std::path::Path;

use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use throng::{Error, ErrorCode, Result};

use crate::Listen;

/// Fewer characters could be guessed by trying.
const SHORTEST_PASSWORD: usize = 12;

/// The header with the token of our own pages.
pub const TOKEN: &str = "x-throng-token";

/// Decides who may ask.
pub struct Gate {
    port: u16,
    /// What the address carries.
    key: String,
    /// What the cookie carries.
    session: String,
    /// What our own pages carry.
    pub token: String,
    /// Hosts that we are known by, with the port where there is one.
    hosts: Vec<String>,
    password: Option<blake3::Hash>,
}

/// What becomes of a request.
#[derive(Debug, PartialEq, Eq)]
pub enum Pass {
    /// It is answered.
    Yes,
    /// Whoever sent it has the key, and gets the cookie.
    Enter,
    /// Nobody knows yet who sent it; the password is asked for.
    Login,
    /// It is refused, and why.
    No(StatusCode, &'static str),
}

impl Gate {
    /// A gate with new secrets.
    pub fn new(port: u16, listen: Option<&Listen>) -> Result<Self> {
        let password = listen.map(|listen| read_password(&listen.password)).transpose()?;
        let hosts = match listen {
            None => vec![format!("127.0.0.1:{port}"), format!("localhost:{port}")],
            Some(listen) if listen.hosts.is_empty() => {
                vec![std::net::SocketAddr::new(listen.address, port).to_string()]
            }
            Some(listen) => listen.hosts.iter().map(|host| host.to_ascii_lowercase()).collect(),
        };
        Ok(Gate { port, key: random()?, session: random()?, token: random()?, hosts, password })
    }

    /// The address to open.
    pub fn address(&self) -> String {
        let host = self.hosts.first().map_or("", String::as_str);
        match self.password {
            None => format!("http://{host}/?key={}", self.key),
            Some(_) => format!("http://{host}/"),
        }
    }

    /// Whether a password is the right one.
    pub fn opens(&self, password: &[u8]) -> bool {
        // Hashes compare in constant time.
        self.password.is_some_and(|own| own == blake3::hash(password.trim_ascii()))
    }

    /// The cookie that lets one in. Cookies know no ports, so its name does.
    pub fn cookie(&self, headers: &HeaderMap) -> String {
        let https = headers.get("x-forwarded-proto").is_some_and(|scheme| scheme == "https");
        let secure = if https { "; Secure" } else { "" };
        format!("{}={}; HttpOnly; SameSite=Strict; Path=/{secure}", self.cookie_name(), self.session)
    }

    fn cookie_name(&self) -> String {
        format!("throng_studio_{}", self.port)
    }

    /// Decides on a request.
    pub fn pass(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Pass {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).map(str::to_ascii_lowercase);
        let Some(host) = host.filter(|host| self.hosts.contains(host)) else {
            return Pass::No(StatusCode::MISDIRECTED_REQUEST, "This studio is not known by this name.");
        };
        if uri.authority().is_some_and(|own| own.as_str().to_ascii_lowercase() != host) {
            return Pass::No(StatusCode::MISDIRECTED_REQUEST, "This studio is not known by this name.");
        }
        if method == Method::GET && uri.path() == "/" && self.has_key(uri) {
            return Pass::Enter;
        }
        if !from_our_pages(headers) {
            return Pass::No(StatusCode::FORBIDDEN, "Another site sent this request.");
        }
        let changes = method != Method::GET && method != Method::HEAD;
        if changes && !is_own_origin(headers, &host) {
            return Pass::No(StatusCode::FORBIDDEN, "This request does not come from a page of this studio.");
        }
        if !self.has_cookie(headers) {
            return match self.password {
                Some(_) => Pass::Login,
                None => Pass::No(
                    StatusCode::UNAUTHORIZED,
                    "Open the address that the studio printed when it was started.",
                ),
            };
        }
        let token = headers.get(TOKEN).map(header::HeaderValue::as_bytes).unwrap_or_default();
        if changes && !same(token, self.token.as_bytes()) {
            return Pass::No(StatusCode::FORBIDDEN, "This page is of an earlier studio: load it again.");
        }
        Pass::Yes
    }

    fn has_key(&self, uri: &Uri) -> bool {
        let query = uri.query().unwrap_or_default();
        let key = query.split('&').find_map(|pair| pair.strip_prefix("key=")).unwrap_or_default();
        self.password.is_none() && same(key.as_bytes(), self.key.as_bytes())
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let wanted = self.cookie_name();
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|cookies| cookies.to_str().ok());
        let mut pairs =
            cookies.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(name, value)| name == wanted && same(value.as_bytes(), self.session.as_bytes()))
    }
}

/// Browsers say where a request comes from: nowhere (typed, bookmarked) or one of our own pages.
fn from_our_pages(headers: &HeaderMap) -> bool {
    headers.get("sec-fetch-site").is_none_or(|site| site == "none" || site == "same-origin")
}

fn is_own_origin(headers: &HeaderMap, host: &str) -> bool {
    let origin = headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok()).unwrap_or_default();
    let name = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    name.is_some_and(|name| name.eq_ignore_ascii_case(host))
}

/// Compares without telling by the time it takes how much is the same.
fn same(one: &[u8], other: &[u8]) -> bool {
    blake3::hash(one) == blake3::hash(other)
}

fn read_password(path: &Path) -> Result<blake3::Hash> {
    let bytes = std::fs::read(path)
        .map_err(|cause| Error::io(ErrorCode::CannotRead, "read the password", path, &cause))?;
    let password = bytes.trim_ascii();
    if password.len() < SHORTEST_PASSWORD {
        return Err(Error::new(
            ErrorCode::WeakSecret,
            format!("a password of {} characters could be guessed", password.len()),
        )
        .in_file(path)
        .with_hint(format!("write at least {SHORTEST_PASSWORD} characters into the file")));
    }
    Ok(blake3::hash(password))
}

/// 128 random bits in hexadecimal.
fn random() -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|cause| {
        Error::new(ErrorCode::NoRandomness, format!("the system gives no random numbers: {cause}"))
    })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (header::HeaderName::from_static(name), value.parse().unwrap()))
            .collect()
    }

    fn gate() -> Gate {
        Gate::new(4000, None).unwrap()
    }

    #[test]
    fn the_key_lets_one_in_and_the_cookie_keeps_one_in() {
        let gate = gate();
        let host = ("host", "127.0.0.1:4000");
        let enter: Uri = format!("/?key={}", gate.key).parse().unwrap();
        assert_eq!(gate.pass(&Method::GET, &enter, &headers(&[host])), Pass::Enter);
        let cookie = gate.cookie(&HeaderMap::new());
        assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"));
        let pair = cookie.split(';').next().unwrap();
        let table: Uri = "/table".parse().unwrap();
        assert_eq!(gate.pass(&Method::GET, &table, &headers(&[host, ("cookie", pair)])), Pass::Yes);
        assert!(matches!(
            gate.pass(&Method::GET, &table, &headers(&[host])),
            Pass::No(StatusCode::UNAUTHORIZED, _)
        ));
        let wrong: Uri = "/?key=0123".parse().unwrap();
        assert!(matches!(gate.pass(&Method::GET, &wrong, &headers(&[host])), Pass::No(..)));
    }

    #[test]
    fn a_foreign_host_origin_or_site_is_refused() {
        let gate = gate();
        let cookie = gate.cookie(&HeaderMap::new());
        let cookie = ("cookie", cookie.split(';').next().unwrap());
        let (own, act) = (("host", "127.0.0.1:4000"), "/act".parse::<Uri>().unwrap());
        let token = ("x-throng-token", gate.token.as_str());
        let origin = ("origin", "http://127.0.0.1:4000");
        let post = |pairs: &[(&'static str, &str)]| gate.pass(&Method::POST, &act, &headers(pairs));
        assert_eq!(post(&[own, cookie, token, origin]), Pass::Yes);
        for bad in [
            vec![("host", "evil.example:4000"), cookie, token, origin],
            vec![("host", "127.0.0.1:4001"), cookie, token, origin],
            vec![cookie, token, origin],
            vec![own, cookie, token, ("origin", "http://evil.example")],
            vec![own, cookie, token, ("origin", "null")],
            vec![own, cookie, token],
            vec![own, cookie, origin],
            vec![own, cookie, ("x-throng-token", "0"), origin],
            vec![own, token, origin],
            vec![own, ("cookie", "throng_studio_4000=0"), token, origin],
            vec![own, cookie, token, origin, ("sec-fetch-site", "cross-site")],
            vec![own, cookie, token, origin, ("sec-fetch-site", "same-site")],
        ] {
            assert!(matches!(post(&bad), Pass::No(..)), "{bad:?}");
        }
    }

    #[test]
    fn a_server_for_others_asks_for_a_password_that_cannot_be_guessed() {
        let folder = tempfile::tempdir().unwrap();
        let password = folder.path().join("password");
        let listen = |password: &Path| Listen {
            address: "0.0.0.0".parse().unwrap(),
            password: password.to_owned(),
            hosts: vec!["Studio.example".into()],
        };
        std::fs::write(&password, "short\n").unwrap();
        assert!(Gate::new(4000, Some(&listen(&password))).is_err());
        std::fs::write(&password, "long enough, I hope\n").unwrap();
        let gate = Gate::new(4000, Some(&listen(&password))).unwrap();
        assert!(gate.opens(b"long enough, I hope") && !gate.opens(b"long enough"));
        let host = headers(&[("host", "studio.example")]);
        assert_eq!(gate.pass(&Method::GET, &"/table".parse().unwrap(), &host), Pass::Login);
        let key: Uri = format!("/?key={}", gate.key).parse().unwrap();
        assert_eq!(gate.pass(&Method::GET, &key, &host), Pass::Login, "the key alone opens nothing here");
    }
}
