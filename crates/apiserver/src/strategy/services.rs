//! Services: addresses and ports from the cluster's ranges.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use parking_lot::Mutex;
use podsmith_object::{Value, json};

use crate::fields;
use crate::status::{ApiError, ApiResult, Cause};

/// The range of cluster addresses: a network and how many bits are fixed.
const NETWORK: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 0);
const PREFIX: u32 = 16;
/// The range of node ports.
const PORTS: std::ops::RangeInclusive<u16> = 30_000..=32_767;
/// The address of the service `kubernetes`.
pub const FIRST_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);

/// The range as text.
pub fn range() -> String {
    format!("{NETWORK}/{PREFIX}")
}

/// What is handed out.
#[derive(Debug, Default)]
pub struct Addresses {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    addresses: BTreeMap<u32, String>,
    ports: BTreeMap<u16, String>,
    next: u32,
}

fn owner(service: &Value) -> String {
    format!("{}/{}", fields::namespace(service), fields::name(service))
}

fn address_of(service: &Value) -> Option<Ipv4Addr> {
    fields::text(service, &["spec", "clusterIP"]).parse().ok()
}

fn ports_of(service: &Value) -> impl Iterator<Item = u16> {
    let ports = fields::list(service, &["spec", "ports"]).iter();
    let own = ports
        .filter_map(|port| port.get("nodePort"))
        .chain(fields::at(service, &["spec", "healthCheckNodePort"]));
    own.filter_map(|port| u16::try_from(port.as_u64()?).ok()).filter(|port| *port > 0)
}

fn wants_address(service: &Value) -> bool {
    fields::text(service, &["spec", "type"]) != "ExternalName"
}

fn is_headless(service: &Value) -> bool {
    fields::text(service, &["spec", "clusterIP"]) == "None"
}

fn wants_ports(service: &Value) -> bool {
    let balancer = fields::text(service, &["spec", "type"]) == "LoadBalancer"
        && fields::at(service, &["spec", "allocateLoadBalancerNodePorts"]) != Some(&Value::Bool(false));
    balancer || fields::text(service, &["spec", "type"]) == "NodePort"
}

/// What a service no longer needs goes, unless the client changed it.
pub fn drop_allocated(old: &Value, new: &mut Value) {
    if !wants_address(new) {
        for key in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
            if fields::at(old, &["spec", key]) == fields::at(new, &["spec", key]) {
                fields::remove(new, &["spec", key]);
            }
        }
    }
    if wants_ports(old) && !wants_ports(new) {
        let known: Vec<u16> = ports_of(old).collect();
        if let Some(Value::Array(ports)) = new.get_mut("spec").and_then(|spec| spec.get_mut("ports")) {
            for port in ports {
                let number = port.get("nodePort").and_then(Value::as_u64).and_then(|n| u16::try_from(n).ok());
                if number.is_some_and(|number| known.contains(&number)) {
                    fields::remove(port, &["nodePort"]);
                }
            }
        }
    }
}

impl Addresses {
    /// Notes what a stored service has, or that it is gone.
    pub fn note(&self, service: &Value, gone: bool) {
        let mut state = self.state.lock();
        let owner = owner(service);
        state.addresses.retain(|_, known| *known != owner);
        state.ports.retain(|_, known| *known != owner);
        if !gone {
            if let Some(address) = address_of(service) {
                state.addresses.insert(address.to_bits(), owner.clone());
            }
            for port in ports_of(service) {
                state.ports.insert(port, owner.clone());
            }
        }
    }

    /// Gives a service what it lacks. Nothing is kept for a dry run.
    ///
    /// # Errors
    ///
    /// 422 when a wanted address or port is taken or out of range.
    pub fn allocate(&self, service: &mut Value, dry_run: bool) -> ApiResult<()> {
        let mut state = self.state.lock();
        let owner = owner(service);
        let invalid = |cause| Err(ApiError::invalid("", "Service", fields::name(service), vec![cause]));
        if !wants_address(service) {
            return Ok(());
        }
        if let Some(address) = address_of(service) {
            let shown = json!([address.to_string()]);
            if address.to_bits() >> (32 - PREFIX) != NETWORK.to_bits() >> (32 - PREFIX) {
                let why = format!(
                    "failed to allocate IP {address}: the provided IP ({address}) is not in the valid range. The range of valid IPs is {}",
                    range()
                );
                return invalid(Cause::invalid("spec.clusterIPs", &shown, why));
            }
            if state.addresses.get(&address.to_bits()).is_some_and(|known| *known != owner) {
                let why = format!("failed to allocate IP {address}: provided IP is already allocated");
                return invalid(Cause::invalid("spec.clusterIPs", &shown, why));
            }
            if !dry_run {
                state.addresses.insert(address.to_bits(), owner.clone());
            }
        } else if !is_headless(service) {
            let Some(address) = state.free_address() else {
                return Err(ApiError::internal_error("failed to allocate a serviceIP: range is full"));
            };
            if !dry_run {
                state.addresses.insert(address, owner.clone());
            }
            fields::set(service, &["spec", "clusterIP"], Ipv4Addr::from_bits(address).to_string().into());
        }
        complete_families(service);
        state.allocate_ports(service, &owner, dry_run)
    }
}

