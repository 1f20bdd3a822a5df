//! The head of a request: how large it is, and the id that a client may give the request.

use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::problem::Problem;

/// The header with the id of a request, which its log lines have.
const REQUEST_ID: &str = "x-request-id";
const ID_MAX_BYTES: usize = 128;
/// The line of a request and its headers have at most this many bytes. A connection holds more of a head than this
/// only by what came with it in one piece.
pub(super) const MAX_BYTES: usize = 64 << 10;

/// Takes an id away that would fill the log or confuse its reader: one that is too long, that has other characters than
/// visible ones of ASCII, or that is there several times. The request has a new one then.
pub(super) async fn without_bad_id(mut request: Request<Body>) -> Request<Body> {
    let mut ids = request.headers().get_all(REQUEST_ID).iter();
    let is_good = match (ids.next(), ids.next()) {
        (Some(id), None) => (1..=ID_MAX_BYTES).contains(&id.len()) && id.as_bytes().iter().all(u8::is_ascii_graphic),
        _ => false,
    };
    if !is_good {
        request.headers_mut().remove(REQUEST_ID);
    }
    request
}

/// Refuses a request whose head is too large.
pub(super) async fn bounded(request: Request, next: Next) -> Response {
    if bytes(&request) <= MAX_BYTES {
        return next.run(request).await;
    }
    let problem = format!("the head of the request has more than {MAX_BYTES} bytes");
    let hint = "send long arguments in the body, and fewer or shorter headers";
    Problem::new(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "invalid_argument", problem, hint).into_response()
}

/// Counts the bytes of a head, with what stands between its parts.
fn bytes(request: &Request) -> usize {
    let uri = request.uri();
    let target = uri.path_and_query().map_or(0, |path| path.as_str().len())
        + uri.authority().map_or(0, |authority| authority.as_str().len());
    let line = request.method().as_str().len() + " ".len() + target + " HTTP/1.1\r\n".len();
    let headers = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len());
    line + headers.sum::<usize>() + "\r\n".len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_id_is_one_word_of_visible_characters_or_none() {
        let kept = async |ids: &[&[u8]]| {
            let mut request = Request::new(Body::empty());
            ids.iter().for_each(|id| {
                request.headers_mut().append(REQUEST_ID, id.to_vec().try_into().unwrap());
            });
            without_bad_id(request).await.headers().contains_key(REQUEST_ID)
        };
        let long = "i".repeat(ID_MAX_BYTES + 1);
        assert!(kept(&[b"0198f1a2-0000"]).await && kept(&[&long.as_bytes()[1..]]).await);
        let bad: [&[&[u8]]; 6] =
            [&[b""], &[b"a b"], &[b"a\tb"], &["größe".as_bytes()], &[long.as_bytes()], &[b"a", b"a"]];
        for bad in bad {
            assert!(!kept(bad).await, "{bad:?}");
        }
    }

    #[test]
    fn the_size_of_a_head_is_that_of_its_text() {
        let text = "GET /api/v1/memories?limit=1 HTTP/1.1\r\nhost: localhost\r\nx-workspace: shop\r\n\r\n";
        let request =
            Request::get("/api/v1/memories?limit=1").header("host", "localhost").header("x-workspace", "shop");
        assert_eq!(bytes(&request.body(Body::empty()).unwrap()), text.len());
    }
}
