use podsmith_object::yaml;

use super::*;
use crate::image::Runtime;
use crate::read::{Context, read};

fn crossing(text: &str) -> Crossing {
    let context = Context { file: "pod.yaml", name: "web_shop", source_dir: "/src" };
    let (pod, _) = read(text, context).unwrap_or_else(|problems| panic!("{problems}"));
    let Pod::Containers(pod) = pod else { panic!("an executable") };
    let configs =
        BTreeMap::from([("site".to_owned(), BTreeMap::from([("index.html".to_owned(), b"hi".to_vec())]))]);
    objects(&pod, &configs)
}

const SHOP: &str = "\
api: 1.0.0-beta2
podVersion: 0.3.1
volumes:
- {name: site, type: config}
- {name: scratch, type: ramdisk, size: 8M}
- {name: pass, type: config, encrypted: true}
containers:
- name: init
  image: app:1
  restart: on-failure
  command: [migrate]
  startupProbe: {exit: true}
- name: web
  image: app:1
  restart: always
  args: [-p, 8080]
  env: [{name: A, value: 'x $(B)'}]
  memory: 64Mi
  signal: [{sig: HUP}]
  readinessProbe: {http: {port: 8080, path: /up}, timeout: 3}
  mounts: [{volume: site, dest: /www}, {volume: scratch, dest: /tmp}, {volume: pass, dest: /pass}]
  expose:
  - targetPort: 8080
    hostPort: 18090
    clusterPort: 61001
    ingress:
    - {protocol: https, domain: b.test a.test, pathBeg: /api/ /}
    - {protocol: http, domain: a.test, redirectToHttps: true}
";

#[test]
fn a_pod_becomes_objects() {
    let crossing = crossing(SHOP);
    let texts: Vec<String> =
        crossing.objects.iter().map(|object| yaml::to_string(&object.to_value())).collect();
    insta::assert_snapshot!(texts.join("---\n"), @r#"
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: web-shop-site
      labels:
        app.kubernetes.io/name: web-shop
        app.kubernetes.io/version: "0.3.1"
    data:
      index.html: hi
    ---
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: web-shop
      labels:
        app.kubernetes.io/name: web-shop
        app.kubernetes.io/version: "0.3.1"
    spec:
      replicas: 1
      selector:
        matchLabels:
          app.kubernetes.io/name: web-shop
      template:
        metadata:
          labels:
            app.kubernetes.io/name: web-shop
            app.kubernetes.io/version: "0.3.1"
        spec:
          initContainers:
          - name: init
            image: app:1
            command:
            - migrate
          containers:
          - name: web
            image: app:1
            args:
            - -p
            - "8080"
            env:
            - name: A
              value: x $$(B)
            ports:
            - containerPort: 8080
            resources:
              limits:
                memory: "67108864"
            volumeMounts:
            - name: site
              mountPath: /www
              readOnly: true
            - name: scratch
              mountPath: /tmp
            - name: pass
              mountPath: /pass
              readOnly: true
            readinessProbe:
              httpGet:
                port: 8080
                path: /up
              timeoutSeconds: 3
              periodSeconds: 6
              failureThreshold: 1
              successThreshold: 1
          volumes:
          - name: site
            configMap:
              name: web-shop-site
          - name: scratch
            emptyDir:
              medium: Memory
              sizeLimit: 8Mi
          - name: pass
            secret:
              secretName: web-shop-pass
              defaultMode: 256
    ---
    apiVersion: v1
    kind: Service
    metadata:
      name: web-shop
      labels:
        app.kubernetes.io/name: web-shop
        app.kubernetes.io/version: "0.3.1"
    spec:
      selector:
        app.kubernetes.io/name: web-shop
      ports:
      - name: port-61001
        port: 61001
        targetPort: 8080
    ---
    apiVersion: networking.k8s.io/v1
    kind: Ingress
    metadata:
      name: web-shop
      labels:
        app.kubernetes.io/name: web-shop
        app.kubernetes.io/version: "0.3.1"
    spec:
      tls:
      - hosts:
        - a.test
        - b.test
        secretName: web-shop-tls
      rules:
      - host: b.test
        http:
          paths:
          - path: /api/
            pathType: Prefix
            backend:
              service:
                name: web-shop
                port:
                  number: 61001
          - path: /
            pathType: Prefix
            backend:
              service:
                name: web-shop
                port:
                  number: 61001
      - host: a.test
        http:
          paths:
          - path: /api/
            pathType: Prefix
            backend:
              service:
                name: web-shop
                port:
                  number: 61001
          - path: /
            pathType: Prefix
            backend:
              service:
                name: web-shop
                port:
                  number: 61001
    "#);
    let kinds: Vec<&str> = crossing.objects.iter().map(Object::kind).collect();
    assert_eq!(kinds, ["ConfigMap", "Deployment", "Service", "Ingress"]);
}

#[test]
fn what_is_left_behind_is_named() {
    insta::assert_snapshot!(crossing(SHOP).notes.to_string(), @"
    warning: config `pass` is encrypted: make the Secret `web-shop-pass` from its decrypted files
    warning: container `web`: signal HUP on changed configs has no counterpart
    warning: hostPort 18090 is not opened on the nodes: the Service port 61001 takes its place
    warning: ingress rule http for a.test: redirectToHttps is an option of the ingress controller
    warning: https: put the certificate into the Secret `web-shop-tls`
    ");
}

#[test]
fn a_pod_that_ends_becomes_a_job() {
    let crossing = crossing(
        "api: 1.0.0-beta2\npodVersion: 1.0.0\ncontainers:\n- {name: a, image: b, restart: on-failure, startupProbe: {exit: true}}\n",
    );
    let job = crossing.objects.iter().find(|object| object.kind() == "Job").unwrap();
    assert_eq!(job.get(&["spec", "template", "spec", "restartPolicy"]), Some(&json!("OnFailure")));
    assert!(job.get(&["spec", "template", "spec", "containers"]).is_some());
}

#[test]
fn an_executable_cannot_cross() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("x"), "").unwrap();
    let text = "api: 1.0.0-beta2\nruntime: executable\npodVersion: 1.0.0\nexecutable: {file: x}\n";
    std::fs::write(dir.path().join("pod.yaml"), text).unwrap();
    let request =
        Request { name: Some("a".into()), ..Request::new(dir.path().join("pod.yaml"), Runtime::Bytes(b"")) };
    assert!(render(&request).unwrap_err().to_string().contains("executable pod"));
}

#[test]
fn a_pod_without_a_name_is_called_like_its_directory() {
    let dir = tempfile::tempdir().unwrap();
    for (directory, expected) in [("My.App-2_", "my-app-2"), ("123", "pod"), ("shop", "shop")] {
        let input = dir.path().join(directory).join("pod.yaml");
        std::fs::create_dir_all(input.parent().unwrap()).unwrap();
        let text =
            "api: 1.0.0-beta2\npodVersion: 1.0.0\ncontainers: [{name: a, image: b, restart: always}]\n";
        std::fs::write(&input, text).unwrap();
        let crossing = render(&Request::new(&input, Runtime::Bytes(b"")))
            .unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!(crossing.objects[0].name(), expected);
    }
}
