//! Real clients against a served cluster. Each test is skipped, by name, where its program is not installed.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use podsmith_apiserver::{Cluster, ClusterOptions, Served};
use tempfile::TempDir;

/// A program of Kubernetes; nothing when it is not on this machine.
fn program(test: &str, name: &str) -> Option<PathBuf> {
    let own = std::env::var_os("PODSMITH_ORACLES").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache/podsmith-oracles"));
    let found = own.into_iter().chain(home).map(|dir| dir.join(name)).find(|path| path.is_file());
    if found.is_none() {
        println!("skipped: {test}: {name} is not on this machine");
    }
    found
}

struct Fixture {
    dir: TempDir,
    kubectl: PathBuf,
    served: Served,
    _cluster: Cluster,
}

impl Fixture {
    async fn open(kubectl: PathBuf) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let cluster = Cluster::open(ClusterOptions::directory(dir.path().join("data"))).await.unwrap();
        let served = cluster.serve(Default::default()).await.unwrap();
        Self { dir, kubectl, served, _cluster: cluster }
    }

    fn kubeconfig(&self) -> &Path {
        self.served.kubeconfig_path.as_deref().unwrap()
    }

    async fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(&self.kubectl);
        command.args(arguments).env("KUBECONFIG", self.kubeconfig()).env("HOME", self.dir.path());
        tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
    }

    /// What kubectl says; it must succeed.
    async fn kubectl(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments).await;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "kubectl {arguments:?}: {text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        text
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

