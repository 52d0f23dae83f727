//! The PROXY protocol, versions 1 and 2.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

const V2_SIGNATURE: &[u8; 12] = b"\r\n\r\n\0\r\nQUIT\n";
/// The longest header of version 1, as its specification says.
const V1_LONGEST: usize = 107;
/// Longer headers of version 2 are somebody's mistake.
const V2_LONGEST: usize = 16 + 2048;

/// Where a connection came from and where it went.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Addresses {
    /// The client.
    pub source: SocketAddr,
    /// What it connected to.
    pub destination: SocketAddr,
}

/// What the first bytes of a connection are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Parsed {
    /// They may become a header.
    NeedMore,
    /// They are no header.
    NotHeader,
    /// They are a header of this length; `UNKNOWN` and `LOCAL` have no addresses.
    Header {
        /// Bytes of the header.
        length: usize,
        /// What it says.
        addresses: Option<Addresses>,
    },
}

/// Looks at the first bytes of a connection.
pub fn parse(bytes: &[u8]) -> Parsed {
    let starts = |signature: &[u8]| {
        let common = bytes.len().min(signature.len());
        bytes.get(..common) == signature.get(..common)
    };
    if starts(b"PROXY ") {
        return if bytes.len() < 6 { Parsed::NeedMore } else { parse_v1(bytes) };
    }
    if starts(V2_SIGNATURE) {
        return parse_v2(bytes);
    }
    Parsed::NotHeader
}

fn parse_v1(bytes: &[u8]) -> Parsed {
    let Some(end) = bytes.iter().take(V1_LONGEST).position(|b| *b == b'\n') else {
        return if bytes.len() < V1_LONGEST { Parsed::NeedMore } else { Parsed::NotHeader };
    };
    let line =
        bytes.get(..end).and_then(|line| std::str::from_utf8(line).ok()).and_then(|l| l.strip_suffix('\r'));
    let Some(line) = line else { return Parsed::NotHeader };
    let words: Vec<&str> = line.split(' ').collect();
    let length = end + 1;
    match words.as_slice() {
        ["PROXY", "UNKNOWN", ..] => Parsed::Header { length, addresses: None },
        ["PROXY", family @ ("TCP4" | "TCP6"), source, destination, from, to] => {
            let address = |text: &str| -> Option<IpAddr> {
                if *family == "TCP4" {
                    text.parse::<Ipv4Addr>().ok().map(IpAddr::V4)
                } else {
                    text.parse::<Ipv6Addr>().ok().map(IpAddr::V6)
                }
            };
            let addresses = || {
                Some(Addresses {
                    source: SocketAddr::new(address(source)?, from.parse().ok()?),
                    destination: SocketAddr::new(address(destination)?, to.parse().ok()?),
                })
            };
            addresses().map_or(Parsed::NotHeader, |found| Parsed::Header { length, addresses: Some(found) })
        }
        _ => Parsed::NotHeader,
    }
}

fn parse_v2(bytes: &[u8]) -> Parsed {
    let (Some(version), Some(family), Some(high), Some(low)) =
        (bytes.get(12), bytes.get(13), bytes.get(14), bytes.get(15))
    else {
        return Parsed::NeedMore;
    };
    let length = 16 + usize::from(u16::from_be_bytes([*high, *low]));
    if version >> 4 != 2 || length > V2_LONGEST {
        return Parsed::NotHeader;
    }
    let Some(body) = bytes.get(16..length) else { return Parsed::NeedMore };
    match version & 0x0f {
        0 => Parsed::Header { length, addresses: None },
        1 => Parsed::Header { length, addresses: v2_addresses(*family, body) },
        _ => Parsed::NotHeader,
    }
}

fn v2_addresses(family: u8, body: &[u8]) -> Option<Addresses> {
    let port = |at: usize| Some(u16::from_be_bytes([*body.get(at)?, *body.get(at + 1)?]));
    match family {
        0x11 => {
            let address = |at: usize| -> Option<Ipv4Addr> {
                let octets: [u8; 4] = body.get(at..at + 4)?.try_into().ok()?;
                Some(Ipv4Addr::from(octets))
            };
            Some(Addresses {
                source: SocketAddr::new(address(0)?.into(), port(8)?),
                destination: SocketAddr::new(address(4)?.into(), port(10)?),
            })
        }
        0x21 => {
            let address = |at: usize| -> Option<Ipv6Addr> {
                let octets: [u8; 16] = body.get(at..at + 16)?.try_into().ok()?;
                Some(Ipv6Addr::from(octets))
            };
            Some(Addresses {
                source: SocketAddr::new(address(0)?.into(), port(32)?),
                destination: SocketAddr::new(address(16)?.into(), port(34)?),
            })
        }
        _ => None,
    }
}

