//! Certificates.

use std::net::IpAddr;

use podsmith_object::{Value as Json, json};
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose,
    IsCa, Issuer, KeyUsagePurpose, SanType, SerialNumber,
};

use super::keys::{self, PrivateKey, decode_pem, generate_rsa};
use super::strings::base64_decode;
use crate::args::{Out, Table, any, bytes, int, text};
use crate::error::CallError;
use crate::format;
use crate::function::Parameter::{self, Int as I, List as L, String as S};
use crate::native::Native;
use crate::render::Renderer;
use crate::value::Value;

const C: Parameter = Parameter::Native("sprig.certificate");

pub(super) const TABLE: Table = &[
    ("genPrivateKey", &[S], None, |r, a| Ok(keys::generate_pem(&mut r.random, &text(a, 0)).into())),
    ("buildCustomCert", &[S, S], None, |_, a| custom(bytes(a, 0), bytes(a, 1))),
    ("genCA", &[S, I], None, |r, a| {
        let key = new_key(r)?;
        authority(r, &text(a, 0), int(a, 1), key)
    }),
    ("genCAWithKey", &[S, I, S], None, |r, a| {
        let key = given_key(&text(a, 2))?;
        authority(r, &text(a, 0), int(a, 1), key)
    }),
    ("genSelfSignedCert", &[S, L, L, I], None, |r, a| {
        // A new key is expensive; look at the names before making one.
        alternative_names(a)?;
        let key = new_key(r)?;
        self_signed(r, a, key)
    }),
    ("genSelfSignedCertWithKey", &[S, L, L, I, S], None, |r, a| self_signed(r, a, given_key(&text(a, 4))?)),
    ("genSignedCert", &[S, L, L, I, C], None, |r, a| {
        alternative_names(a)?;
        let key = new_key(r)?;
        signed(r, a, key)
    }),
    ("genSignedCertWithKey", &[S, L, L, I, C, S], None, |r, a| signed(r, a, given_key(&text(a, 5))?)),
];

/// A certificate and its key, both as PEM.
struct Pair {
    cert: String,
    key: String,
}

impl Native for Pair {
    fn type_name(&self) -> &str {
        "sprig.certificate"
    }

    fn field(&self, name: &str) -> Option<Value> {
        match name {
            "Cert" => Some(self.cert.as_str().into()),
            "Key" => Some(self.key.as_str().into()),
            _ => None,
        }
    }

    fn print(&self) -> String {
        format!("{{{} {}}}", self.cert, self.key)
    }

    fn to_json(&self) -> Json {
        json!({"Cert": self.cert, "Key": self.key})
    }
}

fn new_key(renderer: &mut Renderer<'_>) -> Result<PrivateKey, CallError> {
    generate_rsa(&mut renderer.random, 2048)
        .map_err(|reason| format!("error generating rsa key: {reason}").into())
}

fn given_key(pem: &str) -> Result<PrivateKey, CallError> {
    keys::parse(pem).map_err(|reason| format!("parsing private key: {reason}").into())
}

/// The parts that all certificates share.
fn parameters(renderer: &mut Renderer<'_>, name: &str, days: i64) -> Result<CertificateParams, CallError> {
    let mut parameters = CertificateParams::default();
    let mut serial = [0; 16];
    renderer.random.fill(&mut serial);
    // A serial number is positive.
    serial[0] &= 0x7f;
    parameters.serial_number = Some(SerialNumber::from_slice(&serial));
    parameters.distinguished_name = DistinguishedName::new();
    parameters.distinguished_name.push(DnType::CommonName, name);
    let now = renderer.now().as_second();
    let moment = |seconds: i64| {
        // The certificate library counts from its own reference date.
        let epoch = rcgen::date_time_ymd(1970, 1, 1);
        epoch
            .checked_add(
                std::time::Duration::from_secs(u64::try_from(seconds).unwrap_or(0))
                    .try_into()
                    .unwrap_or_default(),
            )
            .ok_or_else(|| CallError::from("the validity is out of range"))
    };
    parameters.not_before = moment(now)?;
    parameters.not_after = moment(now.saturating_add(days.saturating_mul(86_400)))?;
    parameters.key_usages = vec![KeyUsagePurpose::KeyEncipherment, KeyUsagePurpose::DigitalSignature];
    parameters.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    parameters.is_ca = IsCa::ExplicitNoCa;
    Ok(parameters)
}