const DEPLOYMENT: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: nginx, ports: [{containerPort: 80}]}]}
";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kubectl_creates_applies_changes_and_deletes() {
    let Some(kubectl) = program("kubectl", "kubectl") else { return };
    let fixture = Fixture::open(kubectl).await;
    assert!(fixture.kubectl(&["version"]).await.contains("v1.36.3+podsmith"));
    assert_eq!(fixture.kubectl(&["create", "namespace", "a"]).await, "namespace/a created\n");
    fixture.kubectl(&["create", "configmap", "x", "--from-literal=a=b"]).await;
    let file = fixture.file("web.yaml", DEPLOYMENT);
    assert_eq!(fixture.kubectl(&["apply", "-f", &file]).await, "deployment.apps/web created\n");
    assert_eq!(fixture.kubectl(&["apply", "-f", &file]).await, "deployment.apps/web unchanged\n");
    let changed = fixture.file("web3.yaml", &DEPLOYMENT.replace("replicas: 2", "replicas: 3"));
    let diff = fixture.run(&["diff", "-f", &changed]).await;
    assert_eq!(diff.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&diff.stdout).contains("+  replicas: 3"));
    assert_eq!(fixture.kubectl(&["apply", "-f", &changed]).await, "deployment.apps/web configured\n");
    fixture.kubectl(&["apply", "--server-side", "-f", &changed]).await;
    fixture.kubectl(&["scale", "deployment/web", "--replicas=5"]).await;
    fixture.kubectl(&["label", "deployment/web", "tier=front"]).await;
    fixture.kubectl(&["patch", "deployment", "web", "-p", r#"{"spec":{"minReadySeconds":3}}"#]).await;
    let merge = ["patch", "deployment", "web", "--type=merge", "-p", r#"{"spec":{"replicas":4}}"#];
    fixture.kubectl(&merge).await;
    let json = ["patch", "deployment", "web", "--type=json", "-p"];
    let operation = r#"[{"op":"replace","path":"/spec/replicas","value":2}]"#;
    fixture.kubectl(&[&json[..], &[operation]].concat()).await;
    let path = "jsonpath={.spec.replicas} {.spec.minReadySeconds} {.metadata.labels.tier}";
    assert_eq!(fixture.kubectl(&["get", "deployment", "web", "-o", path]).await, "2 3 front");
    let wait = ["wait", "--for=jsonpath={.spec.replicas}=2", "deployment/web", "--timeout=10s"];
    assert!(fixture.kubectl(&wait).await.contains("condition met"));
    assert!(fixture.kubectl(&["describe", "deployment", "web"]).await.contains("2 desired"));
    assert!(fixture.kubectl(&["get", "deployment"]).await.contains("0/2"));
    assert_eq!(
        fixture.kubectl(&["delete", "deployment", "web"]).await,
        "deployment.apps \"web\" deleted from default namespace\n"
    );
    fixture.kubectl(&["delete", "namespace", "a"]).await;
    let gone = fixture.run(&["get", "namespace", "a"]).await;
    assert!(String::from_utf8_lossy(&gone.stderr).contains("namespaces \"a\" not found"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kubectl_finds_explains_and_asks() {
    let Some(kubectl) = program("kubectl_asks", "kubectl") else { return };
    let fixture = Fixture::open(kubectl).await;
    let resources = fixture.kubectl(&["api-resources", "--api-group=apps", "-o", "name"]).await;
    assert!(resources.contains("statefulsets.apps"));
    assert!(fixture.kubectl(&["explain", "deployment.spec.strategy"]).await.contains("rollingUpdate"));
    assert!(
        fixture.kubectl(&["explain", "pod", "--recursive"]).await.contains("terminationGracePeriodSeconds")
    );
    assert_eq!(fixture.kubectl(&["auth", "can-i", "create", "pods"]).await, "yes\n");
    assert!(fixture.kubectl(&["auth", "whoami"]).await.contains("system:masters"));
    fixture.kubectl(&["create", "serviceaccount", "bob"]).await;
    let bob = "--as=system:serviceaccount:default:bob";
    let may = fixture.run(&["auth", "can-i", "list", "pods", bob]).await;
    assert_eq!(String::from_utf8_lossy(&may.stdout), "no\n");
    fixture
        .kubectl(&["create", "rolebinding", "bob", "--clusterrole=view", "--serviceaccount=default:bob"])
        .await;
    assert_eq!(fixture.kubectl(&["auth", "can-i", "list", "pods", bob]).await, "yes\n");
    let token = fixture.kubectl(&["create", "token", "bob"]).await;
    let anonymous = fixture.file("empty", "");
    let url = fixture.served.url.clone();
    let server = format!("--server={url}");
    let token = format!("--token={}", token.trim());
    let config = format!("--kubeconfig={anonymous}");
    let base = [config.as_str(), server.as_str(), token.as_str(), "--insecure-skip-tls-verify"];
    fixture.kubectl(&[&base[..], &["get", "pods"]].concat()).await;
    let secrets = fixture.run(&[&base[..], &["get", "secrets"]].concat()).await;
    assert!(String::from_utf8_lossy(&secrets.stderr).contains("cannot list resource \"secrets\""));
}

/// A program that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_real_controller_manager_does_its_work() {
    const TEST: &str = "kube-controller-manager";
    let (Some(kubectl), Some(manager)) = (program(TEST, "kubectl"), program(TEST, "kube-controller-manager"))
    else {
        return;
    };
    let fixture = Fixture::open(kubectl).await;
    let _manager = Running(
        Command::new(manager)
            .arg(format!("--kubeconfig={}", fixture.kubeconfig().display()))
            .args(["--leader-elect=false", "--bind-address=127.0.0.1", "--secure-port=0"])
            .arg("--use-service-account-credentials=true")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    );
    let file = fixture.file("web.yaml", DEPLOYMENT);
    fixture.kubectl(&["apply", "-f", &file]).await;
    let wait = ["wait", "--for=jsonpath={.status.replicas}=2", "deployment/web", "--timeout=60s"];
    fixture.kubectl(&wait).await;
    let pods = fixture.kubectl(&["get", "pods", "-l", "app=web", "-o", "name"]).await;
    assert_eq!(pods.lines().count(), 2, "{pods}");
    fixture.kubectl(&["create", "job", "one", "--image=busybox"]).await;
    fixture.kubectl(&["wait", "--for=jsonpath={.status.active}=1", "job/one", "--timeout=60s"]).await;
    fixture.kubectl(&["delete", "deployment", "web", "--cascade=foreground", "--timeout=60s"]).await;
    assert_eq!(fixture.kubectl(&["get", "replicasets,pods", "-l", "app=web", "-o", "name"]).await, "");
}

const CHART: &str = "
apiVersion: v1
kind: ConfigMap
metadata: {name: '{{ .Release.Name }}'}
data: {replicas: '{{ .Values.replicas }}'}
";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn helm_installs_upgrades_rolls_back_and_uninstalls() {
    let (Some(kubectl), Some(helm)) = (program("helm", "kubectl"), program("helm", "helm")) else { return };
    let fixture = Fixture::open(kubectl.clone()).await;
    std::fs::create_dir_all(fixture.dir.path().join("chart/templates")).unwrap();
    fixture.file("chart/Chart.yaml", "apiVersion: v2\nname: small\nversion: 0.1.0\n");
    fixture.file("chart/values.yaml", "replicas: 1\n");
    fixture.file("chart/templates/all.yaml", CHART);
    let chart = fixture.dir.path().join("chart").to_str().unwrap().to_owned();
    let helm = Fixture { kubectl: helm, ..fixture };
    helm.kubectl(&["install", "r", &chart]).await;
    helm.kubectl(&["upgrade", "r", &chart, "--set", "replicas=3"]).await;
    helm.kubectl(&["rollback", "r", "1"]).await;
    assert!(helm.kubectl(&["history", "r"]).await.contains("Rollback to 1"));
    let fixture = Fixture { kubectl, ..helm };
    let path = "jsonpath={.data.replicas}";
    assert_eq!(fixture.kubectl(&["get", "configmap", "r", "-o", path]).await, "1");
    let helm = Fixture { kubectl: program("helm", "helm").unwrap(), ..fixture };
    helm.kubectl(&["uninstall", "r"]).await;
    assert!(!helm.kubectl(&["list", "-q"]).await.contains('r'));
}
