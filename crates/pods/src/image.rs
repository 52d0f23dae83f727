//! The compiled pod as a file: a runtime executable with the pod's description behind it.
//!
//! ```text
//! runtime executable … | description as JSON | length of the description, 8 bytes, little endian | magic, 16 bytes
//! ```
//!
//! The loader of the operating system never looks behind the last segment, so the file runs as it is.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{FallocateFlags, fallocate, ioctl_ficlone};

use crate::spec::PodSpec;

const MAGIC: &[u8; 16] = b"PODSMITH\x00POD\x0001\n";
const TRAILER: u64 = 24;
const LARGEST: u64 = 16 << 20;

/// Which executable to put in front of the description.
#[derive(Clone, Debug)]
pub enum Runtime {
    /// A file.
    File(PathBuf),
    /// Bytes of this program.
    Bytes(&'static [u8]),
    /// A file that was read already, for writing many pods.
    Loaded(PathBuf, Arc<[u8]>),
}

impl Runtime {
    /// The small runtime `podsmith-pod` beside the running program, or else the running program itself.
    ///
    /// # Errors
    ///
    /// The operating system does not tell the path of the running program.
    pub fn locate() -> io::Result<Self> {
        let own = std::env::current_exe()?;
        let small = own.with_file_name("podsmith-pod");
        Ok(Self::File(if small.is_file() { small } else { own }))
    }

