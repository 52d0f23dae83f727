//! The age file format, version 1, for X25519 keys.
//!
//! Files made by the `age` tool are read here and the other way round. Passphrases and plugins are not supported: a
//! host has nobody to type a passphrase.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD as BASE64};
use chacha20poly1305::aead::Aead;
use chacha20poly1305::{ChaCha20Poly1305, Key, KeyInit, Nonce};
use hkdf::Hkdf;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use thiserror::Error;
use x25519_dalek::{PublicKey, StaticSecret};

use super::bech32;

const VERSION: &str = "age-encryption.org/v1";
const ARMOR_BEGIN: &str = "-----BEGIN AGE ENCRYPTED FILE-----";
const ARMOR_END: &str = "-----END AGE ENCRYPTED FILE-----";
const CHUNK: usize = 64 * 1024;
const TAG: usize = 16;

/// Why a file could not be decrypted.
#[derive(Debug, Error, Eq, PartialEq)]
pub enum AgeError {
    /// It does not start like an age file.
    #[error("it is not an age file")]
    NotAge,
    /// The header breaks the format.
    #[error("its age header is damaged")]
    Header,
    /// None of the keys fits.
    #[error("none of the {0} keys opens it")]
    NoKey(usize),
    /// The content was changed or cut.
    #[error("its content is damaged or cut off")]
    Payload,
    /// No random numbers.
    #[error("the system gives no random numbers")]
    Random,
}

/// A secret key: `AGE-SECRET-KEY-1…`. It has no `Display` and hides itself in `Debug`.
#[derive(Clone)]
pub struct Identity(StaticSecret);

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Identity(…)")
    }
}

impl Identity {
    /// Reads one key.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes: [u8; 32] = bech32::decode("age-secret-key-", text.trim())?.try_into().ok()?;
        Some(Self(StaticSecret::from(bytes)))
    }

    /// Makes a new key.
    ///
    /// # Errors
    ///
    /// The system gives no random numbers.
    pub fn generate() -> Result<Self, AgeError> {
        Ok(Self(StaticSecret::from(random::<32>()?)))
    }

    /// The key's text. Keep it secret.
    pub fn to_secret_text(&self) -> String {
        bech32::encode("age-secret-key-", &self.0.to_bytes()).to_ascii_uppercase()
    }

    /// The public half, for encrypting.
    pub fn recipient(&self) -> Recipient {
        Recipient(PublicKey::from(&self.0))
    }
}

/// A public key: `age1…`.
#[derive(Clone, Debug)]
pub struct Recipient(PublicKey);

impl Recipient {
    /// Reads one key.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes: [u8; 32] = bech32::decode("age", text.trim())?.try_into().ok()?;
        Some(Self(PublicKey::from(bytes)))
    }
}

impl std::fmt::Display for Recipient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&bech32::encode("age", self.0.as_bytes()))
    }
}

fn random<const N: usize>() -> Result<[u8; N], AgeError> {
    let mut bytes = [0_u8; N];
    let mut filled = 0;
    while filled < N {
        let rest = bytes.get_mut(filled..).unwrap_or_default();
        filled += rustix::rand::getrandom(rest, rustix::rand::GetRandomFlags::empty())
            .map_err(|_| AgeError::Random)?;
    }
    Ok(bytes)
}

fn derive(secret: &[u8], salt: &[u8], info: &str) -> [u8; 32] {
    let mut out = [0_u8; 32];
    // Only a length beyond 8 kB could fail.
    let _ = Hkdf::<Sha256>::new(Some(salt), secret).expand(info.as_bytes(), &mut out);
    out
}

fn wrap_key(shared: &[u8], ephemeral: &[u8], recipient: &[u8]) -> ChaCha20Poly1305 {
    let salt = [ephemeral, recipient].concat();
    let key = derive(shared, &salt, "age-encryption.org/v1/X25519");
    ChaCha20Poly1305::new(Key::from_slice(&key))
}

fn header_mac(file_key: &[u8], header: &str) -> Option<Hmac<Sha256>> {
    let key = derive(file_key, b"", "header");
    let mut mac = <Hmac<Sha256> as Mac>::new_from_slice(&key).ok()?;
    mac.update(header.as_bytes());
    Some(mac)
}

