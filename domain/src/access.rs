//! This room says who asks, and what they may do. A [`Principal`] stands for whoever makes a request; over the network
//! an [`AccessToken`] says which one that is.

mod granting;
mod keyed_request;
mod permission;
mod principal;
mod session;
mod token;
mod token_id;

pub use granting::CannotGrant;
pub use keyed_request::{EarlierWrite, KeyScope, KeyedRequest};
pub use permission::{Permission, Permissions, UnknownPermission};
pub use principal::{AllowedWorkspaces, Principal};
pub use session::ClientSession;
pub use token::{AccessToken, BearerToken, Expiry, SECRET_BYTES};
pub use token_id::{InvalidBearerToken, NamedToken, TokenId};
