//! One real control plane for all tests of a file: etcd and kube-apiserver, ended when this process ends.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use kube::config::{
    AuthInfo, Cluster, Context, KubeConfigOptions, Kubeconfig, NamedAuthInfo, NamedCluster, NamedContext,
};
use kube::{Client, Config};

struct Server {
    url: String,
    _directory: tempfile::TempDir,
    // Holds the pipe whose end the processes wait for; see `START`.
    _shell: std::process::Child,
}

static SERVER: OnceLock<Option<Server>> = OnceLock::new();
static WITH_CONTROLLERS: OnceLock<Option<Server>> = OnceLock::new();

/// Starts both programs and ends them when standard input is closed, which happens however the test process ends.
const START: &str = r#"
"$1/etcd" --data-dir etcd --listen-client-urls http://127.0.0.1:$2 --advertise-client-urls http://127.0.0.1:$2 --listen-peer-urls http://127.0.0.1:$3 --initial-advertise-peer-urls http://127.0.0.1:$3 --initial-cluster default=http://127.0.0.1:$3 --unsafe-no-fsync > etcd.log 2>&1 &
a=$!
"$1/kube-apiserver" --etcd-servers=http://127.0.0.1:$2 --bind-address=127.0.0.1 --secure-port=$4 --cert-dir=certs --service-cluster-ip-range=10.0.0.0/16 --token-auth-file=tokens.csv --authorization-mode=RBAC --endpoint-reconciler-type=none --service-account-issuer=https://kubernetes.default.svc --service-account-key-file=sa.pub --service-account-signing-key-file=sa.key > apiserver.log 2>&1 &
b=$!
if [ "$5" = controllers ]; then
  while ! [ -f certs/apiserver.crt ]; do sleep 0.1; done
  "$1/kube-controller-manager" --kubeconfig=kubeconfig --service-account-private-key-file=sa.key --leader-elect=false --bind-address=127.0.0.1 --secure-port=0 --controllers='*,-node-lifecycle-controller' > controllers.log 2>&1 &
  c=$!
fi
cat > /dev/null
kill -9 $c $b $a
wait
"#;

fn oracles() -> PathBuf {
    std::env::var_os("PODSMITH_ORACLES").map_or_else(
        || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache/podsmith-oracles"),
        PathBuf::from,
    )
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .map_or(0, |address| address.port())
}

fn start(bin: &Path, controllers: bool) -> Server {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let key = rcgen::KeyPair::generate().expect("a key");
    std::fs::write(directory.path().join("sa.key"), key.serialize_pem()).expect("the key is written");
    std::fs::write(directory.path().join("sa.pub"), key.public_key_pem()).expect("the key is written");
    std::fs::write(directory.path().join("tokens.csv"), "admintoken,admin,admin-uid,\"system:masters\"\n")
        .expect("the token is written");
    let port = free_port();
    let kubeconfig = format!(
        "{{apiVersion: v1, kind: Config, current-context: c, clusters: [{{name: c, cluster: {{server: 'https://127.0.0.1:{port}', insecure-skip-tls-verify: true}}}}], users: [{{name: u, user: {{token: admintoken}}}}], contexts: [{{name: c, context: {{cluster: c, user: u}}}}]}}"
    );
    std::fs::write(directory.path().join("kubeconfig"), kubeconfig).expect("the kubeconfig is written");
    let shell = Command::new("sh")
        .args(["-c", START, "sh"])
        .arg(bin)
        .args([free_port().to_string(), free_port().to_string(), port.to_string()])
        .arg(if controllers { "controllers" } else { "" })
        .current_dir(directory.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a shell starts");
    Server { url: format!("https://127.0.0.1:{port}"), _directory: directory, _shell: shell }
}

pub async fn client() -> Option<Client> {
    let server = SERVER.get_or_init(|| {
        let bin = oracles();
        (bin.join("etcd").exists() && bin.join("kube-apiserver").exists()).then(|| start(&bin, false))
    });
    connect(&server.as_ref()?.url).await
}

/// A server with controllers and one node that says it is ready.
pub async fn client_with_controllers() -> Option<Client> {
    let server = WITH_CONTROLLERS.get_or_init(|| {
        let bin = oracles();
        let all =
            ["etcd", "kube-apiserver", "kube-controller-manager"].iter().all(|name| bin.join(name).exists());
        all.then(|| start(&bin, true))
    });
    let client = connect(&server.as_ref()?.url).await?;
    let node = r#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"fake"}}"#;
    let request = http::Request::post("/api/v1/nodes").header("content-type", "application/json");
    let _ = client.request_text(request.body(node.into()).expect("a request")).await;
    Some(client)
}

async fn connect(url: &str) -> Option<Client> {
    let url = url.to_owned();
    let kubeconfig = Kubeconfig {
        clusters: vec![NamedCluster {
            name: "c".into(),
            cluster: Some(Cluster {
                server: Some(url),
                insecure_skip_tls_verify: Some(true),
                ..Cluster::default()
            }),
            ..NamedCluster::default()
        }],
        auth_infos: vec![NamedAuthInfo {
            name: "u".into(),
            auth_info: Some(AuthInfo { token: Some("admintoken".to_owned().into()), ..AuthInfo::default() }),
            ..NamedAuthInfo::default()
        }],
        contexts: vec![NamedContext {
            name: "x".into(),
            context: Some(Context { cluster: "c".into(), user: Some("u".into()), ..Context::default() }),
            ..NamedContext::default()
        }],
        current_context: Some("x".into()),
        ..Kubeconfig::default()
    };
    let config =
        Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.expect("a config");
    let client = Client::try_from(config).expect("a client");
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let request = http::Request::get("/readyz").body(Vec::new()).expect("a request");
        let default = http::Request::get("/api/v1/namespaces/default").body(Vec::new()).expect("a request");
        if client.request_text(request).await.is_ok() && client.request_text(default).await.is_ok() {
            return Some(client);
        }
        assert!(Instant::now() < deadline, "the real server does not start");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
