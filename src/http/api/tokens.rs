//! The routes for tokens: an administrator looks after those of his team. These are no tools: no agent is to see a token,
//! and no answer with one is kept.

use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::{Extension, Path, Request, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use reasoning_bank_domain::access::{AccessToken, CannotGrant, Permission, Principal, TokenId};
use reasoning_bank_domain::note::Code;
use serde_json::{Value, json};

use super::{BASE, Problem, body_of, openapi};
use crate::audit::{AuditEntry, AuditLog};
use crate::mcp::answer_schema;
use crate::tokens::{ListedToken, ListedTokens, MadeToken, NewToken, Tokens, TokensError};

/// What the routes for tokens work with.
#[derive(Clone)]
pub(in crate::http) struct TokenRoutes {
    pub(in crate::http) data_dir: PathBuf,
    pub(in crate::http) audit: AuditLog,
}

type Caller = Extension<Arc<Principal>>;

#[derive(Debug, thiserror::Error)]
enum TokenFailure {
    #[error(transparent)]
    Tokens(#[from] TokensError),
    #[error(transparent)]
    Grant(#[from] CannotGrant),
}

impl From<TokenFailure> for Problem {
    fn from(failure: TokenFailure) -> Self {
        let (status, code) = match &failure {
            TokenFailure::Grant(_) => (StatusCode::FORBIDDEN, Code::PermissionDenied),
            TokenFailure::Tokens(TokensError::Unknown(_)) => (StatusCode::NOT_FOUND, Code::NotFound),
            TokenFailure::Tokens(TokensError::Invalid(_)) => (StatusCode::UNPROCESSABLE_ENTITY, Code::InvalidArgument),
            TokenFailure::Tokens(TokensError::NameTaken(_) | TokensError::Ambiguous(_) | TokensError::TooMany) => {
                (StatusCode::CONFLICT, Code::Conflict)
            }
            TokenFailure::Tokens(_) => (StatusCode::SERVICE_UNAVAILABLE, Code::StoreUnavailable),
        };
        Self::new(status, code.as_str(), failure.to_string())
    }
}

pub(super) fn routes(own: TokenRoutes) -> Router {
    Router::new()
        .route(&format!("{BASE}/tokens"), get(list).post(create))
        .route(&format!("{BASE}/tokens/{{token}}"), get(show).delete(revoke))
        .route(&format!("{BASE}/tokens/{{token}}/rotate"), post(rotate))
        .with_state(own)
}

async fn list(State(own): State<TokenRoutes>, Extension(caller): Caller) -> Result<Json<ListedTokens>, Problem> {
    own.read(&caller, |tokens, caller| Ok(tokens.list(|token| caller.looks_after(token))?)).await.map(Json)
}

async fn show(
    State(own): State<TokenRoutes>,
    Extension(caller): Caller,
    Path(token): Path<String>,
) -> Result<Json<ListedToken>, Problem> {
    own.read(&caller, move |tokens, caller| Ok(tokens.show(&token, |token| caller.looks_after(token))?)).await.map(Json)
}

async fn create(
    State(own): State<TokenRoutes>,
    Extension(caller): Caller,
    request: Request,
) -> Result<Json<MadeToken>, Problem> {
    own.allow(&caller)?;
    let (parts, body) = request.into_parts();
    let new = Value::Object(body_of(&parts, body).await?);
    let unfit = |error: serde_json::Error| {
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, Code::InvalidArgument.as_str(), error.to_string())
    };
    let mut new: NewToken = serde_json::from_value(new).map_err(unfit)?;
    new.team = new.team.or_else(|| caller.team.clone());
    new.org = new.org.or_else(|| caller.org.clone());
    let made = own.change(
        &caller,
        "token create",
        |made: &MadeToken| vec![made.listed.id.to_string()],
        move |tokens, caller| tokens.create(new, |token| Ok::<_, TokenFailure>(caller.may_grant(token)?)),
    );
    made.await.map(Json)
}

async fn revoke(
    State(own): State<TokenRoutes>,
    Extension(caller): Caller,
    Path(token): Path<String>,
) -> Result<Json<ListedToken>, Problem> {
    let revoked = own.change(
        &caller,
        "token revoke",
        |revoked: &ListedToken| vec![revoked.id.to_string()],
        move |tokens, caller| Ok(tokens.revoke(&token, |token| caller.looks_after(token))?),
    );
    revoked.await.map(Json)
}

async fn rotate(
    State(own): State<TokenRoutes>,
    Extension(caller): Caller,
    Path(token): Path<String>,
) -> Result<Json<MadeToken>, Problem> {
    let ids = |(old, made): &(TokenId, MadeToken)| vec![old.to_string(), made.listed.id.to_string()];
    let rotated = own.change(&caller, "token rotate", ids, move |tokens, caller| {
        let may_grant = |token: &AccessToken| Ok::<_, TokenFailure>(caller.may_grant(token)?);
        tokens.rotate(&token, |token| caller.looks_after(token), may_grant)
    });
    rotated.await.map(|(_, made)| Json(made))
}

impl TokenRoutes {
    fn allow(&self, caller: &Principal) -> Result<(), Problem> {
        if caller.may(Permission::Admin) || caller.may(Permission::AdminAll) {
            return Ok(());
        }
        let problem = "this needs the permission admin, which the token does not have";
        Err(Problem::new(StatusCode::FORBIDDEN, Code::PermissionDenied.as_str(), problem))
    }

    /// Does `work` with the tokens where the caller may look after some. The file is read on a thread of its own.
    async fn read<T: Send + 'static>(
        &self,
        caller: &Arc<Principal>,
        work: impl FnOnce(&Tokens, &Principal) -> Result<T, TokenFailure> + Send + 'static,
    ) -> Result<T, Problem> {
        self.allow(caller)?;
        let (data_dir, caller) = (self.data_dir.clone(), Arc::clone(caller));
        let done = tokio::task::spawn_blocking(move || work(&Tokens::of(&data_dir), &caller)).await;
        let panicked = |_| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, Code::Internal.as_str(), "it panicked");
        Ok(done.map_err(panicked)??)
    }

    /// Does what [`Self::read`] does, and notes it in the audit log with the `ids` of what came of it.
    async fn change<T: Send + 'static>(
        &self,
        caller: &Arc<Principal>,
        action: &str,
        ids: impl FnOnce(&T) -> Vec<String>,
        work: impl FnOnce(&Tokens, &Principal) -> Result<T, TokenFailure> + Send + 'static,
    ) -> Result<T, Problem> {
        let done = self.read(caller, work).await;
        let mut entry = AuditEntry { owner: caller.owner.clone(), ..AuditEntry::about(action) };
        match &done {
            Ok(done) => entry.ids = ids(done),
            Err(problem) => entry.outcome = problem.code(),
        }
        self.audit.append(entry).await;
        self.audit.sync().await;
        done
    }
}

