//! Bech32 as age uses it for keys (BIP 173, without its length limit).

const ALPHABET: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";

fn polymod(values: impl Iterator<Item = u8>) -> u32 {
    const GENERATOR: [u32; 5] = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3];
    values.fold(1, |check, value| {
        let top = check >> 25;
        let mut next = (check & 0x01ff_ffff) << 5 ^ u32::from(value);
        for (bit, generator) in GENERATOR.iter().enumerate() {
            if top >> bit & 1 == 1 {
                next ^= generator;
            }
        }
        next
    })
}

fn expand(prefix: &str) -> impl Iterator<Item = u8> + '_ {
    prefix.bytes().map(|b| b >> 5).chain([0]).chain(prefix.bytes().map(|b| b & 31))
}

/// Regroups bits; `None` when the padding is wrong.
fn regroup(data: &[u8], from: u32, to: u32, pad: bool) -> Option<Vec<u8>> {
    let (mut buffer, mut bits, mut out) = (0_u32, 0_u32, Vec::new());
    let mask = (1_u32 << to) - 1;
    for value in data {
        buffer = buffer << from & 0xffff | u32::from(*value);
        bits += from;
        while bits >= to {
            bits -= to;
            out.push(u8::try_from(buffer >> bits & mask).ok()?);
        }
    }
    if pad {
        if bits > 0 {
            out.push(u8::try_from(buffer << (to - bits) & mask).ok()?);
        }
    } else if bits >= from || buffer & ((1 << bits) - 1) != 0 {
        return None;
    }
    Some(out)
}

/// Decodes `text` if its prefix (in small letters) is `prefix`.
pub(super) fn decode(prefix: &str, text: &str) -> Option<Vec<u8>> {
    let mixed = text.bytes().any(|b| b.is_ascii_lowercase()) && text.bytes().any(|b| b.is_ascii_uppercase());
    let text = text.to_ascii_lowercase();
    let (found, data) = text.rsplit_once('1')?;
    if mixed || found != prefix {
        return None;
    }
    let values: Option<Vec<u8>> = data
        .bytes()
        .map(|b| ALPHABET.iter().position(|a| *a == b).and_then(|p| u8::try_from(p).ok()))
        .collect();
    let values = values?;
    if polymod(expand(prefix).chain(values.iter().copied())) != 1 {
        return None;
    }
    regroup(values.get(..values.len().checked_sub(6)?)?, 5, 8, false)
}

/// Encodes `data` in small letters.
pub(super) fn encode(prefix: &str, data: &[u8]) -> String {
    let values = regroup(data, 8, 5, true).unwrap_or_default();
    let check = polymod(expand(prefix).chain(values.iter().copied()).chain([0; 6])) ^ 1;
    let checksum = (0..6).map(|i| (check >> (5 * (5 - i)) & 31) as u8);
    let letters = values.iter().copied().chain(checksum).map(|v| char::from(ALPHABET[usize::from(v & 31)]));
    format!("{prefix}1{}", letters.collect::<String>())
}
