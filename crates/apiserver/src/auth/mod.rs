//! Who asks, and what they may do.

mod authenticate;
mod identity;

pub use authenticate::identity_of_certificate;
pub use identity::Identity;
