//! Lists: selectors, pages, revisions.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use podsmith_object::{Value, json};

use super::read::settle;
use crate::output::{self, ListMeta};
use crate::registry::Resource;
use crate::reply::Reply;
use crate::request::ListOptions;
use crate::select::Filter;
use crate::server::{Call, Server};
use crate::status::{ApiError, ApiResult};
use crate::store::{Compacted, Stored};

/// A page of a list.
pub struct Page {
    /// Objects in key order.
    pub items: Vec<Arc<Stored>>,
    /// What the list says about itself.
    pub meta: ListMeta,
}

/// Answers with a list.
pub async fn list(server: &Arc<Server>, call: &Call, options: &ListOptions) -> ApiResult<Reply> {
    let page = read(server, &call.resource, &call.target.namespace, &call.target.name, options).await?;
    output::list(server, call, page.items, page.meta).await
}

/// Where the next page begins.
struct Token {
    revision: Option<u64>,
    after: String,
}

/// Reads a page. `name` narrows the list to one object, for the deprecated watch paths.
pub async fn read(
    server: &Arc<Server>,
    resource: &Resource,
    namespace: &str,
    name: &str,
    options: &ListOptions,
) -> ApiResult<Page> {
    let filter = Filter::new(resource, options, name)?;
    let prefix = resource.prefix(namespace);
    let (after, at) = if options.continue_token.is_empty() {
        (None, asked_revision(server, options)?)
    } else {
        let token = read_token(&options.continue_token)?;
        if !options.resource_version.is_empty() && options.resource_version != "0" {
            return Err(ApiError::bad_request(
                "specifying resource version is not allowed when using continue",
            ));
        }
        (Some(format!("{prefix}{}", token.after)), token.revision)
    };
    // The real server serves revision 0 from its cache, whole.
    let limit = options.limit.filter(|_| options.resource_version != "0");
    let ask = if filter.is_everything() { limit.map(|limit| limit + 1) } else { None };
    let listing = server
        .store
        .list(&resource.table, &prefix, after.as_deref(), ask, at)
        .map_err(|gone| expired(gone, options, after.as_deref(), &prefix))?;
    settle(server, listing.revision).await?;
    let mut meta = ListMeta { revision: listing.revision, ..ListMeta::default() };
    let mut items = Vec::new();
    let mut last = None;
    for (key, stored) in &listing.items {
        if !filter.matches(key, stored) {
            continue;
        }
        if limit.is_some_and(|limit| items.len() >= limit) {
            let start = last.map_or("", |key: &Arc<str>| key.get(prefix.len()..).unwrap_or(key));
            meta.continue_token = write_token(Some(listing.revision), start);
            break;
        }
        items.push(stored.clone());
        last = Some(key);
    }
    if !meta.continue_token.is_empty()
        && filter.is_everything()
        && let Some(last) = last
        && let Ok(rest) =
            server.store.list(&resource.table, &prefix, Some(last), None, Some(listing.revision))
    {
        meta.remaining = Some(rest.items.len());
    }
    Ok(Page { items, meta })
}

/// The revision a list must be exactly at; also checks that the future is not asked for.
fn asked_revision(server: &Arc<Server>, options: &ListOptions) -> ApiResult<Option<u64>> {
    let asked = parse_revision(&options.resource_version)?;
    let now = server.store.revision();
    if asked > now {
        return Err(ApiError::revision_too_large(asked, now));
    }
    let exact = options.resource_version_match == "Exact"
        || (options.resource_version_match.is_empty() && options.limit.is_some() && asked > 0);
    Ok(exact.then_some(asked))
}

/// Reads a revision; nothing means 0.
pub fn parse_revision(text: &str) -> ApiResult<u64> {
    if text.is_empty() {
        return Ok(0);
    }
    text.parse().map_err(|_| {
        ApiError::internal(format!(
            "resourceVersion: Invalid value: \"{text}\": strconv.ParseUint: parsing \"{text}\": invalid syntax"
        ))
    })
}

fn expired(gone: Compacted, options: &ListOptions, after: Option<&str>, prefix: &str) -> ApiError {
    if options.continue_token.is_empty() {
        let asked = &options.resource_version;
        return ApiError::expired(format!("too old resource version: {asked} ({})", gone.oldest));
    }
    let start = after.and_then(|after| after.strip_prefix(prefix)).unwrap_or("");
    let mut error = ApiError::expired(
        "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
    );
    error.continue_token = Some(write_token(None, start));
    error
}

fn write_token(revision: Option<u64>, after: &str) -> String {
    let revision: Value = revision.map_or(Value::from(-1), Value::from);
    let token = json!({"v": "meta.k8s.io/v1", "rv": revision, "start": format!("/{after}\u{0}")});
    URL_SAFE_NO_PAD.encode(token.to_string())
}

fn read_token(text: &str) -> ApiResult<Token> {
    let invalid = |why: String| {
        ApiError::bad_request(format!("invalid continue token: continue key is not valid: {why}"))
    };
    let bytes =
        URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).map_err(|error| invalid(error.to_string()))?;
    let token: Value = serde_json::from_slice(&bytes).map_err(|error| invalid(error.to_string()))?;
    let start = token.get("start").and_then(Value::as_str).unwrap_or("");
    let after = start.strip_prefix('/').and_then(|start| start.strip_suffix('\u{0}'));
    match (token.get("v").and_then(Value::as_str), after) {
        (Some("meta.k8s.io/v1"), Some(after)) => {
            Ok(Token { revision: token.get("rv").and_then(Value::as_u64), after: after.to_owned() })
        }
        _ => Err(invalid("incorrect format".to_owned())),
    }
}
