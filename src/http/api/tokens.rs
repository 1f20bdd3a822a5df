//! The routes for tokens: an administrator looks after those of their own team. These are no tools: no agent is to see
//! a token, and no answer with one is kept.

use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Extension, Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Json, Router};
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::pages::{MAX_LISTED, page_of};
use reasoning_bank_domain::access::{AccessToken, CannotGrant, Permission, Principal, TokenId};
use reasoning_bank_domain::note::Code;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio_util::task::TaskTracker;

use super::{BASE, Problem, body_of, idempotency, invalid, query_of, status, unknown_in_query, unprocessable};
use crate::audit::{AuditEntry, AuditLog};
use crate::mcp::{SchemaReader, answer_schema, arguments_schema, page_size, read_arguments};
use crate::remedies;
use crate::tokens::{ListedToken, MadeToken, NewToken, Tokens, TokensError};

/// The state that the routes for tokens work with.
#[derive(Clone)]
pub(super) struct TokenRoutes {
    data_dir: PathBuf,
    audit: AuditLog,
    turn: Arc<Mutex<()>>,
    /// The work that goes on though its client is gone.
    work: TaskTracker,
}

impl TokenRoutes {
    pub(super) fn new(data_dir: PathBuf, audit: AuditLog, work: TaskTracker) -> Self {
        Self { data_dir, audit, turn: Arc::default(), work }
    }
}

type Administrator = Extension<Arc<Principal>>;
/// The id or the name of a token, where the path can be read.
type TokenInPath = Result<Path<String>, PathRejection>;

fn named(token: TokenInPath) -> Result<String, Problem> {
    token.map(|Path(token)| token).map_err(|_unreadable| invalid("the path is not in UTF-8"))
}