/// The nonce of a chunk: its number, and whether it is the last.
fn chunk_nonce(number: u64, last: bool) -> [u8; 12] {
    let mut nonce = [0_u8; 12];
    nonce[3..11].copy_from_slice(&number.to_be_bytes());
    nonce[11] = u8::from(last);
    nonce
}

/// True if `bytes` start like an age file, armoured or not.
pub fn is_age(bytes: &[u8]) -> bool {
    let text = bytes.trim_ascii_start();
    bytes.starts_with(VERSION.as_bytes()) || text.starts_with(ARMOR_BEGIN.as_bytes())
}

/// Decrypts a file with the first key that fits.
///
/// # Errors
///
/// The file is none, damaged, or for other keys.
pub fn decrypt(bytes: &[u8], identities: &[Identity]) -> Result<Vec<u8>, AgeError> {
    let unarmoured;
    let bytes = if bytes.trim_ascii_start().starts_with(ARMOR_BEGIN.as_bytes()) {
        unarmoured = unarmour(bytes).ok_or(AgeError::Header)?;
        &unarmoured
    } else {
        bytes
    };
    if !bytes.starts_with(VERSION.as_bytes()) {
        return Err(AgeError::NotAge);
    }
    let header = parse_header(bytes).ok_or(AgeError::Header)?;
    let file_key = header
        .stanzas
        .iter()
        .find_map(|stanza| identities.iter().find_map(|identity| unwrap(stanza, identity)))
        .ok_or(AgeError::NoKey(identities.len()))?;
    header_mac(&file_key, header.signed)
        .and_then(|mac| mac.verify_slice(&header.mac).ok())
        .ok_or(AgeError::Header)?;
    decrypt_payload(&file_key, header.payload)
}

fn unarmour(bytes: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(bytes).ok()?.trim();
    let body = text.strip_prefix(ARMOR_BEGIN)?.strip_suffix(ARMOR_END)?;
    let joined: String = body.split_whitespace().collect();
    STANDARD.decode(joined).ok()
}

struct Stanza {
    share: [u8; 32],
    body: Vec<u8>,
}

struct Header<'a> {
    stanzas: Vec<Stanza>,
    signed: &'a str,
    mac: Vec<u8>,
    payload: &'a [u8],
}

fn parse_header(bytes: &[u8]) -> Option<Header<'_>> {
    let marker = b"\n--- ";
    let end = bytes.windows(marker.len()).position(|window| window == marker)?;
    let signed = std::str::from_utf8(bytes.get(..end + 4)?).ok()?;
    let after = bytes.get(end + marker.len()..)?;
    let line = after.iter().position(|b| *b == b'\n')?;
    let mac = BASE64.decode(after.get(..line)?).ok()?;
    let payload = after.get(line + 1..)?;
    let mut lines = signed.lines();
    if lines.next() != Some(VERSION) {
        return None;
    }
    let mut stanzas = Vec::new();
    let mut next = lines.next();
    while let Some(arguments) = next.and_then(|line| line.strip_prefix("-> ")) {
        let mut body = String::new();
        loop {
            let line = lines.next()?;
            body.push_str(line);
            if line.len() < 64 {
                break;
            }
        }
        next = lines.next();
        // Stanzas of other kinds are for somebody else.
        if let Some(share) = arguments.strip_prefix("X25519 ") {
            let share = BASE64.decode(share).ok()?.try_into().ok()?;
            stanzas.push(Stanza { share, body: BASE64.decode(body).ok()? });
        }
    }
    (next == Some("---")).then_some(Header { stanzas, signed, mac, payload })
}

fn unwrap(stanza: &Stanza, identity: &Identity) -> Option<Vec<u8>> {
    let shared = identity.0.diffie_hellman(&PublicKey::from(stanza.share));
    if !shared.was_contributory() {
        return None;
    }
    let public = PublicKey::from(&identity.0);
    let cipher = wrap_key(shared.as_bytes(), &stanza.share, public.as_bytes());
    let key = cipher.decrypt(Nonce::from_slice(&[0; 12]), stanza.body.as_slice()).ok()?;
    (key.len() == 16).then_some(key)
}

