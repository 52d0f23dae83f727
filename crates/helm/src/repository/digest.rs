//! SHA-256 digests, with or without their `sha256:` in front.

use sha2::{Digest as _, Sha256};

/// The digest of some bytes, in hexadecimal.
pub(super) fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// True if `expected` is the digest of `bytes`.
pub(super) fn fits(bytes: &[u8], expected: &str) -> bool {
    let expected = expected.strip_prefix("sha256:").unwrap_or(expected);
    sha256(bytes).eq_ignore_ascii_case(expected)
}