    /// Reads a file once, so that many pods can be written from memory. What cannot be read stays as it is.
    #[must_use]
    pub fn loaded(self) -> Self {
        let Self::File(path) = &self else { return self };
        match read_runtime(path) {
            Ok(bytes) => Self::Loaded(path.clone(), bytes.into()),
            Err(_) => self,
        }
    }
}

/// Reads the description behind an executable, if there is one.
///
/// # Errors
///
/// The file cannot be read, or the description is damaged.
pub fn read_description(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut file = File::open(path)?;
    Ok(find(&mut file)?.map(|(_, description)| description))
}

/// Length of the runtime and the description.
fn find(file: &mut File) -> io::Result<Option<(u64, Vec<u8>)>> {
    let size = file.metadata()?.len();
    if size < TRAILER {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(size - TRAILER))?;
    let mut trailer = [0_u8; TRAILER as usize];
    file.read_exact(&mut trailer)?;
    let (length, magic) = trailer.split_at(8);
    if magic != MAGIC {
        return Ok(None);
    }
    let length = length.try_into().map(u64::from_le_bytes).unwrap_or(u64::MAX);
    let start = (size - TRAILER).checked_sub(length).filter(|_| length <= LARGEST);
    let Some(start) = start else {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the description of the pod is damaged"));
    };
    file.seek(SeekFrom::Start(start))?;
    let mut description = Vec::new();
    file.take(length).read_to_end(&mut description)?;
    Ok(Some((start, description)))
}

/// The pod compiled into the running program: checked first thing in `main`.
///
/// # Errors
///
/// The running program cannot be read, or its description is damaged.
pub fn embedded() -> io::Result<Option<PodSpec>> {
    match read_description(Path::new("/proc/self/exe"))? {
        None => Ok(None),
        Some(description) => serde_json::from_slice(&description).map(Some).map_err(io::Error::other),
    }
}

/// Writes the compiled pod to `output`, through a temporary file beside it: a running pod keeps its old file. A file
/// that is the same already is left alone.
///
/// # Errors
///
/// A file cannot be read or written; the message names it.
pub fn write(runtime: &Runtime, pod: &PodSpec, output: &Path) -> io::Result<()> {
    let description = serde_json::to_vec(pod).map_err(io::Error::other)?;
    let mut tail = Vec::with_capacity(description.len() + TRAILER as usize);
    tail.extend_from_slice(&description);
    tail.extend_from_slice(&(description.len() as u64).to_le_bytes());
    tail.extend_from_slice(MAGIC);
    if is_same(runtime, &tail, output).unwrap_or(false) {
        return Ok(());
    }
    let temporary = beside(output);
    let written = write_to(runtime, &tail, &temporary).and_then(|()| std::fs::rename(&temporary, output));
    if written.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

/// The runtime in a file. A program that is itself a compiled pod gives its runtime, not its pod.
fn read_runtime(path: &Path) -> io::Result<Vec<u8>> {
    let (length, mut file) = open_runtime(path)?;
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn open_runtime(path: &Path) -> io::Result<(u64, io::Take<File>)> {
    let mut file = File::open(path)?;
    let length = find(&mut file)?.map_or(file.metadata()?.len(), |(start, _)| start);
    file.seek(SeekFrom::Start(0))?;
    Ok((length, file.take(length)))
}

/// The runtime as a stream with its length.
fn open(runtime: &Runtime) -> io::Result<(u64, Box<dyn Read + '_>)> {
    match runtime {
        Runtime::Bytes(bytes) => Ok((bytes.len() as u64, Box::new(*bytes))),
        Runtime::Loaded(_, bytes) => Ok((bytes.len() as u64, Box::new(&bytes[..]))),
        Runtime::File(path) => {
            open_runtime(path).map(|(length, file)| (length, Box::new(file) as Box<dyn Read>))
        }
    }
}

/// Reading and comparing costs a fraction of writing, and an untouched file is no change for tools that copy releases.
fn is_same(runtime: &Runtime, tail: &[u8], output: &Path) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt;
    let mut present = File::open(output)?;
    let metadata = present.metadata()?;
    let (length, mut wanted) = open(runtime)?;
    if metadata.len() != length + tail.len() as u64 || metadata.permissions().mode() & 0o777 != 0o755 {
        return Ok(false);
    }
    // The end first: it is short and differs most often.
    present.seek(SeekFrom::Start(length))?;
    let mut end = Vec::with_capacity(tail.len());
    present.read_to_end(&mut end)?;
    present.seek(SeekFrom::Start(0))?;
    if end != tail {
        return Ok(false);
    }
    let (mut ours, mut theirs) = (vec![0_u8; 128 * 1024], vec![0_u8; 128 * 1024]);
    loop {
        let count = wanted.read(&mut ours)?;
        let (Some(ours), Some(theirs)) = (ours.get(..count), theirs.get_mut(..count)) else {
            return Ok(false);
        };
        if count == 0 {
            return Ok(true);
        }
        present.read_exact(theirs)?;
        if ours != theirs {
            return Ok(false);
        }
    }
}

fn write_to(runtime: &Runtime, tail: &[u8], path: &Path) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut out = File::options().write(true).create(true).truncate(true).mode(0o755).open(path)?;
    match runtime {
        Runtime::Bytes(bytes) => write_bytes(&mut out, bytes, tail)?,
        Runtime::File(file) => match share_blocks(file, &mut out) {
            Ok(()) => out.write_all(tail)?,
            Err(_) => write_bytes(&mut out, &read_runtime(file)?, tail)?,
        },
        Runtime::Loaded(file, bytes) => match share_blocks(file, &mut out) {
            Ok(()) => out.write_all(tail)?,
            Err(_) => write_bytes(&mut out, bytes, tail)?,
        },
    }
    out.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755))
}

/// Lets `out` share the blocks of the runtime, on file systems that can, and goes to its end.
fn share_blocks(runtime: &Path, out: &mut File) -> io::Result<()> {
    let mut source = File::open(runtime)?;
    ioctl_ficlone(&*out, &source)?;
    let length = find(&mut source)?.map_or(source.metadata()?.len(), |(start, _)| start);
    out.set_len(length)?;
    out.seek(SeekFrom::Start(length)).map(drop)
}

/// Writes from memory into space that is reserved first: a good third cheaper than letting the kernel copy the file.
fn write_bytes(out: &mut File, bytes: &[u8], tail: &[u8]) -> io::Result<()> {
    let _ = fallocate(&*out, FallocateFlags::empty(), 0, (bytes.len() + tail.len()) as u64);
    out.write_all(bytes)?;
    out.write_all(tail)
}

/// A hidden name beside `path`, for a file that is renamed when it is complete.
pub(crate) fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
}
