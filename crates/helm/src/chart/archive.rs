//! Chart archives (`.tgz`): the files inside, or why the archive is refused.

use std::io::Read;

use flate2::read::GzDecoder;
use thiserror::Error;

use super::file::ChartFile;

/// How large a chart may be once unpacked.
pub const LARGEST_CHART: u64 = 100 << 20;
/// How large one file of a chart may be.
pub const LARGEST_FILE: u64 = 5 << 20;

/// Why an archive was refused.
#[derive(Debug, Error)]
pub enum ArchiveError {
    /// The bytes are not gzip.
    #[error("not a gzip archive")]
    NotGzip,
    /// The archive is damaged.
    #[error("the archive is damaged")]
    Damaged(#[source] std::io::Error),
    /// A name that would land outside the chart.
    #[error("entry `{name}` {problem}")]
    Path {
        /// The name in the archive.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A symbolic or hard link, a device, or another special file.
    #[error("entry `{name}` is a {kind}, only files and directories are allowed")]
    Special {
        /// The name in the archive.
        name: String,
        /// What it is.
        kind: &'static str,
    },
    /// One file is too large.
    #[error("entry `{name}` is larger than {limit} bytes")]
    FileTooLarge {
        /// The name in the archive.
        name: String,
        /// The limit.
        limit: u64,
    },
    /// The whole is too large.
    #[error("the unpacked chart is larger than {limit} bytes")]
    ChartTooLarge {
        /// The limit.
        limit: u64,
    },
    /// Nothing inside.
    #[error("there are no files in the archive")]
    Empty,
}

/// Unpacks an archive into memory. The first step of every name (the chart's directory) is dropped.
///
/// # Errors
///
/// See [`ArchiveError`]. Memory stays within [`LARGEST_CHART`] whatever the archive claims.
pub fn unpack(bytes: &[u8]) -> Result<Vec<ChartFile>, ArchiveError> {
    if !bytes.starts_with(&[0x1f, 0x8b, 0x08]) {
        return Err(ArchiveError::NotGzip);
    }
    // The bound covers headers and padding too, so that an endless stream of empty entries ends.
    let inflated = GzDecoder::new(bytes).take(LARGEST_CHART * 2);
    let mut archive = tar::Archive::new(inflated);
    let mut files = Vec::new();
    let mut left = LARGEST_CHART;
    for entry in archive.entries().map_err(ArchiveError::Damaged)? {
        let mut entry = entry.map_err(ArchiveError::Damaged)?;
        let raw = entry.path_bytes();
        let name = String::from_utf8_lossy(&raw).into_owned();
        drop(raw);
        match entry.header().entry_type() {
            tar::EntryType::Directory | tar::EntryType::XGlobalHeader | tar::EntryType::XHeader => continue,
            tar::EntryType::Regular | tar::EntryType::Continuous | tar::EntryType::GNUSparse => {}
            // Old archives mark a directory by its name only.
            _ if name.ends_with('/') => continue,
            other => return Err(ArchiveError::Special { name, kind: kind_of(other) }),
        }
        if name.ends_with('/') {
            continue;
        }
        let path = inner_path(&name)?;
        let size = entry.size();
        if size > left {
            return Err(ArchiveError::ChartTooLarge { limit: LARGEST_CHART });
        }
        if size > LARGEST_FILE {
            return Err(ArchiveError::FileTooLarge { name, limit: LARGEST_FILE });
        }
        let mut content = Vec::new();
        entry.by_ref().take(LARGEST_FILE + 1).read_to_end(&mut content).map_err(ArchiveError::Damaged)?;
        left = left
            .checked_sub(content.len() as u64)
            .ok_or(ArchiveError::ChartTooLarge { limit: LARGEST_CHART })?;
        files.push(ChartFile::new(path, content));
    }
    if files.is_empty() { Err(ArchiveError::Empty) } else { Ok(files) }
}

fn kind_of(entry: tar::EntryType) -> &'static str {
    match entry {
        tar::EntryType::Symlink => "symbolic link",
        tar::EntryType::Link => "hard link",
        tar::EntryType::Char | tar::EntryType::Block => "device",
        tar::EntryType::Fifo => "named pipe",
        _ => "special file",
    }
}

/// The path inside the chart, for names written with `/` or, by Windows tools, with `\`.
fn inner_path(name: &str) -> Result<String, ArchiveError> {
    let refuse = |problem| ArchiveError::Path { name: name.to_owned(), problem };
    let slashed = name.replace('\\', "/");
    let (first, inner) = slashed.split_once('/').unwrap_or((&slashed, ""));
    if inner.starts_with('/') {
        return Err(refuse("has an absolute path"));
    }
    let path = podsmith_object::files::normalize(inner).ok_or(refuse("leaves the chart's directory"))?;
    if path.is_empty() {
        return Err(refuse("is outside the chart's directory"));
    }
    if matches!(path.as_bytes(), [letter, b':', b'/', ..] if letter.is_ascii_alphabetic()) {
        return Err(refuse("has a drive letter"));
    }
    if first == "Chart.yaml" {
        return Err(refuse("is not in the chart's directory"));
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};

    fn pack(entries: &[(&str, tar::EntryType, &[u8])]) -> Vec<u8> {
        let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for (name, kind, content) in entries {
            let mut header = tar::Header::new_gnu();
            // `set_path` refuses what an attacker would write, so the field is filled directly.
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_entry_type(*kind);
            header.set_size(content.len() as u64);
            header.set_mode(0o644);
            header.set_cksum();
            builder.append(&header, *content).unwrap();
        }
        builder.into_inner().unwrap().finish().unwrap()
    }

    fn file(name: &str) -> Result<Vec<ChartFile>, ArchiveError> {
        unpack(&pack(&[(name, tar::EntryType::Regular, b"x")]))
    }

    #[test]
    fn the_first_step_of_a_name_is_dropped() {
        assert_eq!(file("chart/templates/a.yaml").unwrap()[0].path(), "templates/a.yaml");
        assert_eq!(file("/Chart.yaml").unwrap()[0].path(), "Chart.yaml");
        assert_eq!(file("c:\\Chart.yaml").unwrap()[0].path(), "Chart.yaml");
    }

    #[test]
    fn names_that_leave_the_chart_are_refused() {
        for name in [
            "../../x",
            "/foo/../../x",
            "./../../x",
            "./.",
            "/./.",
            "lonely",
            "//foo",
            "\\\\foo",
            "\\..\\..\\foo",
            "\\.\\c:\\\\foo",
            "/./c://foo",
            "Chart.yaml/x",
        ] {
            assert!(matches!(file(name), Err(ArchiveError::Path { .. })), "{name}");
        }
    }

    #[test]
    fn links_and_devices_are_refused() {
        for kind in [tar::EntryType::Symlink, tar::EntryType::Link, tar::EntryType::Char] {
            let bytes = pack(&[("c/x", kind, b"")]);
            assert!(matches!(unpack(&bytes), Err(ArchiveError::Special { .. })));
        }
    }

    #[test]
    fn size_bombs_are_refused() {
        let large = vec![0; usize::try_from(LARGEST_FILE).unwrap() + 1];
        let bytes = pack(&[("c/x", tar::EntryType::Regular, &large)]);
        assert!(bytes.len() < 100_000);
        assert!(matches!(unpack(&bytes), Err(ArchiveError::FileTooLarge { .. })));

        let fits = vec![0; usize::try_from(LARGEST_FILE).unwrap()];
        let many: Vec<_> = (0..21).map(|_| ("c/x", tar::EntryType::Regular, fits.as_slice())).collect();
        assert!(matches!(unpack(&pack(&many)), Err(ArchiveError::ChartTooLarge { .. })));
    }

    #[test]
    fn what_is_not_an_archive_is_said_so() {
        assert!(matches!(unpack(b"a: 1"), Err(ArchiveError::NotGzip)));
        assert!(matches!(unpack(&pack(&[])), Err(ArchiveError::Empty)));
    }
}
