//! Waiting for the end of a process without polling podman.
//!
//! A process of a container is not our child, so we watch it through a pidfd: the kernel tells us when it is gone, and
//! a number that was given to another process cannot fool us once the watch is open.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// An open watch on one process.
#[derive(Debug)]
pub struct Watch(Option<OwnedFd>);

impl Watch {
    /// Watches the process `pid`. A process that is gone already is a watch that ends at once.
    ///
    /// # Errors
    ///
    /// The kernel has no pidfd, or no file descriptor is left.
    pub fn open(pid: u32) -> io::Result<Self> {
        let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return Ok(Self(None)) };
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(fd) => Ok(Self(Some(fd))),
            Err(Errno::SRCH) => Ok(Self(None)),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until the process has ended, at most `limit`; true means it has.
    ///
    /// # Errors
    ///
    /// The kernel refuses to poll.
    pub fn wait(&self, limit: Option<Duration>) -> io::Result<bool> {
        let Some(fd) = &self.0 else { return Ok(true) };
        let end = limit.map(|limit| Instant::now() + limit);
        loop {
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            let timeout = left.map(|left| Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: i64::from(left.subsec_nanos()),
            });
            let mut fds = [PollFd::new(fd, PollFlags::IN)];
            match poll(&mut fds, timeout.as_ref()) {
                Ok(0) => return Ok(false),
                Ok(_) => return Ok(true),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Waits at most `limit` for the end of `pid`; true means it has ended.
///
/// # Errors
///
/// As [`Watch::open`].
pub fn ended_within(pid: u32, limit: Duration) -> io::Result<bool> {
    Watch::open(pid)?.wait(Some(limit))
}
