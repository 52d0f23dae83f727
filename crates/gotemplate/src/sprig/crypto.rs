//! Hashes, passwords and ciphers.

use aes::Aes256;
use aes::cipher::block_padding::{NoPadding, Pkcs7};
use aes::cipher::{BlockDecryptMut as _, BlockEncryptMut as _, KeyIvInit as _};
use base64::Engine as _;
use ring::{digest, hmac};

use super::strings::base64_decode;
use crate::args::{self, Out, Table, any, bytes, int, text};
use crate::error::CallError;
use crate::function::Parameter::{Int as I, String as S, Uint32 as U};
use crate::render::Renderer;
use crate::value::Value;

pub(super) const TABLE: Table = &[
    ("sha1sum", &[S], None, |_, a| Ok(hash(&digest::SHA1_FOR_LEGACY_USE_ONLY, bytes(a, 0)))),
    ("sha256sum", &[S], None, |_, a| Ok(hash(&digest::SHA256, bytes(a, 0)))),
    ("sha512sum", &[S], None, |_, a| Ok(hash(&digest::SHA512, bytes(a, 0)))),
    ("adler32sum", &[S], None, |_, a| Ok(adler32(bytes(a, 0)).to_string().into())),
    ("bcrypt", &[S], None, |r, a| Ok(bcrypt(r, bytes(a, 0)).into())),
    ("htpasswd", &[S, S], None, |r, a| {
        let name = text(a, 0);
        if name.contains(':') {
            return Ok(format!("invalid username: {name}").into());
        }
        Ok(format!("{name}:{}", bcrypt(r, bytes(a, 1))).into())
    }),
    ("randBytes", &[I], None, |r, a| {
        let count = usize::try_from(int(a, 0))
            .map_err(|_| CallError::from("runtime error: makeslice: len out of range"))?;
        args::check_size(r, count)?;
        let mut out = vec![0; count];
        r.random.fill(&mut out);
        Ok(base64::engine::general_purpose::STANDARD.encode(out).into())
    }),
    ("uuidv4", &[], None, |r, _| {
        let mut out = [0u8; 16];
        r.random.fill(&mut out);
        Ok(uuid::Builder::from_random_bytes(out).into_uuid().to_string().into())
    }),
    ("derivePassword", &[U, S, S, S, S], None, |_, a| {
        let counter = if let Value::Int(number, _) = any(a, 0) { *number } else { 0 };
        Ok(derive(
            u32::try_from(counter).unwrap_or(u32::MAX),
            &text(a, 1),
            bytes(a, 2),
            bytes(a, 3),
            bytes(a, 4),
        )
        .into())
    }),
    ("encryptAES", &[S, S], None, |r, a| encrypt(r, bytes(a, 0), bytes(a, 1))),
    ("decryptAES", &[S, S], None, |_, a| decrypt(bytes(a, 0), bytes(a, 1))),
];

fn hash(algorithm: &'static digest::Algorithm, data: &[u8]) -> Value {
    hex::encode(digest::digest(algorithm, data)).into()
}

fn adler32(data: &[u8]) -> u32 {
    let (mut a, mut b) = (1u32, 0u32);
    for byte in data {
        a = (a + u32::from(*byte)) % 65521;
        b = (b + a) % 65521;
    }
    b << 16 | a
}

fn bcrypt(renderer: &mut Renderer<'_>, password: &[u8]) -> String {
    const COST: u32 = 10;
    if password.len() > 72 {
        return "failed to encrypt string with bcrypt: bcrypt: password length exceeds 72 bytes".to_owned();
    }
    let mut salt = [0u8; 16];
    renderer.random.fill(&mut salt);
    match bcrypt::hash_with_salt(password, COST, salt) {
        Ok(parts) => parts.format_for_version(bcrypt::Version::TwoA),
        Err(error) => format!("failed to encrypt string with bcrypt: {error}"),
    }
}

const VOWELS: &[u8] = b"aeiou";
const UPPER_CONSONANTS: &[u8] = b"BCDFGHJKLMNPQRSTVWXYZ";
const CONSONANTS: &[u8] = b"bcdfghjklmnpqrstvwxyz";
const LETTERS: &[u8] = b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz";
const DIGITS: &[u8] = b"0123456789";
const OTHERS: &[u8] = b"@&%?,=[]_:-+*$#!'^~;()/.";
const ALL: &[u8] = b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz0123456789!@#$%^&*()";

