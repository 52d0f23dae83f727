//! Who asks, and what they may do.

mod authenticate;
mod authorize;
mod identity;
mod rights;
pub(crate) mod tokens;

pub use authenticate::identity_of_certificate;
pub(crate) use authorize::{authorize, authorize_page};
pub use identity::Identity;
pub use rights::{Access, Rights};
