//! The cluster's own certificate authority, keys and token.

use std::fs;
use std::io::Write as _;
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SanType,
};
use thiserror::Error;

/// Why the keys are not there.
#[derive(Debug, Error)]
pub enum PkiError {
    /// A file could not be read or written.
    #[error("the cluster's key file {path} cannot be used: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A key or certificate could not be made or read.
    #[error("the cluster's certificates cannot be made: {0}; `podsmith cluster reset` makes new ones")]
    Certificate(#[from] rcgen::Error),
}

/// Keys of one cluster.
#[derive(Debug)]
pub struct Pki {
    ca_key: KeyPair,
    /// Certificate of the authority.
    pub ca_pem: String,
    /// Key that signs service-account tokens, PKCS#8.
    pub token_key: Vec<u8>,
    /// The administrator's token.
    pub admin_token: String,
}

/// A certificate with its key, both PEM.
#[derive(Clone, Debug)]
pub struct Issued {
    /// The certificate.
    pub certificate: String,
    /// The key.
    pub key: String,
}

impl Pki {
    /// New keys that live in memory.
    ///
    /// # Errors
    ///
    /// When the system gives no randomness.
    pub fn generate() -> Result<Self, PkiError> {
        let ca_key = KeyPair::generate()?;
        let ca_pem = authority().self_signed(&ca_key)?.pem();
        let token_key = KeyPair::generate()?.serialize_der();
        Ok(Self { ca_key, ca_pem, token_key, admin_token: random_token() })
    }

    /// The keys of a data directory, made when it is new.
    ///
    /// # Errors
    ///
    /// When a file cannot be read, written or understood.
    pub fn open(directory: &Path) -> Result<Self, PkiError> {
        let at = |name: &str| directory.join(name);
        if !at("ca.crt").exists() {
            let new = Self::generate()?;
            let failed = |path: &Path| {
                let path = path.to_owned();
                move |source| PkiError::File { path, source }
            };
            fs::create_dir_all(directory).map_err(failed(directory))?;
            let token_key = pem("PRIVATE KEY", &new.token_key);
            for (name, text) in [
                ("ca.key", new.ca_key.serialize_pem().as_str()),
                ("sa.key", token_key.as_str()),
                ("token", new.admin_token.as_str()),
                // Last: its presence says that the others are there.
                ("ca.crt", new.ca_pem.as_str()),
            ] {
                let path = at(name);
                write_private(&path, text).map_err(failed(&path))?;
            }
            return Ok(new);
        }
        let read = |name: &str| {
            let path = at(name);
            fs::read_to_string(&path).map_err(|source| PkiError::File { path, source })
        };
        Ok(Self {
            ca_key: KeyPair::from_pem(&read("ca.key")?)?,
            ca_pem: read("ca.crt")?,
            token_key: KeyPair::from_pem(&read("sa.key")?)?.serialize_der(),
            admin_token: read("token")?.trim().to_owned(),
        })
    }

    /// A certificate for the server at these addresses.
    ///
    /// # Errors
    ///
    /// When it cannot be signed.
    pub fn server(&self, addresses: &[IpAddr], names: &[&str]) -> Result<Issued, PkiError> {
        let mut params = CertificateParams::new(names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>())?;
        params.subject_alt_names.extend(addresses.iter().map(|address| SanType::IpAddress(*address)));
        params.distinguished_name.push(DnType::CommonName, "podsmith");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.issue(params)
    }

    /// A certificate for a user: the common name is the user, organizations are groups.
    ///
    /// # Errors
    ///
    /// When it cannot be signed.
    pub fn client(&self, user: &str, group: &str) -> Result<Issued, PkiError> {
        let mut params = CertificateParams::default();
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, user);
        params.distinguished_name.push(DnType::OrganizationName, group);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.issue(params)
    }

    fn issue(&self, mut params: CertificateParams) -> Result<Issued, PkiError> {
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment];
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate()?;
        let authority = authority();
        let issuer = Issuer::from_params(&authority, &self.ca_key);
        let certificate = params.signed_by(&key, &issuer)?;
        Ok(Issued { certificate: certificate.pem(), key: key.serialize_pem() })
    }
}

/// The authority's certificate; the same each time, so that it can issue without being parsed.
fn authority() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, "podsmith-ca");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages =
        vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::CrlSign];
    params
}

fn random_token() -> String {
    let mut bytes = uuid::Uuid::new_v4().as_bytes().to_vec();
    bytes.extend_from_slice(uuid::Uuid::new_v4().as_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    let lines: Vec<&str> =
        text.as_bytes().chunks(64).filter_map(|line| std::str::from_utf8(line).ok()).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

/// Writes a file only its owner can read, whole or not at all.
pub fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let new = path.with_file_name(name);
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&new, path)
}
