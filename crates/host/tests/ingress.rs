//! A real HAProxy with a generated configuration.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use podsmith_host::ingress::{Options, write};

fn haproxy_is_missing(test: &str) -> bool {
    let found =
        Command::new("haproxy").arg("-v").stdout(Stdio::null()).status().is_ok_and(|status| status.success());
    if !found {
        println!("skipped: {test}: haproxy is missing");
    }
    !found
}

fn free_port() -> u16 {
    TcpListener::bind("0.0.0.0:0").unwrap().local_addr().unwrap().port()
}

/// Answers every request with its name; remembers the first bytes of everything else. Expects a PROXY header.
fn server(name: &'static str) -> (u16, Arc<Mutex<Vec<Vec<u8>>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let memory = seen.clone();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut header = String::new();
            let _ = reader.read_line(&mut header);
            assert!(header.starts_with("PROXY TCP4 "), "{header}");
            let first = reader.fill_buf().unwrap_or_default().to_vec();
            let web = first.starts_with(b"GET");
            memory.lock().unwrap().push(first);
            if web {
                let body = format!(
                    "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{name}",
                    name.len()
                );
                let _ = stream.write_all(body.as_bytes());
            }
        }
    });
    (port, seen)
}

struct Haproxy(Child);

impl Haproxy {
    fn start(config: &Path, port: u16) -> Self {
        let child = Command::new("haproxy")
            .args(["-W", "-q", "-f"])
            .arg(config)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let end = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < end, "HAProxy does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
        Self(child)
    }
}

impl Drop for Haproxy {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_raw(i32::try_from(self.0.id()).unwrap()).unwrap();
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.0.wait();
    }
}

/// The status, the Location if there is one, and the body.
fn get(port: u16, host: &str, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    let _ = stream.read_to_string(&mut text);
    let status = text.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let location =
        text.lines().find_map(|line| line.strip_prefix("location: ").or(line.strip_prefix("Location: ")));
    let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    (status, location.unwrap_or(body).to_owned())
}

#[test]
fn requests_find_their_pods() {
    if haproxy_is_missing("requests_find_their_pods") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (api, site, other) = (server("api"), server("site"), server("other"));
    let (http, https, tcp, sni) = (free_port(), free_port(), free_port(), free_port());
    fs::write(dir.path().join("404.http"), "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone")
        .unwrap();
    let error = dir.path().join("404.http");
    let rules = format!(
        "bind {http}|protocol http|host a.test|weight 100|path_beg /|clusterport {site}|\
         bind {http}|protocol http|host a.test|weight 120|path_beg /api/|clusterport {api}|\
         bind {http}|protocol http|host *.w.test|weight 100|path_end .txt|clusterport {other}|\
         bind {http}|protocol http|host old.test|weight 100|redirect_prefix https://www.new.test|\
         bind {http}|protocol http|host secure.test|weight 100|redirect_to_https true|\
         bind {http}|protocol http|host gone.test|weight 100|errorfile 404 {}|\
         bind {http}|protocol http|host *|weight 1|redirect_location https://fallback.test/%20x|\
         bind {https}|protocol https|host a.test|weight 100|path /|clusterport {site}|\
         bind {tcp}|protocol tcp|host |weight 100|clusterport {other}|\
         bind {sni}|protocol tcp|host a.test|weight 100|clusterport {api}|\
         bind {sni}|protocol tcp|host *.w.test|weight 100|clusterport {site}|",
        error.display(),
        site = site.0,
        api = api.0,
        other = other.0,
    );
    // Real ports are above 64000 now and then, which rules must not use.
    if [api.0, site.0, other.0].iter().any(|port| *port >= 64_000) {
        return requests_find_their_pods();
    }
    fs::write(dir.path().join("web.ingress.conf"), rules.replace('|', "\n")).unwrap();
    let made = rcgen::generate_simple_self_signed(vec!["a.test".to_owned()]).unwrap();
    fs::write(dir.path().join("cert.pem"), made.cert.pem() + &made.signing_key.serialize_pem()).unwrap();
    let config = dir.path().join("haproxy.cfg");
    let mut options = Options::new(vec![dir.path().to_owned()], &config);
    options.surroundings.proxy = "127.0.0.1".into();
    options.surroundings.certificates = vec![dir.path().join("cert.pem")];
    let outcome = write(&options).unwrap_or_else(|problems| panic!("{problems}"));
    assert!(outcome.changed && outcome.rules == 11 && outcome.warnings.is_empty());
    assert!(!write(&options).unwrap().changed, "equal rules give an equal file");

    let haproxy = Haproxy::start(&config, http);
    for (host, path, status, answer) in [
        ("a.test", "/", 200, "site"),
        ("A.TEST", "/x", 200, "site"),
        ("a.test", "/api/x", 200, "api"),
        ("x.y.W.test", "/f.txt", 200, "other"),
        ("x.w.test", "/f.jpg", 301, "https://fallback.test/%20x"),
        ("w.test", "/f.txt", 301, "https://fallback.test/%20x"),
        ("old.test", "/p?q=1", 301, "https://www.new.test/p?q=1"),
        ("secure.test", "/p", 301, "https://secure.test/p"),
        ("gone.test", "/", 404, "gone"),
        ("unknown.test", "/", 301, "https://fallback.test/%20x"),
    ] {
        assert_eq!(get(http, host, path), (status, answer.to_owned()), "{host}{path}");
        assert_eq!(get(http, &format!("{host}:{http}"), path).0, status, "{host} with its port");
    }
    assert_eq!(get(tcp, "any", "/").1, "other", "plain tcp needs no name");

    if Command::new("curl").arg("-V").stdout(Stdio::null()).status().is_ok() {
        let curl = |host: &str, port: u16| {
            let resolve = format!("{host}:{port}:127.0.0.1");
            let url = format!("https://{host}:{port}/");
            Command::new("curl")
                .args(["-sk", "-m", "5", "--resolve", &resolve, &url])
                .output()
                .unwrap()
                .stdout
        };
        assert_eq!(String::from_utf8(curl("a.test", https)).unwrap(), "site", "TLS ends here");
        for (host, place) in [("a.test", &api.1), ("x.w.test", &site.1)] {
            curl(host, sni);
            let is_hello = |bytes: &Vec<u8>| bytes.first() == Some(&0x16);
            assert!(place.lock().unwrap().iter().any(is_hello), "{host} is led by its name");
        }
    }

    // A reload under way loses nothing.
    fs::write(dir.path().join("pid"), haproxy.0.id().to_string()).unwrap();
    options.pid_file = Some(dir.path().join("pid"));
    let changed = rules.replace("weight 1|", "weight 2|");
    fs::write(dir.path().join("web.ingress.conf"), changed.replace('|', "\n")).unwrap();
    let outcome = write(&options).unwrap();
    assert!(outcome.changed && outcome.reloaded);
    for _ in 0..20 {
        assert_eq!(get(http, "a.test", "/").1, "site");
    }
}

