//! Who asks, and what they may do.

mod authenticate;
mod identity;
mod rights;

pub use authenticate::identity_of_certificate;
pub use identity::Identity;
pub use rights::Rights;