fn decrypt_payload(file_key: &[u8], payload: &[u8]) -> Result<Vec<u8>, AgeError> {
    let (nonce, sealed) = payload.split_at_checked(16).ok_or(AgeError::Payload)?;
    let key = derive(file_key, nonce, "payload");
    let cipher = ChaCha20Poly1305::new(Key::from_slice(&key));
    let mut out = Vec::with_capacity(sealed.len());
    let count = sealed.len().div_ceil(CHUNK + TAG).max(1);
    let mut chunks = sealed.chunks(CHUNK + TAG);
    for number in 0..count {
        let last = number + 1 == count;
        let chunk = chunks.next().unwrap_or_default();
        let nonce = chunk_nonce(number as u64, last);
        let plain = cipher.decrypt(Nonce::from_slice(&nonce), chunk).map_err(|_| AgeError::Payload)?;
        if plain.is_empty() && number > 0 {
            return Err(AgeError::Payload);
        }
        out.extend_from_slice(&plain);
    }
    Ok(out)
}

/// Encrypts for all `recipients`.
///
/// # Errors
///
/// The system gives no random numbers.
pub fn encrypt(plain: &[u8], recipients: &[Recipient]) -> Result<Vec<u8>, AgeError> {
    let file_key = random::<16>()?;
    let mut header = format!("{VERSION}\n");
    for recipient in recipients {
        let ephemeral = StaticSecret::from(random::<32>()?);
        let share = PublicKey::from(&ephemeral);
        let shared = ephemeral.diffie_hellman(&recipient.0);
        let cipher = wrap_key(shared.as_bytes(), share.as_bytes(), recipient.0.as_bytes());
        let body =
            cipher.encrypt(Nonce::from_slice(&[0; 12]), file_key.as_slice()).map_err(|_| AgeError::Header)?;
        header.push_str(&format!("-> X25519 {}\n{}\n", BASE64.encode(share.as_bytes()), BASE64.encode(body)));
    }
    header.push_str("---");
    let mac = header_mac(&file_key, &header).ok_or(AgeError::Header)?.finalize().into_bytes();
    let mut out = format!("{header} {}\n", BASE64.encode(mac)).into_bytes();
    let nonce = random::<16>()?;
    out.extend_from_slice(&nonce);
    let key = derive(&file_key, &nonce, "payload");
    let cipher = ChaCha20Poly1305::new(Key::from_slice(&key));
    let count = plain.len().div_ceil(CHUNK).max(1);
    for number in 0..count {
        let chunk = plain.get(number * CHUNK..plain.len().min((number + 1) * CHUNK)).unwrap_or_default();
        let nonce = chunk_nonce(number as u64, number + 1 == count);
        out.extend(cipher.encrypt(Nonce::from_slice(&nonce), chunk).map_err(|_| AgeError::Payload)?);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encrypted_is_decrypted_whatever_its_length() {
        let identity = Identity::generate().unwrap();
        for length in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 200_000] {
            let plain: Vec<u8> = (0..length).map(|i| i as u8).collect();
            let sealed = encrypt(&plain, &[identity.recipient()]).unwrap();
            assert_eq!(decrypt(&sealed, std::slice::from_ref(&identity)).unwrap(), plain, "{length}");
        }
    }

    #[test]
    fn changes_cuts_and_wrong_keys_are_refused() {
        let identity = Identity::generate().unwrap();
        let keys = [identity.clone()];
        let sealed = encrypt(b"secret", &[identity.recipient()]).unwrap();
        assert_eq!(decrypt(&sealed, &[Identity::generate().unwrap()]), Err(AgeError::NoKey(1)));
        for index in (0..sealed.len()).step_by(5) {
            let mut changed = sealed.clone();
            changed[index] ^= 1;
            assert!(decrypt(&changed, &keys).is_err(), "byte {index} of {}", sealed.len());
            assert!(decrypt(&sealed[..index], &keys).is_err(), "cut at {index}");
        }
        assert_eq!(decrypt(b"hello", &keys), Err(AgeError::NotAge));
    }

    /// The key of the test kit that the implementations of age share.
    #[test]
    fn keys_round_trip_through_their_text() {
        let identity =
            Identity::parse("AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX")
                .unwrap();
        assert_eq!(
            identity.recipient().to_string(),
            "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj"
        );
        assert_eq!(
            Identity::parse(&identity.to_secret_text()).unwrap().to_secret_text(),
            identity.to_secret_text()
        );
        assert!(Recipient::parse("age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj").is_some());
        assert!(Recipient::parse("age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwk").is_none());
    }
}
