//! Manifests behind a URL.

use podsmith_engine::{MemorySource, Sources};
use podsmith_helm::repository::http::HttpClient;
use podsmith_helm::repository::{Address, Fetch, Request};
use podsmith_object::{Diagnostic, Diagnostics, Place, read_objects};

/// How large a file behind a URL may be.
const LARGEST: u64 = 64 << 20;
const MOST_REDIRECTS: usize = 5;

/// Fetches the manifests and reads them.
///
/// # Errors
///
/// When they cannot be fetched, or are wrong.
pub fn fetch(url: &str) -> Result<Sources<MemorySource>, Diagnostics> {
    let bytes = get(url).map_err(|reason| {
        Diagnostics::from(
            Diagnostic::error(format!("could not fetch the source: {reason}")).at(Place::file(url)),
        )
    })?;
    Ok(Sources::new("url", [MemorySource::new(url, read_objects(url, &bytes)?)]))
}

fn get(url: &str) -> Result<Vec<u8>, String> {
    let client = HttpClient::new();
    let mut address = Address::parse(url).ok_or("it is not an address")?;
    for _ in 0..=MOST_REDIRECTS {
        let request = Request { address: address.clone(), headers: Vec::new(), form: None, limit: LARGEST };
        let response = client.fetch(&request).map_err(|error| error.reason)?;
        match (response.status, response.header("location")) {
            (200, _) => return Ok(response.body),
            (301 | 302 | 303 | 307 | 308, Some(next)) => {
                address = address
                    .join(next)
                    .ok_or_else(|| format!("it redirects to `{next}`, which is no address"))?;
            }
            (status, _) => return Err(format!("the server answered {status}")),
        }
    }
    Err("it redirects too often".to_owned())
}