/// The plural forms follow the singular ones.
fn complete_families(service: &mut Value) {
    let address = fields::at(service, &["spec", "clusterIP"]).cloned().unwrap_or(Value::Null);
    if fields::list(service, &["spec", "clusterIPs"]).is_empty() {
        fields::set(service, &["spec", "clusterIPs"], json!([address]));
    }
    let free_headless = is_headless(service) && fields::at(service, &["spec", "selector"]).is_none();
    if fields::at(service, &["spec", "ipFamilyPolicy"]).is_none() {
        let policy = if free_headless { "RequireDualStack" } else { "SingleStack" };
        fields::set(service, &["spec", "ipFamilyPolicy"], policy.into());
    }
    if fields::list(service, &["spec", "ipFamilies"]).is_empty() {
        let both = free_headless && fields::text(service, &["spec", "ipFamilyPolicy"]) == "RequireDualStack";
        let families = if both { json!(["IPv4", "IPv6"]) } else { json!(["IPv4"]) };
        fields::set(service, &["spec", "ipFamilies"], families);
    }
}

impl State {
    fn free_address(&mut self) -> Option<u32> {
        let size = 1u32 << (32 - PREFIX);
        for _ in 0..size {
            // Spread them: neighbours in time are not neighbours in the range.
            self.next = (self.next + 7919) % size;
            let address = NETWORK.to_bits() + self.next;
            // The first 256 are left for those who ask for one by number.
            let usable = self.next >= 256 && self.next < size - 1;
            if usable && !self.addresses.contains_key(&address) {
                return Some(address);
            }
        }
        None
    }

    fn allocate_ports(&mut self, service: &mut Value, owner: &str, dry_run: bool) -> ApiResult<()> {
        let wants = wants_ports(service);
        let name = fields::name(service).to_owned();
        let mut taken: Vec<u16> = Vec::new();
        let Some(Value::Array(ports)) = service.get_mut("spec").and_then(|spec| spec.get_mut("ports")) else {
            return Ok(());
        };
        for (index, port) in ports.iter_mut().enumerate() {
            let given = port.get("nodePort").and_then(Value::as_u64).filter(|port| *port > 0);
            let number = match given {
                Some(given) => {
                    let field = format!("spec.ports[{index}].nodePort");
                    let refuse = |why: &str| {
                        let cause = Cause::invalid(field.clone(), &Value::from(given), why);
                        Err(ApiError::invalid("", "Service", &name, vec![cause]))
                    };
                    let Some(number) = u16::try_from(given).ok().filter(|number| PORTS.contains(number))
                    else {
                        return refuse(
                            "provided port is not in the valid range. The range of valid ports is 30000-32767",
                        );
                    };
                    if self.ports.get(&number).is_some_and(|known| known != owner) {
                        return refuse("provided port is already allocated");
                    }
                    number
                }
                None if wants => {
                    let start = u16::try_from(uuid::Uuid::new_v4().as_u128() % 2768).unwrap_or(0);
                    let all = (0..2768u16).map(|step| 30_000 + (start + step) % 2768);
                    let mut free = all.filter(|port| !self.ports.contains_key(port) && !taken.contains(port));
                    let Some(number) = free.next() else {
                        return Err(ApiError::internal_error("failed to allocate a nodePort: range is full"));
                    };
                    fields::set(port, &["nodePort"], number.into());
                    number
                }
                None => continue,
            };
            taken.push(number);
        }
        if !dry_run {
            self.ports.extend(taken.into_iter().map(|port| (port, owner.to_owned())));
        }
        Ok(())
    }
}