#[derive(Debug, thiserror::Error)]
enum TokenFailure {
    #[error(transparent)]
    Tokens(#[from] TokensError),
    #[error(transparent)]
    Grant(#[from] CannotGrant),
}

impl From<TokenFailure> for Problem {
    fn from(failure: TokenFailure) -> Self {
        let (code, hint) = match &failure {
            TokenFailure::Grant(_) => (Code::PermissionDenied, "ask for no more than your own token has"),
            TokenFailure::Tokens(TokensError::Unknown(_) | TokensError::NoneValid(_)) => {
                (Code::NotFound, "GET /api/v1/tokens lists the tokens of your team, with their ids and names")
            }
            TokenFailure::Tokens(TokensError::Invalid(_)) => {
                (Code::InvalidArgument, "correct the field that the message names and send it again")
            }
            TokenFailure::Tokens(TokensError::NameTaken(_)) => {
                (Code::Conflict, "choose another name, or rotate that one")
            }
            TokenFailure::Tokens(TokensError::TeamTaken { .. }) => {
                (Code::Conflict, "choose another name for the team, or name the organisation that it is of")
            }
            TokenFailure::Tokens(TokensError::Ambiguous(_)) => (Code::Conflict, "name it by its id"),
            TokenFailure::Tokens(TokensError::TooMany) => (Code::Conflict, "revoke tokens that nobody uses"),
            // The place where the server keeps its files is nobody's matter here.
            TokenFailure::Tokens(error) => {
                tracing::error!(%error, "a request about tokens failed");
                return Self::tokens_unusable();
            }
        };
        Self::new(status::of(code, false), code.as_str(), failure.to_string(), hint)
    }
}

pub(super) fn routes(own: TokenRoutes) -> Router {
    Router::new()
        .route(&format!("{BASE}/tokens"), post(create))
        .route(&format!("{BASE}/tokens/{{token}}"), get(show).delete(revoke))
        .route(&format!("{BASE}/tokens/{{token}}/rotate"), post(rotate))
        .route_layer(from_fn(without_query))
        .route(&format!("{BASE}/tokens"), get(list))
        .with_state(own)
}

/// The part of the list of tokens that is asked for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TokensQuery {
    /// The most tokens on a page.
    #[serde(default = "page_size")]
    #[schemars(range(min = 1, max = MAX_LISTED))]
    limit: usize,
    /// The `next` of the page before.
    after: Option<TokenId>,
}

/// One page of tokens, in the order in which they were made.
#[derive(Debug, Serialize, JsonSchema)]
struct TokenPage {
    tokens: Vec<ListedToken>,
    /// The `after` of the next page. It is absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<TokenId>,
}

async fn list(
    State(own): State<TokenRoutes>,
    Extension(caller): Administrator,
    request: Request,
) -> Result<Json<TokenPage>, Problem> {
    own.allow(&caller, "token list").await?;
    let (schema, (mut parts, _)) = (arguments_schema::<TokensQuery>(), request.into_parts());
    let arguments = query_of(&mut parts, schema.get("properties").and_then(Value::as_object)).await?;
    // Whoever is told how a token looks may write one here, and a URL is no place for it.
    if arguments.get("after").and_then(Value::as_str).is_some_and(|after| !TokenId::is_form_of(after)) {
        return Err(unprocessable("after: this is no place in the list; it is the `next` of the page before"));
    }
    let TokensQuery { limit, after } = read_arguments(arguments, &[]).map_err(|error| refused(&error))?;
    let all = own.run(&caller, "token list", |tokens, caller| Ok(tokens.list(|token| caller.looks_after(token))?));
    let page = page_of(all.await?.tokens, "token", |token| token.id.clone(), after.as_ref(), limit);
    let (tokens, next) = page.map_err(|error| refused(&error))?;
    Ok(Json(TokenPage { tokens, next }))
}

async fn show(
    State(own): State<TokenRoutes>,
    Extension(caller): Administrator,
    token: TokenInPath,
) -> Result<Json<ListedToken>, Problem> {
    let token = named(token)?;
    let shown = own
        .run(&caller, "token show", move |tokens, caller| Ok(tokens.show(&token, |token| caller.looks_after(token))?));
    shown.await.map(Json)
}

async fn create(
    State(own): State<TokenRoutes>,
    Extension(caller): Administrator,
    request: Request,
) -> Result<Json<MadeToken>, Problem> {
    own.allow(&caller, "token create").await?;
    let (parts, body) = request.into_parts();
    without_key(&parts.headers)?;
    let mut new: NewToken = read_arguments(body_of(&parts, body).await?, &[]).map_err(|error| refused(&error))?;
    new.team = new.team.or_else(|| caller.team.clone());
    new.org = new.org.or_else(|| caller.org.clone());
    let ids = |made: &MadeToken| vec![made.listed.id.to_string()];
    let made = own.change(&caller, "token create", ids, move |tokens, caller| {
        tokens.create(new, |token| Ok::<_, TokenFailure>(caller.may_grant(token)?))
    });
    made.await.map(Json)
}

async fn revoke(
    State(own): State<TokenRoutes>,
    Extension(caller): Administrator,
    token: TokenInPath,
) -> Result<Json<ListedToken>, Problem> {
    let token = named(token)?;
    let ids = |revoked: &ListedToken| vec![revoked.id.to_string()];
    let revoked = own.change(&caller, "token revoke", ids, move |tokens, caller| {
        let may_grant = |token: &AccessToken| Ok::<_, TokenFailure>(caller.may_grant(token)?);
        tokens.revoke(&token, |token| caller.looks_after(token), may_grant)
    });
    revoked.await.map(Json)
}

async fn rotate(
    State(own): State<TokenRoutes>,
    Extension(caller): Administrator,
    token: TokenInPath,
    headers: HeaderMap,
) -> Result<Json<MadeToken>, Problem> {
    without_key(&headers)?;
    let token = named(token)?;
    let ids = |(old, made): &(TokenId, MadeToken)| vec![old.to_string(), made.listed.id.to_string()];
    let rotated = own.change(&caller, "token rotate", ids, move |tokens, caller| {
        let may_grant = |token: &AccessToken| Ok::<_, TokenFailure>(caller.may_grant(token)?);
        tokens.rotate(&token, |token| caller.looks_after(token), may_grant)
    });
    rotated.await.map(|(_, made)| Json(made))
}

/// Refuses a request with a parameter in its query, which no other route for tokens has.
async fn without_query(request: Request, next: Next) -> Result<Response, Problem> {
    let query = Query::<Vec<(String, String)>>::try_from_uri(request.uri());
    let Query(pairs) = query.map_err(super::bad_query)?;
    match pairs.first() {
        Some((name, _)) => Err(unknown_in_query(name, "of the routes for tokens, the list alone has something there")),
        None => Ok(next.run(request).await),
    }
}

/// Returns an error in the words that the tools have for it.
fn refused(error: &Error) -> Problem {
    let code = error.code();
    Problem::new(status::of(code, false), code.as_str(), error.to_string(), remedies::of(error))
}

/// Refuses a request with a key: what is answered with a secret is not kept.
fn without_key(headers: &HeaderMap) -> Result<(), Problem> {
    match headers.contains_key(idempotency::HEADER) {
        true => Err(invalid("the routes for tokens take no Idempotency-Key: no answer with a token is kept")),
        false => Ok(()),
    }
}

impl TokenRoutes {
    /// Lets an administrator on. A refusal is noted in the audit log.
    async fn allow(&self, caller: &Principal, action: &'static str) -> Result<(), Problem> {
        if caller.may(Permission::Admin) || caller.may(Permission::AdminAll) {
            return Ok(());
        }
        let error = Error::PermissionDenied(Permission::Admin);
        let outcome = error.code().as_str();
        self.audit.append(AuditEntry { outcome, ..AuditEntry::by(caller, action) }).await;
        Err(refused(&error))
    }