/// The shapes of passwords of one kind.
fn shapes(kind: &str) -> &'static [&'static str] {
    match kind {
        "maximum" => &["anoxxxxxxxxxxxxxxxxx", "axxxxxxxxxxxxxxxxxno"],
        "long" => &[
            "CvcvnoCvcvCvcv",
            "CvcvCvcvnoCvcv",
            "CvcvCvcvCvcvno",
            "CvccnoCvcvCvcv",
            "CvccCvcvnoCvcv",
            "CvccCvcvCvcvno",
            "CvcvnoCvccCvcv",
            "CvcvCvccnoCvcv",
            "CvcvCvccCvcvno",
            "CvcvnoCvcvCvcc",
            "CvcvCvcvnoCvcc",
            "CvcvCvcvCvccno",
            "CvccnoCvccCvcv",
            "CvccCvccnoCvcv",
            "CvccCvccCvcvno",
            "CvcvnoCvccCvcc",
            "CvcvCvccnoCvcc",
            "CvcvCvccCvccno",
            "CvccnoCvcvCvcc",
            "CvccCvcvnoCvcc",
            "CvccCvcvCvccno",
        ],
        "medium" => &["CvcnoCvc", "CvcCvcno"],
        "short" => &["Cvcn"],
        "basic" => &["aaanaaan", "aannaaan", "aaannaaa"],
        "pin" => &["nnnn"],
        _ => &[],
    }
}

/// The Master Password algorithm.
fn derive(counter: u32, kind: &str, password: &[u8], user: &[u8], site: &[u8]) -> String {
    const SCOPE: &[u8] = b"com.lyndir.masterpassword";
    let shapes = shapes(kind);
    if shapes.is_empty() {
        return format!("cannot find password template {kind}");
    }
    let length = |text: &[u8]| u32::try_from(text.len()).unwrap_or(u32::MAX).to_be_bytes();
    let salt = [SCOPE, &length(user), user].concat();
    let mut key = [0u8; 64];
    let derived = scrypt::Params::new(15, 8, 2, 64)
        .map(|parameters| scrypt::scrypt(password, &salt, &parameters, &mut key));
    if !matches!(derived, Ok(Ok(()))) {
        return "failed to derive password".to_owned();
    }
    let message = [SCOPE, &length(site), site, &counter.to_be_bytes()].concat();
    let seed = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key), &message);
    let mut seed = seed.as_ref().iter().map(|byte| usize::from(*byte));
    let shape = shapes[seed.next().unwrap_or(0) % shapes.len()];
    shape
        .chars()
        .zip(seed)
        .map(|(class, number)| {
            let characters = match class {
                'C' => UPPER_CONSONANTS,
                'v' => VOWELS,
                'c' => CONSONANTS,
                'a' => LETTERS,
                'n' => DIGITS,
                'o' => OTHERS,
                _ => ALL,
            };
            char::from(characters[number % characters.len()])
        })
        .collect()
}

fn aes_key(password: &[u8]) -> [u8; 32] {
    let mut key = [0u8; 32];
    for (slot, byte) in key.iter_mut().zip(password) {
        *slot = *byte;
    }
    key
}

fn encrypt(renderer: &mut Renderer<'_>, password: &[u8], plain: &[u8]) -> Out {
    if plain.is_empty() {
        return Ok("".into());
    }
    let mut iv = [0u8; 16];
    renderer.random.fill(&mut iv);
    let cipher = cbc::Encryptor::<Aes256>::new(&aes_key(password).into(), &iv.into());
    let sealed = [iv.to_vec(), cipher.encrypt_padded_vec_mut::<Pkcs7>(plain)].concat();
    Ok(base64::engine::general_purpose::STANDARD.encode(sealed).into())
}

fn decrypt(password: &[u8], given: &[u8]) -> Out {
    if given.is_empty() {
        return Ok("".into());
    }
    let sealed = base64_decode(given)?;
    let Some((iv, body)) = sealed.split_first_chunk::<16>() else {
        return Err("runtime error: slice bounds out of range".into());
    };
    let cipher = cbc::Decryptor::<Aes256>::new(&aes_key(password).into(), &(*iv).into());
    let plain = cipher
        .decrypt_padded_vec_mut::<NoPadding>(body)
        .map_err(|_| CallError::from("crypto/cipher: input not full blocks"))?;
    let padding = plain.last().map_or(0, |byte| usize::from(*byte));
    match plain.len().checked_sub(padding) {
        Some(length) => Ok(Value::string_from_bytes(plain[..length].to_vec())),
        None => Err("runtime error: slice bounds out of range".into()),
    }
}
