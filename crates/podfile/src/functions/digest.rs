//! Hash functions.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use podsmith_object::Value;
use sha2::Digest as _;

use super::{CallContext, Function, files, function, text_of};

pub(super) const FUNCTIONS: &[Function] = &[
    function("md5", 1, Some(1), "md5(text)", |_, a| Ok(hex::encode(md5(text_of(a, 0)?.as_bytes())).into())),
    function("sha1", 1, Some(1), "sha1(text)", |_, a| Ok(sha1_hex(text_of(a, 0)?.as_bytes()).into())),
    function("sha256", 1, Some(1), "sha256(text)", |_, a| Ok(sha256_hex(text_of(a, 0)?.as_bytes()).into())),
    function("sha512", 1, Some(1), "sha512(text)", |_, a| Ok(sha512_hex(text_of(a, 0)?.as_bytes()).into())),
    function("base64sha256", 1, Some(1), "base64sha256(text)", |_, a| {
        Ok(STANDARD.encode(sha2::Sha256::digest(text_of(a, 0)?)).into())
    }),
    function("base64sha512", 1, Some(1), "base64sha512(text)", |_, a| {
        Ok(STANDARD.encode(sha2::Sha512::digest(text_of(a, 0)?)).into())
    }),
    function("uuidv5", 2, Some(2), "uuidv5(namespace, name)", |_, a| {
        uuid_of_name(&text_of(a, 0)?, &text_of(a, 1)?).map(Value::from)
    }),
    function("filebase64sha256", 1, Some(1), "filebase64sha256(path)", |c, a| {
        of_file(c, a, |bytes| STANDARD.encode(sha2::Sha256::digest(bytes)))
    }),
    function("filebase64sha512", 1, Some(1), "filebase64sha512(path)", |c, a| {
        of_file(c, a, |bytes| STANDARD.encode(sha2::Sha512::digest(bytes)))
    }),
    function("filemd5", 1, Some(1), "filemd5(path)", |c, a| of_file(c, a, |bytes| hex::encode(md5(bytes)))),
    function("filesha1", 1, Some(1), "filesha1(path)", |c, a| of_file(c, a, sha1_hex)),
    function("filesha256", 1, Some(1), "filesha256(path)", |c, a| of_file(c, a, sha256_hex)),
    function("filesha512", 1, Some(1), "filesha512(path)", |c, a| of_file(c, a, sha512_hex)),
];

fn of_file(
    context: &CallContext<'_, '_>,
    arguments: &[Value],
    run: fn(&[u8]) -> String,
) -> Result<Value, String> {
    Ok(run(&files::read(context, &text_of(arguments, 0)?)?).into())
}

/// RFC 9562, version 5: the same name in the same namespace gives the same identifier.
fn uuid_of_name(namespace: &str, name: &str) -> Result<String, String> {
    use sha1::Digest as _;
    let namespace = match namespace {
        "dns" => "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
        "url" => "6ba7b811-9dad-11d1-80b4-00c04fd430c8",
        "oid" => "6ba7b812-9dad-11d1-80b4-00c04fd430c8",
        "x500" => "6ba7b814-9dad-11d1-80b4-00c04fd430c8",
        other => other,
    };
    let wrong = || format!("`{namespace}` is no namespace: write dns, url, oid, x500 or a UUID");
    let mut bytes = hex::decode(namespace.replace('-', "")).map_err(|_| wrong())?;
    if bytes.len() != 16 {
        return Err(wrong());
    }
    bytes.extend_from_slice(name.as_bytes());
    let mut sum = sha1::Sha1::digest(&bytes).to_vec();
    sum.truncate(16);
    if let Some(version) = sum.get_mut(6) {
        *version = *version & 0x0f | 0x50;
    }
    if let Some(variant) = sum.get_mut(8) {
        *variant = *variant & 0x3f | 0x80;
    }
    let text = hex::encode(sum);
    let part = |range: std::ops::Range<usize>| text.get(range).unwrap_or("");
    Ok([part(0..8), part(8..12), part(12..16), part(16..20), part(20..32)].join("-"))
}

fn sha1_hex(bytes: &[u8]) -> String {
    use sha1::Digest as _;
    hex::encode(sha1::Sha1::digest(bytes))
}

fn sha256_hex(bytes: &[u8]) -> String {
    hex::encode(sha2::Sha256::digest(bytes))
}

fn sha512_hex(bytes: &[u8]) -> String {
    hex::encode(sha2::Sha512::digest(bytes))
}

/// RFC 1321. Only for compatibility with files written for Terraform; nothing of ours relies on it.
fn md5(bytes: &[u8]) -> [u8; 16] {
    const SHIFTS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];
    let mut state: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    let mut message = bytes.to_vec();
    message.push(0x80);
    while message.len() % 64 != 56 {
        message.push(0);
    }
    message.extend_from_slice(&(bytes.len() as u64).wrapping_mul(8).to_le_bytes());
    for block in message.chunks_exact(64) {
        let words: Vec<u32> = block
            .chunks_exact(4)
            .map(|word| word.iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte)))
            .collect();
        let [mut a, mut b, mut c, mut d] = state;
        for step in 0..64_usize {
            let (mixed, index) = match step / 16 {
                0 => ((b & c) | (!b & d), step),
                1 => ((d & b) | (!d & c), (5 * step + 1) % 16),
                2 => (b ^ c ^ d, (3 * step + 5) % 16),
                _ => (c ^ (b | !d), (7 * step) % 16),
            };
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
            let constant = (((step + 1) as f64).sin().abs() * 4_294_967_296.0) as u32;
            let sum = a.wrapping_add(mixed).wrapping_add(constant).wrapping_add(words[index]);
            (a, d, c) = (d, c, b);
            b = b.wrapping_add(sum.rotate_left(SHIFTS[step / 16][step % 4]));
        }
        for (slot, value) in state.iter_mut().zip([a, b, c, d]) {
            *slot = slot.wrapping_add(value);
        }
    }
    let mut out = [0; 16];
    for (slot, byte) in out.iter_mut().zip(state.iter().flat_map(|word| word.to_le_bytes())) {
        *slot = byte;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn md5_gives_the_published_values() {
        for (text, sum) in [
            ("", "d41d8cd98f00b204e9800998ecf8427e"),
            ("abc", "900150983cd24fb0d6963f7d28e17f72"),
            (
                "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
                "57edf4a22be3c955ac49da2e2107b67a",
            ),
        ] {
            assert_eq!(hex::encode(md5(text.as_bytes())), sum);
        }
    }
}