#[test]
fn what_haproxy_refuses_is_not_written() {
    if haproxy_is_missing("what_haproxy_refuses_is_not_written") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let templates = dir.path().join("tpl");
    fs::create_dir_all(&templates).unwrap();
    fs::write(templates.join("frontend-http"), "    mode http\n    frobnicate\n").unwrap();
    fs::write(
        dir.path().join("a.ingress.conf"),
        "bind 80\nprotocol http\nhost a\npath /\nclusterport 2000\n",
    )
    .unwrap();
    let mut options = Options::new(vec![dir.path().to_owned()], dir.path().join("haproxy.cfg"));
    assert!(write(&options).unwrap().changed, "stand-ins for what exists only where HAProxy runs");
    fs::write(&options.output, "old").unwrap();
    options.surroundings.templates = Some(templates);
    let message = write(&options).unwrap_err().to_string();
    assert!(message.contains("HAProxy refuses") && message.contains("frobnicate"), "{message}");
    assert_eq!(fs::read_to_string(&options.output).unwrap(), "old");
}

#[test]
fn only_running_pods_of_active_hosts_count_and_each_once() {
    let dir = tempfile::tempdir().unwrap();
    let pod = |host: &str, pod: &str, state: &str, port: u16| {
        let release = dir.path().join(format!("{host}/pods/{pod}/release/1.0.0"));
        fs::create_dir_all(&release).unwrap();
        fs::write(release.join("pod"), "").unwrap();
        fs::write(release.join("pod.state"), state).unwrap();
        let rule =
            format!("bind 80\nprotocol http\nhost {pod}\nweight 100\npath_beg /\nclusterport {port}\n");
        fs::write(release.join("pod.ingress.conf"), rule).unwrap();
    };
    for (host, state) in [("one", "active"), ("two", "active"), ("three", "inactive")] {
        pod(host, "web", "running", 2000);
        fs::write(dir.path().join(host).join("host.state"), state).unwrap();
    }
    pod("one", "db", "stopped", 2001);
    pod("one", "ingress", "running", 2002);
    pod("one", "cut", "running", 2003);
    pod("three", "far", "running", 2004);
    let rules = podsmith_host::ingress::collect(&[dir.path().to_owned()], &[2003]).unwrap();
    assert_eq!(rules.iter().map(|rule| rule.hosts.join("")).collect::<Vec<_>>(), ["web"]);
}
