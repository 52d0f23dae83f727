//! What identities may do.

/// What was worked out so far.
#[derive(Debug, Default)]
pub struct Rights {}

impl Rights {
    /// Forgets it, after a role or a binding changed.
    pub fn forget(&self) {}
}