    /// Does `work` with the tokens where the caller may look after some. The file is used on a thread of its own.
    async fn run<T: Send + 'static>(
        &self,
        caller: &Arc<Principal>,
        action: &'static str,
        work: impl FnOnce(&Tokens, &Principal) -> Result<T, TokenFailure> + Send + 'static,
    ) -> Result<T, Problem> {
        self.allow(caller, action).await?;
        let (data_dir, caller) = (self.data_dir.clone(), Arc::clone(caller));
        let done = tokio::task::spawn_blocking(move || work(&Tokens::of(&data_dir), &caller)).await;
        Ok(done.map_err(|_panic| Problem::internal())??)
    }

    /// Does what [`Self::run`] does, and notes it in the audit log with the `ids` of what came of it, whether somebody
    /// waits for the answer or not.
    async fn change<T: Send + 'static>(
        &self,
        caller: &Arc<Principal>,
        action: &'static str,
        ids: impl FnOnce(&T) -> Vec<String> + Send + 'static,
        work: impl FnOnce(&Tokens, &Principal) -> Result<T, TokenFailure> + Send + 'static,
    ) -> Result<T, Problem> {
        self.allow(caller, action).await?;
        let (own, caller) = (self.clone(), Arc::clone(caller));
        let changing = self.work.spawn(async move {
            // One change at a time: each holds a thread while it waits for the file.
            let _turn = own.turn.lock().await;
            let done = own.run(&caller, action, work).await;
            let mut entry = AuditEntry::by(&caller, action);
            match &done {
                Ok(done) => entry.ids = ids(done),
                Err(problem) => entry.outcome = problem.code(),
            }
            own.audit.append(entry).await;
            own.audit.sync().await;
            done
        });
        changing.await.unwrap_or_else(|_panic| Err(Problem::internal()))
    }
}

/// Describes the routes, as paths of OpenAPI.
pub(super) fn paths() -> Value {
    let token = json!({"name": "token", "in": "path", "required": true, "schema": {"type": "string"},
        "description": "The id of a token, or its name."});
    let operation = |id: &str, summary: &str, answer: Value, own: &[StatusCode]| {
        let answer = json!({"description": "The answer.", "content": {"application/json": {"schema": answer}}});
        let responses = status::responses(answer, own);
        json!({"operationId": id, "summary": summary, "parameters": [], "responses": responses})
    };
    let of_token = |id: &str, summary: &str, answer: Value| {
        let mut operation = operation(id, summary, answer, &[StatusCode::NOT_FOUND, StatusCode::CONFLICT]);
        operation["parameters"] = json!([token]);
        operation
    };
    let made = || json!(answer_schema::<MadeToken>(SchemaReader::Program));
    let listed = || json!(answer_schema::<ListedToken>(SchemaReader::Program));
    let page = json!(answer_schema::<TokenPage>(SchemaReader::Program));
    let mut list =
        operation("list_tokens", "List the tokens of the team, a page at a time", page, &[StatusCode::NOT_FOUND]);
    let schema = arguments_schema::<TokensQuery>();
    let in_query = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    list["parameters"] = in_query
        .map(|(name, schema)| json!({"name": name, "in": "query", "required": false, "schema": schema}))
        .collect();
    let of_create = [&[StatusCode::CONFLICT][..], &status::OF_BODIES].concat();
    let mut create = operation("create_token", "Make a token, which is shown this once", made(), &of_create);
    let new = json!(arguments_schema::<NewToken>());
    create["requestBody"] = json!({"required": true, "content": {"application/json": {"schema": new}}});
    json!({
        format!("{BASE}/tokens"): {
            "get": list,
            "post": create,
        },
        format!("{BASE}/tokens/{{token}}"): {
            "get": of_token("get_token", "Show a token, without its secret", listed()),
            "delete": of_token("revoke_token", "End a token at once", listed()),
        },
        format!("{BASE}/tokens/{{token}}/rotate"): {
            "post": of_token("rotate_token", "Replace a token by a new one with the same rights", made()),
        },
    })
}
