//! Objects, lists and events in the form the client asked for.

mod age;
mod cells;
mod path;
mod table;

use std::sync::Arc;

use bytes::{BufMut as _, Bytes, BytesMut};
use podsmith_object::{Map, Value, json};

use crate::convert;
use crate::registry::Resource;
use crate::reply::Reply;
use crate::request::Form;
use crate::server::{Call, Server};
use crate::status::ApiResult;
use crate::store::Stored;

/// What a list says about itself.
#[derive(Clone, Debug, Default)]
pub struct ListMeta {
    /// The revision it shows.
    pub revision: u64,
    /// Where the next page begins; empty on the last.
    pub continue_token: String,
    /// How many objects follow, if that is known.
    pub remaining: Option<usize>,
}

impl ListMeta {
    fn to_value(&self) -> Value {
        let mut out = Map::new();
        out.insert("resourceVersion".into(), self.revision.to_string().into());
        if !self.continue_token.is_empty() {
            out.insert("continue".into(), self.continue_token.as_str().into());
        }
        if let Some(remaining) = self.remaining {
            out.insert("remainingItemCount".into(), remaining.into());
        }
        Value::Object(out)
    }
}

/// Answers with a stored object.
pub async fn stored(server: &Arc<Server>, call: &Call, code: u16, stored: &Arc<Stored>) -> ApiResult<Reply> {
    if call.form == Form::Object && !needs_conversion(&call.resource, stored) {
        return Ok(Reply::json(code, stored.json().clone()));
    }
    let object = convert::read(server, &call.resource, stored).await?;
    Ok(value(call, code, object))
}

/// Answers with an object of the call's resource that is not stored, or not as such.
pub fn value(call: &Call, code: u16, object: Value) -> Reply {
    let value = match call.form {
        Form::Object | Form::Discovery(_) => object,
        Form::Metadata => metadata_only(object),
        Form::Table => {
            let revision = crate::fields::text(&object, &["metadata", "resourceVersion"]);
            table::table(call, std::slice::from_ref(&object), json!({"resourceVersion": revision}), true)
        }
    };
    Reply::value(code, value)
}

/// Answers with a list.
pub async fn list(
    server: &Arc<Server>,
    call: &Call,
    items: Vec<Arc<Stored>>,
    meta: ListMeta,
) -> ApiResult<Reply> {
    let resource = &call.resource;
    if call.form == Form::Object && !items.iter().any(|item| needs_conversion(resource, item)) {
        return Ok(Reply::json(200, join(resource, &items, &meta)));
    }
    let mut objects = Vec::with_capacity(items.len());
    for item in &items {
        objects.push(convert::read(server, resource, item).await?);
    }
    Ok(Reply::value(200, list_value(call, objects, meta.to_value())))
}

/// A list of values in the form the client asked for.
pub fn list_value(call: &Call, objects: Vec<Value>, meta: Value) -> Value {
    let resource = &call.resource;
    match call.form {
        Form::Table => table::table(call, &objects, meta, true),
        Form::Metadata => {
            let items: Vec<Value> = objects.into_iter().map(metadata_only).collect();
            json!({"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": meta, "items": items})
        }
        Form::Object | Form::Discovery(_) => {
            let items: Vec<Value> = objects
                .into_iter()
                .map(|mut object| {
                    if !resource.is_custom()
                        && let Some(body) = object.as_object_mut()
                    {
                        body.shift_remove("kind");
                        body.shift_remove("apiVersion");
                    }
                    object
                })
                .collect();
            json!({"kind": resource.list_kind, "apiVersion": resource.api_version(), "metadata": meta, "items": items})
        }
    }
}

/// A list out of the bytes in the store: nothing is parsed.
fn join(resource: &Resource, items: &[Arc<Stored>], meta: &ListMeta) -> Bytes {
    let size: usize = items.iter().map(|item| item.json().len() + 2).sum();
    let mut out = BytesMut::with_capacity(size + 256);
    let head = format!(
        "{{\"kind\":{},\"apiVersion\":{},\"metadata\":{},\"items\":[",
        Value::from(resource.list_kind.as_str()),
        Value::from(resource.api_version()),
        meta.to_value()
    );
    out.put_slice(head.as_bytes());
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.put_u8(b',');
        }
        if resource.is_custom() {
            out.put_slice(item.json());
        } else {
            out.put_u8(b'{');
            out.put_slice(item.without_type());
        }
    }
    out.put_slice(b"]}\n");
    out.freeze()
}

fn needs_conversion(resource: &Resource, stored: &Stored) -> bool {
    resource.converts && !convert::is_in_version(resource, stored)
}

fn metadata_only(object: Value) -> Value {
    let metadata = match object {
        Value::Object(mut body) => body.shift_remove("metadata").unwrap_or_else(|| json!({})),
        _ => json!({}),
    };
    json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata})
}

/// Turns the objects of a watch into bytes. The first event of a table carries the columns, later ones do not.
#[derive(Default)]
pub struct WatchEncoder {
    columns_sent: bool,
}

impl WatchEncoder {
    /// One object.
    pub async fn object(&mut self, server: &Arc<Server>, call: &Call, stored: &Arc<Stored>) -> Bytes {
        if call.form == Form::Object && !needs_conversion(&call.resource, stored) {
            return stored.json().clone();
        }
        let object = match convert::read(server, &call.resource, stored).await {
            Ok(object) => object,
            Err(error) => error.to_value(),
        };
        self.encode(call, object)
    }

    /// A bookmark.
    pub fn bookmark(&mut self, call: &Call, object: Value) -> Bytes {
        self.encode(call, object)
    }

    fn encode(&mut self, call: &Call, object: Value) -> Bytes {
        let value = match call.form {
            Form::Object | Form::Discovery(_) => object,
            Form::Metadata => metadata_only(object),
            Form::Table => {
                let first = !std::mem::replace(&mut self.columns_sent, true);
                let revision = crate::fields::text(&object, &["metadata", "resourceVersion"]);
                let meta = json!({"resourceVersion": revision});
                table::table(call, std::slice::from_ref(&object), meta, first)
            }
        };
        Bytes::from(value.to_string())
    }
}
