//! Repositories with both ends in memory: what is asked, with which credentials, and what is believed.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use podsmith_helm::Chart;
use podsmith_helm::repository::{
    Credentials, Fetch, FetchError, Locator, Login, MemoryCache, Reference, RepositoryError, Request,
    Response, lock_digest,
};
use podsmith_object::files::MemoryFiles;
use podsmith_object::json;
use sha2::{Digest, Sha256};

/// A network of fixed answers that remembers what was asked.
#[derive(Default)]
struct Net {
    answers: BTreeMap<String, Response>,
    asked: Mutex<Vec<(String, Option<String>)>>,
}

impl Net {
    fn with(mut self, url: &str, status: u16, body: impl AsRef<[u8]>) -> Self {
        let response = Response { status, headers: Vec::new(), body: body.as_ref().to_vec() };
        self.answers.insert(url.to_owned(), response);
        self
    }

    fn with_header(mut self, url: &str, name: &str, value: &str) -> Self {
        let answer = self.answers.get_mut(url).unwrap();
        answer.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    fn asked(&self) -> Vec<(String, Option<String>)> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

impl Fetch for Net {
    fn fetch(&self, request: &Request) -> Result<Response, FetchError> {
        let url = request.address.to_string();
        let authorization = request.headers.iter().find(|(name, _)| name == "authorization");
        let authorization = authorization.map(|(_, value)| value.clone());
        self.asked.lock().unwrap().push((url.clone(), authorization.clone()));
        // A protected address is written with its credentials in front.
        let protected = authorization.and_then(|value| self.answers.get(&format!("{value} {url}")));
        match protected.or_else(|| self.answers.get(&url)) {
            Some(answer) => Ok(answer.clone()),
            None => Ok(Response { status: 404, ..Response::default() }),
        }
    }
}

fn archive(name: &str, version: &str) -> Vec<u8> {
    let encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut builder = tar::Builder::new(encoder);
    let text = format!("apiVersion: v2\nname: {name}\nversion: {version}\n");
    let mut header = tar::Header::new_gnu();
    header.set_size(text.len() as u64);
    header.set_mode(0o644);
    header.set_cksum();
    builder.append_data(&mut header, format!("{name}/Chart.yaml"), text.as_bytes()).unwrap();
    builder.into_inner().unwrap().finish().unwrap()
}

fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

fn index(digest: &str, url: &str) -> String {
    format!("apiVersion: v1\nentries:\n  web:\n  - {{version: 1.0.0, urls: ['{url}'], digest: '{digest}'}}\n")
}

fn web(url: &str) -> Reference {
    Reference::in_repository(url, "web").unwrap()
}

#[test]
fn a_chart_comes_from_an_index_by_a_relative_address_and_is_checked() {
    let bytes = archive("web", "1.0.0");
    let net = Net::default()
        .with("https://charts.example/stable/index.yaml", 200, index(&sha256(&bytes), "pool/web-1.0.0.tgz"))
        .with("https://charts.example/stable/pool/web-1.0.0.tgz", 200, &bytes);
    let cache = MemoryCache::default();
    let mut locator = Locator::new(&net, &cache);

    let found = locator.locate(&web("https://charts.example/stable"), "^1").unwrap();
    assert_eq!(found.version.as_deref(), Some("1.0.0"));
    assert_eq!(found.load().unwrap().name(), "web");

    net.asked();
    locator.offline = true;
    assert_eq!(locator.locate(&web("https://charts.example/stable"), "").unwrap().digest, found.digest);
    assert!(net.asked().is_empty(), "offline asks nobody");
}

#[test]
fn an_archive_that_does_not_fit_its_digest_is_refused_and_not_kept() {
    let net = Net::default()
        .with("https://a.example/index.yaml", 200, index(&"0".repeat(64), "web.tgz"))
        .with("https://a.example/web.tgz", 200, archive("web", "1.0.0"));
    let cache = MemoryCache::default();
    let mut locator = Locator::new(&net, &cache);
    let error = locator.locate(&web("https://a.example"), "").unwrap_err();
    assert!(matches!(error, RepositoryError::Digest { .. }), "{error}");
    locator.offline = true;
    assert!(matches!(locator.locate(&web("https://a.example"), ""), Err(RepositoryError::Offline { .. })));
}

#[test]
fn credentials_go_to_their_own_origin_only() {
    let bytes = archive("web", "1.0.0");
    let net = Net::default()
        .with("https://a.example/index.yaml", 200, index("", "https://elsewhere.example/web.tgz"))
        .with("https://elsewhere.example/web.tgz", 200, &bytes)
        .with("https://a.example/moved.tgz", 302, "")
        .with_header("https://a.example/moved.tgz", "location", "https://elsewhere.example/web.tgz");
    let cache = MemoryCache::default();
    let mut locator = Locator::new(&net, &cache);
    let login = Login::Password { user: "user".into(), password: "pass".into() };
    locator.credentials.insert("a.example", login.clone());
    locator.credentials.insert("elsewhere.example", login);

    locator.locate(&web("https://a.example"), "").unwrap();
    let basic = Some("Basic dXNlcjpwYXNz".to_owned());
    assert_eq!(
        net.asked(),
        [
            ("https://a.example/index.yaml".to_owned(), basic.clone()),
            ("https://elsewhere.example/web.tgz".to_owned(), None)
        ]
    );

    locator.locate(&Reference::parse("https://a.example/moved.tgz").unwrap(), "").unwrap();
    assert_eq!(
        net.asked(),
        [
            ("https://a.example/moved.tgz".to_owned(), basic),
            ("https://elsewhere.example/web.tgz".to_owned(), None)
        ]
    );
}

#[test]
fn what_is_not_there_is_named() {
    let net = Net::default().with("https://a.example/index.yaml", 200, index("", "web.tgz"));
    let cache = MemoryCache::default();
    let locator = Locator::new(&net, &cache);
    let say = |reference: &Reference, range: &str| {
        locator.locate(reference, range).unwrap_err().to_diagnostic().to_string()
    };
    let other = Reference::in_repository("https://a.example", "other").unwrap();
    insta::assert_snapshot!(say(&other, ""), @"error: repository https://a.example has no chart `other`");
    insta::assert_snapshot!(say(&web("https://a.example"), ">2"), @r"
    error: https://a.example: no version of `web` fits `>2`
    hint: pre-releases need a range such as `>=1.0.0-0`
    ");
    insta::assert_snapshot!(say(&web("https://a.example"), ""), @"error: https://a.example/web.tgz answered with status 404");
}

/// A registry that wants a token, has two pages of tags and one chart.
fn registry(bytes: &[u8]) -> Net {
    let manifest = json!({
        "schemaVersion": 2,
        "config": {"mediaType": "application/vnd.cncf.helm.config.v1+json", "digest": "sha256:0"},
        "layers": [
            {"mediaType": "application/vnd.cncf.helm.chart.provenance.v1.prov", "digest": "sha256:1"},
            {"mediaType": "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
             "digest": format!("sha256:{}", sha256(bytes))},
        ],
    })
    .to_string();
    let base = "https://registry.example/v2/team/web";
    let challenge = r#"Bearer realm="https://auth.example/token",service="registry.example",scope="repository:team/web:pull""#;
    let mut net = Net::default()
        .with(
            "Basic dXNlcjpwYXNz https://auth.example/token?service=registry.example&scope=repository%3Ateam%2Fweb%3Apull",
            200,
            r#"{"token": "t"}"#,
        )
        .with(&format!("Bearer t {base}/tags/list?n=1000"), 200, r#"{"tags": ["1.0.0", "latest", "3.0.0-rc.1"]}"#)
        .with_header(&format!("Bearer t {base}/tags/list?n=1000"), "link", r#"</v2/team/web/tags/list?last=x>; rel="next""#)
        .with(&format!("Bearer t {base}/tags/list?last=x"), 200, r#"{"tags": ["2.0.0_build.1", "1.9.0"]}"#)
        .with(&format!("Bearer t {base}/manifests/2.0.0_build.1"), 200, &manifest)
        .with(&format!("Bearer t {base}/blobs/sha256:{}", sha256(bytes)), 200, bytes);
    for tail in ["tags/list?n=1000", "manifests/2.0.0_build.1"] {
        let url = format!("{base}/{tail}");
        net = net.with(&url, 401, "").with_header(&url, "www-authenticate", challenge);
    }
    net
}

#[test]
fn a_chart_comes_from_a_registry_with_a_token_and_the_newest_tag() {
    let bytes = archive("web", "2.0.0+build.1");
    let net = registry(&bytes);
    let cache = MemoryCache::default();
    let mut locator = Locator::new(&net, &cache);
    locator.credentials =
        Credentials::from_docker_config(r#"{"auths": {"registry.example": {"auth": "dXNlcjpwYXNz"}}}"#)
            .unwrap();
    let reference = Reference::parse("oci://registry.example/team/web").unwrap();

    let newest = locator.locate(&reference, "").unwrap();
    assert_eq!(newest.version.as_deref(), Some("2.0.0+build.1"));
    assert_eq!(locator.locate(&reference, "2.0.0+build.1").unwrap().digest, newest.digest);

    locator.offline = true;
    net.asked();
    assert_eq!(locator.locate(&reference, "").unwrap().bytes, bytes);
    assert!(net.asked().is_empty());
    assert!(matches!(locator.locate(&reference, "~1.0"), Err(RepositoryError::Offline { .. })));
}

#[test]
fn a_registry_that_gives_other_bytes_is_not_believed() {
    let bytes = archive("web", "2.0.0+build.1");
    let mut net = registry(&bytes);
    let blob = format!("Bearer t https://registry.example/v2/team/web/blobs/sha256:{}", sha256(&bytes));
    net.answers.get_mut(&blob).unwrap().body = archive("evil", "2.0.0");
    let cache = MemoryCache::default();
    let mut locator = Locator::new(&net, &cache);
    let login = Login::Password { user: "user".into(), password: "pass".into() };
    locator.credentials.insert("registry.example", login);
    let reference = Reference::parse("oci://registry.example/team/web:2.0.0_build.1").unwrap();
    assert!(matches!(locator.locate(&reference, ""), Err(RepositoryError::Digest { .. })));
    assert!(matches!(locator.locate(&reference, "1.x"), Err(RepositoryError::Reference { .. })));
}

fn parent(repository: &str, version: &str, lock: Option<&str>) -> Arc<Chart> {
    let text = format!(
        "apiVersion: v2\nname: parent\nversion: 1.0.0\ndependencies:\n- {{name: web, version: '{version}', repository: '{repository}'}}\n"
    );
    let mut files = MemoryFiles::new().with("parent/Chart.yaml", text);
    if let Some(lock) = lock {
        files.insert("parent/Chart.lock", lock);
    }
    Chart::load_dir(&files, "parent").unwrap()
}

#[test]
fn dependencies_are_fetched_from_repositories_and_from_files_nearby() {
    let net = Net::default().with("https://a.example/index.yaml", 200, index("", "web.tgz")).with(
        "https://a.example/web.tgz",
        200,
        archive("web", "1.0.0"),
    );
    let cache = MemoryCache::default();
    let mut locator = Locator::new(&net, &cache);
    locator.repositories.insert("mine".to_owned(), "https://a.example".to_owned());
    let files = MemoryFiles::new().with("web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.5.0\n");
    for (repository, version) in
        [("https://a.example", "1.0.0"), ("@mine", "1.0.0"), ("file://../web", "1.5.0")]
    {
        let chart = parent(repository, "1.x", None);
        let whole = locator.with_dependencies(&chart, &files, "parent").unwrap();
        assert_eq!(whole.subcharts()[0].metadata().version, version, "{repository}");
        assert!(chart.subcharts().is_empty(), "the chart itself does not change");
    }
    let outside = parent("file://../../../etc", "1.x", None);
    assert!(locator.with_dependencies(&outside, &files, "parent").is_err());
}

#[test]
fn a_lock_file_fixes_versions_and_must_belong_to_the_dependencies() {
    let repository = "https://a.example";
    let text = "apiVersion: v1\nentries:\n  web:\n  - {version: 1.0.0, urls: [web-1.0.0.tgz]}\n  - {version: 1.1.0, urls: [web-1.1.0.tgz]}\n";
    let net = Net::default()
        .with("https://a.example/index.yaml", 200, text)
        .with("https://a.example/web-1.0.0.tgz", 200, archive("web", "1.0.0"))
        .with("https://a.example/web-1.1.0.tgz", 200, archive("web", "1.1.0"));
    let cache = MemoryCache::default();
    let locator = Locator::new(&net, &cache);
    let files = MemoryFiles::new();

    let unlocked = parent(repository, ">=1.0.0", None);
    let found = locator.dependencies(&unlocked, &files, "").unwrap();
    assert_eq!(found[0].version, "1.1.0");

    let declared = unlocked.metadata().dependencies.clone().unwrap();
    let mut locked = declared.clone();
    locked[0].version = "1.0.0".to_owned();
    let digest = lock_digest(&declared, &locked);
    let lock = format!(
        "dependencies:\n- {{name: web, repository: '{repository}', version: 1.0.0}}\ndigest: {digest}\ngenerated: '2020-01-01T00:00:00Z'\n"
    );
    let chart = parent(repository, ">=1.0.0", Some(&lock));
    assert_eq!(locator.dependencies(&chart, &files, "").unwrap()[0].version, "1.0.0");

    let changed = parent(repository, ">=1.0.1", Some(&lock));
    assert!(matches!(locator.dependencies(&changed, &files, ""), Err(RepositoryError::LockOutOfSync { .. })));
}
