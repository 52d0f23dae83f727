//! Private keys: made, read and written in the forms that Go's crypto packages use.

use base64::Engine as _;
use rcgen::{
    KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384, PKCS_ED25519, PKCS_RSA_SHA256,
    SignatureAlgorithm,
};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair};
use rsa::RsaPrivateKey;
use rsa::pkcs1::{DecodeRsaPrivateKey as _, EncodeRsaPrivateKey as _};
use rsa::pkcs8::EncodePrivateKey as _;

use crate::random::Random;

/// A private key as PEM and ready to sign.
pub(super) struct PrivateKey {
    pub pem: String,
    pub pair: KeyPair,
}

impl rsa::rand_core::RngCore for Random {
    fn next_u32(&mut self) -> u32 {
        let mut bytes = [0; 4];
        self.fill(&mut bytes);
        u32::from_be_bytes(bytes)
    }

    fn next_u64(&mut self) -> u64 {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        u64::from_be_bytes(bytes)
    }

    fn fill_bytes(&mut self, out: &mut [u8]) {
        self.fill(out);
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), rsa::rand_core::Error> {
        self.fill(out);
        Ok(())
    }
}

impl rsa::rand_core::CryptoRng for Random {}

/// A new RSA key. Its signatures do not depend on chance, so that a seed fixes certificates too.
pub(super) fn generate_rsa(random: &mut Random, bits: usize) -> Result<PrivateKey, String> {
    let key = RsaPrivateKey::new(random, bits).map_err(|error| error.to_string())?;
    let der = key.to_pkcs1_der().map_err(|error| error.to_string())?;
    from_rsa(&key, pem("RSA PRIVATE KEY", der.as_bytes()))
}

fn from_rsa(key: &RsaPrivateKey, pem: String) -> Result<PrivateKey, String> {
    let der = key.to_pkcs8_der().map_err(|error| error.to_string())?;
    Ok(PrivateKey { pem, pair: pair(der.as_bytes(), &PKCS_RSA_SHA256)? })
}

fn pair(der: &[u8], algorithm: &'static SignatureAlgorithm) -> Result<KeyPair, String> {
    KeyPair::from_pkcs8_der_and_sign_algo(&der.into(), algorithm).map_err(|error| error.to_string())
}

/// What `genPrivateKey` gives for a kind of key.
pub(super) fn generate_pem(random: &mut Random, kind: &str) -> String {
    let made = match kind {
        "" | "rsa" => generate_rsa(random, 4096).map(|key| key.pem),
        "ecdsa" => generate_ec(),
        "ed25519" => {
            let mut seed = [0; 32];
            random.fill(&mut seed);
            Ok(pem("PRIVATE KEY", &[ED25519_HEADER, &seed[..]].concat()))
        }
        "dsa" => Err("DSA keys are not supported".to_owned()),
        other => return format!("Unknown type {other}"),
    };
    made.unwrap_or_else(|reason| format!("failed to generate private key: {reason}"))
}

/// PKCS #8 around a bare Ed25519 seed.
const ED25519_HEADER: &[u8] = &[0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];