/// Writes a header of version 1.
pub fn v1(addresses: Addresses) -> String {
    let (source, destination) = (addresses.source, addresses.destination);
    match (source.ip().to_canonical(), destination.ip().to_canonical()) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            format!("PROXY TCP4 {from} {to} {} {}\r\n", source.port(), destination.port())
        }
        (from, to) => {
            let wide = |address: IpAddr| match address {
                IpAddr::V4(address) => address.to_ipv6_mapped(),
                IpAddr::V6(address) => address,
            };
            format!("PROXY TCP6 {} {} {} {}\r\n", wide(from), wide(to), source.port(), destination.port())
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn header(text: &str) -> Parsed {
        parse(text.as_bytes())
    }

    #[test]
    fn prefixes_need_more_and_others_are_none() {
        for text in ["", "P", "PR", "PROXY", "PROXY TCP4 1.2.3.4 1.2.3.4 123", "\r\n\r\n"] {
            assert_eq!(header(text), Parsed::NeedMore, "{text:?}");
        }
        for text in [
            "PRo",
            "GET / HTTP/1.1\r\n",
            "PROXY TCP\r\n",
            "PROXY TCP4 1.2.3.4\r\n",
            "PROXY TCP4 ::1 ::1 1 2\r\n",
            "PROXY TCP4 1.2.3.4 1.2.3.4 1 2\n",
            "\r\n\r\nX",
        ] {
            assert_eq!(header(text), Parsed::NotHeader, "{text:?}");
        }
        assert_eq!(header(&format!("PROXY {}", "x".repeat(200))), Parsed::NotHeader);
    }

    #[test]
    fn both_versions_are_read() {
        let text = "PROXY TCP4 1.2.3.4 5.6.7.8 123 61000\r\nrest";
        let Parsed::Header { length, addresses: Some(found) } = header(text) else { panic!("{text}") };
        assert_eq!(&text[length..], "rest");
        assert_eq!(found.source, "1.2.3.4:123".parse().unwrap());
        assert_eq!(found.destination.port(), 61_000);
        assert_eq!(header("PROXY UNKNOWN\r\n"), Parsed::Header { length: 15, addresses: None });

        let mut bytes = V2_SIGNATURE.to_vec();
        bytes.extend([0x21, 0x11, 0, 15, 1, 2, 3, 4, 5, 6, 7, 8, 0, 123, 0xee, 0x48, 9, 9, 9]);
        for cut in 0..bytes.len() {
            assert_eq!(parse(&bytes[..cut]), Parsed::NeedMore, "{cut}");
        }
        assert_eq!(
            parse(&bytes),
            Parsed::Header {
                length: 31,
                addresses: Some(Addresses {
                    source: "1.2.3.4:123".parse().unwrap(),
                    destination: "5.6.7.8:61000".parse().unwrap()
                })
            }
        );
        bytes[12] = 0x20;
        assert_eq!(parse(&bytes), Parsed::Header { length: 31, addresses: None }, "LOCAL");
        bytes[12] = 0x11;
        assert_eq!(parse(&bytes), Parsed::NotHeader);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(source: (u128, u16), destination: (u128, u16), four: bool) {
            let address = |(bits, port): (u128, u16)| {
                let ip: IpAddr = if four { Ipv4Addr::from(bits as u32).into() } else { Ipv6Addr::from(bits | 1 << 125).into() };
                SocketAddr::new(ip, port)
            };
            let addresses = Addresses { source: address(source), destination: address(destination) };
            let text = v1(addresses);
            prop_assert_eq!(header(&text), Parsed::Header { length: text.len(), addresses: Some(addresses) });
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80), v2: bool) {
            let mut all = if v2 { V2_SIGNATURE.to_vec() } else { b"PROXY ".to_vec() };
            all.extend(bytes);
            let _ = parse(&all);
        }
    }
}
