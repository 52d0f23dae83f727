//! Proxies on several addresses of this machine, with clients and pods at the level of bytes.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::io::{Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use podsmith_host::proxy::{PortRange, Running, Settings, start};

/// A port that is free on all addresses of this machine.
fn free_port() -> u16 {
    TcpListener::bind("0.0.0.0:0").unwrap().local_addr().unwrap().port()
}

/// A pod that greets with its name, then sends back what it gets, and tells what it got.
fn pod(address: IpAddr, greeting: &'static str) -> u16 {
    let listener = TcpListener::bind((address, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let _ = stream.write_all(greeting.as_bytes());
                let mut buffer = [0_u8; 4096];
                while let Ok(count) = stream.read(&mut buffer) {
                    if count == 0 || stream.write_all(&buffer[..count]).is_err() {
                        return;
                    }
                }
            });
        }
    });
    port
}

struct Node {
    dir: tempfile::TempDir,
    running: Option<Running>,
    settings: Settings,
}

struct Cluster {
    runtime: tokio::runtime::Runtime,
    nodes: Vec<Node>,
    cluster_port: u16,
}

impl Cluster {
    fn new(addresses: &[&str]) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let (peer_port, cluster_port) = (free_port(), free_port());
        let addresses: Vec<IpAddr> = addresses.iter().map(|address| address.parse().unwrap()).collect();
        let nodes = addresses
            .iter()
            .map(|own| {
                let dir = tempfile::tempdir().unwrap();
                let mut hosts: Vec<&IpAddr> = addresses.iter().collect();
                hosts.sort_by_key(|address| *address != own);
                let lines: Vec<String> =
                    hosts.iter().map(|host| SocketAddr::new(**host, peer_port).to_string()).collect();
                std::fs::write(dir.path().join("hosts.conf"), lines.join("\n")).unwrap();
                std::fs::write(dir.path().join("portmappings.conf"), "\n").unwrap();
                let settings = Settings {
                    ports_conf: dir.path().join("portmappings.conf"),
                    hosts_conf: dir.path().join("hosts.conf"),
                    host: *own,
                    port: peer_port,
                    pod_host: *own,
                    cluster_ports: vec![PortRange { first: cluster_port, last: cluster_port }],
                    drain: 10,
                };
                Node { dir, running: None, settings }
            })
            .collect();
        let mut cluster = Self { runtime, nodes, cluster_port };
        for index in 0..cluster.nodes.len() {
            cluster.start(index);
        }
        cluster
    }

    fn start(&mut self, index: usize) {
        let _guard = self.runtime.enter();
        let settings = self.nodes[index].settings.clone();
        self.nodes[index].running = Some(start(settings).unwrap());
    }

    /// Writes the port map of a node and waits until the proxy knows it.
    fn map(&self, index: usize, lines: &[String]) {
        let node = &self.nodes[index];
        std::fs::write(node.dir.path().join("portmappings.conf"), lines.join("\n") + "\n").unwrap();
        node.running.as_ref().unwrap().reload();
        std::thread::sleep(Duration::from_millis(150));
    }

    fn entry(&self, host_port: u16, rest: &str) -> String {
        format!("{}:{host_port}:{rest}", self.cluster_port)
    }

    fn connect(&self, index: usize) -> TcpStream {
        let stream = TcpStream::connect((self.nodes[index].settings.host, self.cluster_port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream
    }

    fn peer(&self, index: usize) -> TcpStream {
        let stream =
            TcpStream::connect((self.nodes[index].settings.host, self.nodes[index].settings.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream
    }
}

fn read(stream: &mut TcpStream, count: usize) -> String {
    let mut buffer = vec![0_u8; count];
    stream.read_exact(&mut buffer).unwrap();
    String::from_utf8(buffer).unwrap()
}

/// Everything until the other side closes.
fn rest(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let _ = stream.read_to_end(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Sends all, ends, and returns all that comes back.
fn exchange(mut stream: TcpStream, bytes: &[u8]) -> String {
    // The other side may have closed already.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    rest(&mut stream)
}

#[test]
fn a_client_finds_a_pod_on_any_host_and_its_own_first() {
    let cluster = Cluster::new(&["127.0.0.1", "127.0.0.2", "127.0.0.3"]);
    assert_eq!(exchange(cluster.connect(0), b"x"), "", "nobody serves it");
    let far = pod("127.0.0.3".parse().unwrap(), "far ");
    cluster.map(2, &[cluster.entry(far, "9:false")]);
    for index in 0..3 {
        assert_eq!(exchange(cluster.connect(index), b"hello"), "far hello");
    }
    let near = pod("127.0.0.1".parse().unwrap(), "near ");
    cluster.map(0, &[cluster.entry(near, "9:false")]);
    assert_eq!(exchange(cluster.connect(0), b"hello"), "near hello");
    assert_eq!(
        exchange(cluster.connect(1), b"hello"),
        "near hello",
        "hosts are tried in the order of the file"
    );
    let large = vec![b'a'; 3_000_000];
    assert_eq!(exchange(cluster.connect(1), &large).len(), large.len() + 5);
}

#[test]
fn max_conn_holds_over_reloads_and_leads_to_the_next_host() {
    let cluster = Cluster::new(&["127.0.0.4", "127.0.0.5"]);
    let one = pod("127.0.0.4".parse().unwrap(), "one ");
    let two = pod("127.0.0.5".parse().unwrap(), "two ");
    cluster.map(0, &[cluster.entry(one, "1:false")]);
    cluster.map(1, &[cluster.entry(two, "1:false")]);
    let mut first = cluster.connect(0);
    assert_eq!(read(&mut first, 4), "one ");
    cluster.map(0, &[cluster.entry(one, "1:false"), "2000:1:1:false".into()]);
    let mut second = cluster.connect(0);
    assert_eq!(read(&mut second, 4), "two ");
    assert_eq!(exchange(cluster.connect(0), b"x"), "", "all are full");
    assert_eq!(
        exchange(
            cluster.peer(0),
            format!("PROXY TCP4 1.2.3.4 1.2.3.4 123 {}\r\n", cluster.cluster_port).as_bytes()
        ),
        "BUSY\r\n"
    );
    drop(first);
    let end = Instant::now() + Duration::from_secs(10);
    while exchange(cluster.connect(0), b"x") != "one x" {
        assert!(Instant::now() < end, "the place is given back");
    }
}

#[test]
fn headers_are_added_kept_and_stripped() {
    let v1 = b"PROXY TCP4 9.8.7.6 1.2.3.4 123 80\r\n".as_slice();
    let v2 =
        b"\r\n\r\n\0\r\nQUIT\n\x21\x11\x00\x0c\x09\x08\x07\x06\x01\x02\x03\x04\x00\x7b\x00\x50".as_slice();
    for addresses in [["127.0.0.6"].as_slice(), ["127.0.0.7", "127.0.0.8"].as_slice()] {
        let cluster = Cluster::new(addresses);
        let last = addresses.len() - 1;
        let host_port = pod(addresses[last].parse().unwrap(), "");
        cluster.map(last, &[cluster.entry(host_port, "9:false")]);
        for header in [v1, v2, b""] {
            assert_eq!(exchange(cluster.connect(0), &[header, b"data"].concat()), "data", "stripped");
        }
        assert_eq!(exchange(cluster.connect(0), b"PR"), "PR", "a beginning is not a header");

        cluster.map(last, &[cluster.entry(host_port, "9:true")]);
        for header in [v1, v2] {
            let bytes = [header, b"data"].concat();
            assert_eq!(exchange(cluster.connect(0), &bytes).as_bytes(), bytes, "kept");
        }
        let stream = cluster.connect(0);
        let own = stream.local_addr().unwrap();
        let expected = format!(
            "PROXY TCP4 {} {} {} {}\r\ndata",
            own.ip(),
            addresses[0],
            own.port(),
            cluster.cluster_port
        );
        assert_eq!(exchange(stream, b"data"), expected, "added, with the real client");
    }
}

#[test]
fn silent_clients_hear_servers_that_speak_first() {
    let cluster = Cluster::new(&["127.0.0.9", "127.0.0.10"]);
    let host_port = pod("127.0.0.10".parse().unwrap(), "220 hello\r\n");
    cluster.map(1, &[cluster.entry(host_port, "9:false")]);
    let mut client = cluster.connect(0);
    assert_eq!(read(&mut client, 11), "220 hello\r\n");
    cluster.map(1, &[cluster.entry(host_port, "9:true")]);
    let mut client = cluster.connect(0);
    assert_eq!(read(&mut client, 11), "220 hello\r\n");
    assert_eq!(read(&mut client, 15), "PROXY TCP4 127.");
}

#[test]
fn other_proxies_are_answered_as_agreed() {
    let cluster = Cluster::new(&["127.0.0.11"]);
    let host_port = pod("127.0.0.11".parse().unwrap(), "");
    cluster.map(0, &[cluster.entry(host_port, "9:true")]);
    assert_eq!(exchange(cluster.peer(0), b"GET / HTTP/1.1\r\n\r\n"), "");
    assert_eq!(exchange(cluster.peer(0), b"PROXY TCP4 1.2.3.4 1.2.3.4 123 9\r\n"), "", "no such port");
    let hello = format!("PROXY TCP4 1.2.3.4 1.2.3.4 123 {}\r\nmore", cluster.cluster_port);
    assert_eq!(exchange(cluster.peer(0), hello.as_bytes()), "SENDPROXY=true\r\nmore");
}

#[test]
fn a_new_map_and_a_new_proxy_cut_no_connection() {
    let mut cluster = Cluster::new(&["127.0.0.12"]);
    let address = "127.0.0.12".parse().unwrap();
    let (old, new) = (pod(address, "old "), pod(address, "new "));
    cluster.map(0, &[cluster.entry(old, "9:false")]);
    let mut client = cluster.connect(0);
    assert_eq!(read(&mut client, 4), "old ");
    cluster.map(0, &[cluster.entry(new, "9:false")]);
    assert_eq!(exchange(cluster.connect(0), b"x"), "new x");

    // A second proxy beside the first; then the first one ends.
    let first = cluster.nodes[0].running.take().unwrap();
    cluster.start(0);
    let ending = cluster.runtime.spawn(first.stop());
    for _ in 0..50 {
        assert_eq!(exchange(cluster.connect(0), b"x"), "new x");
    }
    assert_eq!(exchange(client, b"still here"), "still here");
    cluster.runtime.block_on(ending).unwrap();
}

#[test]
fn ipv6_works_too() {
    if TcpListener::bind("[::1]:0").is_err() {
        println!("skipped: ipv6_works_too: this machine has no IPv6");
        return;
    }
    let cluster = Cluster::new(&["::1", "127.0.0.13"]);
    let host_port = pod("127.0.0.13".parse().unwrap(), "");
    cluster.map(1, &[cluster.entry(host_port, "9:true")]);
    let answer = exchange(cluster.connect(0), b"data");
    assert!(answer.starts_with("PROXY TCP6 ::1 ::1 ") && answer.ends_with("\r\ndata"), "{answer}");
}

#[test]
fn strangers_are_not_answered() {
    // The address of this machine towards others; no packet is sent.
    let own = std::net::UdpSocket::bind("0.0.0.0:0")
        .and_then(|socket| socket.connect("192.0.2.1:9").and_then(|()| socket.local_addr()));
    let Some(address) = own.ok().map(|address| address.ip()).filter(|address| !address.is_loopback()) else {
        println!("skipped: strangers_are_not_answered: this machine has no network");
        return;
    };
    let cluster = Cluster::new(&[&address.to_string()]);
    let host_port = pod(address, "");
    cluster.map(0, &[cluster.entry(host_port, "9:false")]);
    let hello = format!("PROXY TCP4 1.2.3.4 1.2.3.4 123 {}\r\n", cluster.cluster_port);
    assert_eq!(exchange(cluster.peer(0), hello.as_bytes()), "SENDPROXY=false\r\n", "a host of the list");
    std::fs::write(cluster.nodes[0].dir.path().join("hosts.conf"), "192.0.2.7:32767\n").unwrap();
    cluster.map(0, &[cluster.entry(host_port, "9:false")]);
    assert_eq!(exchange(cluster.peer(0), hello.as_bytes()), "", "not on the list any more");
}