/// The object identifiers of an elliptic-curve key and of the curves that we can sign with.
const EC_KEY: &[u8] = &[6, 7, 0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1];
const P256: &[u8] = &[6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
const P384: &[u8] = &[6, 5, 0x2b, 0x81, 4, 0, 0x22];

fn generate_ec() -> Result<String, String> {
    let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &SystemRandom::new())
        .map_err(|error| error.to_string())?;
    // PKCS #8 holds version, private scalar and public point; Go writes the same with the curve in between.
    let bytes = document.as_ref();
    let scalar = find(bytes, &[4, 0x20]).and_then(|at| bytes.get(at + 2..at + 34));
    let point = bytes.len().checked_sub(65).and_then(|at| bytes.get(at..));
    let (Some(scalar), Some(point)) = (scalar, point) else { return Err("unexpected key".to_owned()) };
    let body = [
        &[2, 1, 1, 4, 0x20],
        scalar,
        &tagged(0xa0, P256),
        &tagged(0xa1, &tagged(3, &[&[0], point].concat())),
    ]
    .concat();
    Ok(pem("EC PRIVATE KEY", &tagged(0x30, &body)))
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

/// A DER value: tag, length, content.
fn tagged(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len();
    let mut out = vec![tag];
    match u8::try_from(length) {
        Ok(short) if short < 0x80 => out.push(short),
        Ok(long) => out.extend([0x81, long]),
        Err(_) => {
            let bytes = u16::try_from(length).unwrap_or(u16::MAX).to_be_bytes();
            out.extend([0x82, bytes[0], bytes[1]]);
        }
    }
    out.extend_from_slice(content);
    out
}

/// Reads a private key in any PEM form that Go's tools write.
pub(super) fn parse(text: &str) -> Result<PrivateKey, String> {
    let Some((label, der)) = decode_pem(text) else { return Err("no PEM data in input".to_owned()) };
    let own = pem(&label, &der);
    match label.as_str() {
        "PRIVATE KEY" => {
            let algorithm = if find(&der, EC_KEY).is_some() {
                if find(&der, P384).is_some() { &PKCS_ECDSA_P384_SHA384 } else { &PKCS_ECDSA_P256_SHA256 }
            } else if der.starts_with(ED25519_HEADER) {
                &PKCS_ED25519
            } else {
                &PKCS_RSA_SHA256
            };
            let pair = pair(&der, algorithm).map_err(|reason| format!("decoding PEM as PKCS#8: {reason}"))?;
            Ok(PrivateKey { pem: own, pair })
        }
        "RSA PRIVATE KEY" => {
            let key = RsaPrivateKey::from_pkcs1_der(&der)
                .map_err(|error| format!("parsing RSA private key from PEM: {error}"))?;
            from_rsa(&key, own)
        }
        "EC PRIVATE KEY" => {
            let (curve, algorithm) = if find(&der, P384).is_some() {
                (P384, &PKCS_ECDSA_P384_SHA384)
            } else {
                (P256, &PKCS_ECDSA_P256_SHA256)
            };
            let header = tagged(0x30, &[EC_KEY, curve].concat());
            let wrapped = tagged(0x30, &[&[2, 1, 0], &header[..], &tagged(4, &der)].concat());
            let pair = pair(&wrapped, algorithm)
                .map_err(|reason| format!("parsing EC private key from PEM: {reason}"))?;
            Ok(PrivateKey { pem: own, pair })
        }
        other if other.ends_with(" PRIVATE KEY") => Err(format!("invalid private key type {other}")),
        other => Err(format!("no private key data in PEM block of type {other}")),
    }
}

/// Bytes between PEM markers.
pub(super) fn pem(label: &str, der: &[u8]) -> String {
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    let mut out = format!("-----BEGIN {label}-----\n");
    for line in text.as_bytes().chunks(64) {
        out.push_str(&String::from_utf8_lossy(line));
        out.push('\n');
    }
    out.push_str(&format!("-----END {label}-----\n"));
    out
}

/// The first PEM block of a text: its label and its bytes.
pub(super) fn decode_pem(text: &str) -> Option<(String, Vec<u8>)> {
    let (_, after) = text.split_once("-----BEGIN ")?;
    let (label, body) = after.split_once("-----")?;
    let (body, _) = body.split_once(&format!("-----END {label}-----"))?;
    // Headers end with an empty line.
    let body = if body.contains(':') { body.split_once("\n\n").map_or(body, |(_, body)| body) } else { body };
    let clean: String = body.chars().filter(|c| !c.is_whitespace()).collect();
    let der = base64::engine::general_purpose::STANDARD.decode(clean).ok()?;
    Some((label.to_owned(), der))
}
