//! Containers, pods, volumes, networks, probes and logs through podman.
//!
//! Every call is one argument vector; no shell is involved, so no character in a name, an image or a variable means
//! anything. Nothing here keeps state: the caller decides, podman acts.
//!
//! ```no_run
//! use podsmith_podman::{ContainerRun, Podman, PodCreate};
//!
//! let podman = Podman::from_environment();
//! podman.create_pod(&PodCreate::new("web-1.0.0").publish("8080:80"))?;
//! let started = podman.run_detached(&ContainerRun::new("app-web-1.0.0", "localhost/app:1").pod("web-1.0.0"))?;
//! # Ok::<(), podsmith_podman::Error>(())
//! ```
//!
//! | module | idea |
//! |---|---|
//! | [`command`](Podman) | one podman process with a deadline |
//! | [`container`], [`pod`] | what to start, as argument vectors |
//! | [`list`] | what exists: one call for all containers of a label |
//! | [`logs`] | the log files that conmon writes: reading, merging, rotating |
//! | [`probe`] | TCP and HTTP checks that need no tool in the image |
//! | [`watch`] | waiting for the end of a process without polling podman |

mod command;
pub mod container;
pub mod list;
pub mod logs;
pub mod pod;
pub mod probe;
pub mod watch;

pub use command::{Error, Exit, Podman};
pub use container::ContainerRun;
pub use list::{ContainerState, Listed};
pub use pod::PodCreate;