/// Describes the routes, as paths of OpenAPI.
pub(super) fn paths() -> Value {
    let token = json!({"name": "token", "in": "path", "required": true, "schema": {"type": "string"},
        "description": "The id of a token, or its name."});
    let operation = |id: &str, summary: &str, parameters: &[&Value], answer: Value| {
        json!({
            "operationId": id,
            "summary": summary,
            "parameters": parameters,
            "responses": {
                "200": {"description": "The answer.", "content": {"application/json": {"schema": answer}}},
                "default": openapi::failure(),
            },
        })
    };
    let made = || json!(answer_schema::<MadeToken>());
    let mut create = operation("create_token", "Make a token, which is shown this once", &[], made());
    let new = json!(crate::mcp::arguments_schema::<NewToken>());
    create["requestBody"] = json!({"required": true, "content": {"application/json": {"schema": new}}});
    let listed = || json!(answer_schema::<ListedToken>());
    json!({
        format!("{BASE}/tokens"): {
            "get": operation("list_tokens", "List the tokens of the team", &[], json!(answer_schema::<ListedTokens>())),
            "post": create,
        },
        format!("{BASE}/tokens/{{token}}"): {
            "get": operation("get_token", "Show a token, without its secret", &[&token], listed()),
            "delete": operation("revoke_token", "End a token at once", &[&token], listed()),
        },
        format!("{BASE}/tokens/{{token}}/rotate"): {
            "post": operation("rotate_token", "Replace a token by a new one with the same rights", &[&token], made()),
        },
    })
}
