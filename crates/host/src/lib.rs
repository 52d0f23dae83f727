//! Everything a plain machine needs around compiled pods: a daemon that keeps them in their wanted state, a proxy that
//! leads cluster ports to them across hosts, and the configuration of HAProxy for the outside world.
//!
//! ```text
//! HOME/ cluster-id.txt  hosts.conf  portmappings.conf ◄─── daemon (running and ready pods) ───► ./pod run, stop, rm
//!   pods/POD/release/VERSION/ pod  pod.state  [pod.action]  pod.portmappings.conf  pod.ingress.conf
//!                      proxy ◄─── portmappings.conf, hosts.conf          ingress ◄─── pod.ingress.conf
//! ```
//!
//! | module | idea |
//! |---|---|
//! | [`layout`] | the directories of a host |
//! | [`daemon`] | wanted states become actions; ready pods become the port map |
//! | [`proxy`] | a connection to a cluster port finds a pod on some host |
//! | [`ingress`] | rules of all pods become one haproxy.cfg |
//! | [`project`] | which pods run on which hosts, and bringing them there |

pub mod daemon;
pub mod ingress;
pub mod layout;
pub mod project;
pub mod proxy;