fn authority(renderer: &mut Renderer<'_>, name: &str, days: i64, key: PrivateKey) -> Out {
    let mut parameters = parameters(renderer, name, days)?;
    parameters.key_usages.push(KeyUsagePurpose::KeyCertSign);
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    finish(parameters.self_signed(&key.pair), key)
}

fn finish(made: Result<Certificate, rcgen::Error>, key: PrivateKey) -> Out {
    let certificate =
        made.map_err(|error| CallError::from(format!("error creating certificate: {error}")))?;
    Ok(Value::native(Pair { cert: keys::pem("CERTIFICATE", certificate.der()), key: key.pem }))
}

/// The addresses and names that the certificate is for.
fn alternative_names(a: &[Value]) -> Result<Vec<SanType>, CallError> {
    let mut names = Vec::new();
    for address in any(a, 1).as_list().unwrap_or(&[]) {
        let Some(text) = address.as_str() else {
            return Err(format!("error parsing ip: {} is not a string", format::to_string(address)).into());
        };
        let parsed: IpAddr =
            text.parse().map_err(|_| CallError::from(format!("error parsing ip: {text}")))?;
        names.push(SanType::IpAddress(parsed));
    }
    for name in any(a, 2).as_list().unwrap_or(&[]) {
        let Some(text) = name.as_str() else {
            let shown = format::to_string(name);
            return Err(format!("error processing alternate dns name: {shown} is not a string").into());
        };
        let name = text
            .try_into()
            .map_err(|_| CallError::from(format!("x509: {text:?} cannot be encoded as an IA5String")))?;
        names.push(SanType::DnsName(name));
    }
    Ok(names)
}

fn for_host(renderer: &mut Renderer<'_>, a: &[Value]) -> Result<CertificateParams, CallError> {
    let names = alternative_names(a)?;
    let mut parameters = parameters(renderer, &text(a, 0), int(a, 3))?;
    parameters.subject_alt_names = names;
    Ok(parameters)
}

fn self_signed(renderer: &mut Renderer<'_>, a: &[Value], key: PrivateKey) -> Out {
    let parameters = for_host(renderer, a)?;
    finish(parameters.self_signed(&key.pair), key)
}

fn signed(renderer: &mut Renderer<'_>, a: &[Value], key: PrivateKey) -> Out {
    let authority = any(a, 4);
    let part = |name: &str| {
        authority.get(name).and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
    };
    let Some((_, der)) = decode_pem(&part("Cert")) else { return Err("unable to decode certificate".into()) };
    let signer = keys::parse(&part("Key"))
        .map_err(|reason| CallError::from(format!("error parsing private key: {reason}")))?;
    let issuer = Issuer::from_ca_cert_der(&der.into(), signer.pair).map_err(|error| {
        CallError::from(format!("error parsing certificate: decodedSignerCert.Bytes: {error}"))
    })?;
    let mut parameters = for_host(renderer, a)?;
    parameters.use_authority_key_identifier_extension = true;
    finish(parameters.signed_by(&key.pair, &issuer), key)
}

fn custom(cert: &[u8], key: &[u8]) -> Out {
    let cert = base64_decode(cert).map_err(|_| CallError::from("unable to decode base64 certificate"))?;
    let key = base64_decode(key).map_err(|_| CallError::from("unable to decode base64 private key"))?;
    let (cert, key) = (String::from_utf8_lossy(&cert), String::from_utf8_lossy(&key));
    if decode_pem(&cert).is_none() {
        return Err("unable to decode certificate".into());
    }
    keys::parse(&key).map_err(|reason| CallError::from(format!("error parsing private key: {reason}")))?;
    Ok(Value::native(Pair { cert: cert.into_owned(), key: key.into_owned() }))
}
