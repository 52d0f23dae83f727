//! Plans as files: saved exactly, applied exactly, readable by people except for secrets, which are sealed.
//!
//! The file is JSON. Secret values are replaced by the mask; the real ones stand in one sealed part that only the key
//! opens. The key belongs to the user who made the plan; without it a plan with secrets cannot be applied.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use podsmith_object::{Diagnostic, GroupVersionKind, Object, ObjectId, Place, Value, json};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac;
use thiserror::Error;

use crate::change::{Action, Change, Checked, Seen};
use crate::diff::FieldChange;
use crate::inventory::Inventory;
use crate::mask;
use crate::plan::Plan;

const FORMAT: u64 = 1;
const KIND: &str = "podsmith-plan";

/// The key that seals the secrets of saved plans.
pub struct PlanKey([u8; 32]);

impl PlanKey {
    /// A key from 32 random bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

/// Why a plan file cannot be used.
#[derive(Debug, Error)]
pub enum PlanFileError {
    /// Not a plan file.
    #[error("this is no saved plan: {0}")]
    NotAPlan(String),
    /// Written by a later version.
    #[error("the plan has format {0}, this program knows {FORMAT}; use a newer podsmith")]
    LaterFormat(u64),
    /// The key does not open the secrets.
    #[error(
        "the secrets in the plan cannot be opened with this key: it was saved by someone else, or changed"
    )]
    WrongKey,
    /// A plan with errors is never saved.
    #[error("a plan with errors cannot be saved")]
    HasErrors,
}

/// True when `bytes` look like a saved plan, so that a command can tell it from other sources.
pub fn is_plan(bytes: &[u8]) -> bool {
    let start = String::from_utf8_lossy(bytes.get(..64).unwrap_or(bytes)).into_owned();
    start.trim_start().starts_with('{') && start.contains(KIND)
}

/// Saves a plan.
///
/// # Errors
///
/// When the plan has errors.
pub fn save(plan: &Plan, key: &PlanKey) -> Result<Vec<u8>, PlanFileError> {
    if !plan.errors.is_empty() {
        return Err(PlanFileError::HasErrors);
    }
    let mut secrets: Vec<Value> = Vec::new();
    let changes: Vec<Value> = plan
        .changes
        .iter()
        .enumerate()
        .map(|(index, change)| {
            let desired = change.desired.as_ref().map(|desired| {
                let (plain, masked) = (desired.to_value(), mask::masked(desired));
                collect(&plain, &masked, &mut Vec::new(), &mut |path, value| {
                    secrets.push(json!([index, path, value]));
                });
                masked
            });
            change_value(change, desired)
        })
        .collect();
    let mut file = json!({
        "kind": KIND,
        "format": FORMAT,
        "target": plan.target,
        "package": plan.package,
        "namespace": plan.namespace,
        "inventory": plan.inventory.as_ref().map(|inventory| inventory.to_object().into_value()),
        "retained": Inventory::new(&plan.package, &plan.namespace).with_entries(plan.retained.iter().cloned()).to_object().into_value(),
        "warnings": plan.warnings.iter().map(|warning| warning.message.clone()).collect::<Vec<_>>(),
        "changes": changes,
    });
    let text = Value::Array(secrets).to_string();
    file["sealed"] = json!(seal(key, text.as_bytes())?);
    let sum = signature(key, &file);
    file["signature"] = json!(sum);
    let mut bytes =
        serde_json::to_vec_pretty(&file).map_err(|error| PlanFileError::NotAPlan(error.to_string()))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Reads a saved plan.
///
/// # Errors
///
/// When it is no plan, of a later format, changed by hand, or sealed with another key.
pub fn load(bytes: &[u8], key: &PlanKey) -> Result<Plan, PlanFileError> {
    let broken = |what: &str| PlanFileError::NotAPlan(what.to_owned());
    let mut file: Value =
        serde_json::from_slice(bytes).map_err(|error| PlanFileError::NotAPlan(error.to_string()))?;
    if file.get("kind").and_then(Value::as_str) != Some(KIND) {
        return Err(broken("it has another kind"));
    }
    match file.get("format").and_then(Value::as_u64) {
        Some(FORMAT) => {}
        Some(later) => return Err(PlanFileError::LaterFormat(later)),
        None => return Err(broken("it has no format")),
    }
    let given = file.as_object_mut().and_then(|map| map.shift_remove("signature"));
    if given.as_ref().and_then(Value::as_str) != Some(signature(key, &file).as_str()) {
        return Err(PlanFileError::WrongKey);
    }
    let sealed = file.get("sealed").and_then(Value::as_str).ok_or_else(|| broken("it has no sealed part"))?;
    let secrets: Value = serde_json::from_slice(&open(key, sealed)?).map_err(|_| PlanFileError::WrongKey)?;
    for secret in secrets.as_array().into_iter().flatten() {
        let slot = secret.get(0).and_then(Value::as_u64).and_then(|index| usize::try_from(index).ok());
        let slot = slot.and_then(|index| file.get_mut("changes")?.get_mut(index)?.get_mut("desired"));
        let path = secret.get(1).and_then(Value::as_array).cloned().unwrap_or_default();
        if let (Some(slot), Some(value)) = (slot, secret.get(2)) {
            put(slot, &path, value.clone());
        }
    }
    let word = |key: &str| file.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
    let mut plan = Plan::new(&word("target"), &word("package"), &word("namespace"));
    plan.inventory = read_inventory(file.get("inventory"))?;
    plan.retained =
        read_inventory(file.get("retained"))?.map(|inventory| inventory.entries).unwrap_or_default();
    for warning in
        file.get("warnings").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    {
        plan.warnings.push(Diagnostic::warning(warning));
    }
    for change in file.get("changes").and_then(Value::as_array).into_iter().flatten() {
        plan.changes.push(read_change(change).ok_or_else(|| broken("a change cannot be read"))?);
    }
    Ok(plan)
}

fn read_inventory(value: Option<&Value>) -> Result<Option<Inventory>, PlanFileError> {
    let Some(value) = value.filter(|value| value.is_object()) else { return Ok(None) };
    let object =
        Object::from_value(value.clone()).map_err(|error| PlanFileError::NotAPlan(error.to_string()))?;
    Inventory::from_object(&object).map(Some).map_err(|error| PlanFileError::NotAPlan(error.to_string()))
}

fn change_value(change: &Change, desired: Option<Value>) -> Value {
    let mut out = crate::json::change(change);
    out["step"] = json!(change.step);
    out["seen"] =
        change.seen.as_ref().map_or(Value::Null, |seen| json!({ "uid": seen.uid, "digest": seen.digest }));
    out["unowned"] = json!(change.unowned);
    out["adopted"] = json!(change.adopted);
    out["fieldsDigest"] = json!(change.fields_digest);
    out["resource"] = json!(change.resource);
    out["ownNotes"] = json!(change.notes);
    out["checked"] = match &change.checked {
        Checked::ByServer => json!("server"),
        Checked::ByDigest => json!("digest"),
        Checked::InOtherNamespace => json!("other-namespace"),
        Checked::AgainstDefinition => json!("definition"),
        Checked::Not(why) => json!({ "not": why }),
    };
    out["desired"] = desired.unwrap_or(Value::Null);
    out
}

fn read_change(value: &Value) -> Option<Change> {
    let word = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
    let id = value.get("object")?;
    let gvk = GroupVersionKind::from_api_version(&word(id, "apiVersion"), &word(id, "kind"));
    let id = ObjectId::new(gvk, word(id, "namespace"), word(id, "name"));
    let fields = value.get("fields")?.as_array()?.iter().map(|field| {
        let side = |key: &str| field.get(key).filter(|value| !value.is_null()).cloned();
        FieldChange { path: word(field, "path"), before: side("before"), after: side("after") }
    });
    let desired = match value.get("desired") {
        Some(object @ Value::Object(_)) => Some(Object::from_value(object.clone()).ok()?),
        _ => None,
    };
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    Some(Change {
        id,
        action: Action::parse(&word(value, "action"))?,
        fields: fields.collect(),
        reason: text("reason"),
        notes: value
            .get("ownNotes")?
            .as_array()?
            .iter()
            .filter_map(|note| note.as_str().map(str::to_owned))
            .collect(),
        step: usize::try_from(value.get("step")?.as_u64()?).ok()?,
        desired,
        seen: value
            .get("seen")
            .filter(|seen| seen.is_object())
            .map(|seen| Seen { uid: word(seen, "uid"), digest: word(seen, "digest") }),
        checked: match value.get("checked")? {
            Value::String(word) => match word.as_str() {
                "digest" => Checked::ByDigest,
                "other-namespace" => Checked::InOtherNamespace,
                "definition" => Checked::AgainstDefinition,
                _ => Checked::ByServer,
            },
            other => Checked::Not(word(other, "not")),
        },
        unowned: value.get("unowned")?.as_bool()?,
        adopted: value.get("adopted")?.as_bool()?,
        fields_digest: text("fieldsDigest"),
        place: value.get("source").map(|source| {
            let line = source.get("line").and_then(Value::as_u64).and_then(|line| usize::try_from(line).ok());
            Place::new(word(source, "file"), line.unwrap_or(0), 0)
        }),
        resource: text("resource"),
    })
}

/// Calls `found` for every value that differs between the plain and the masked object.
fn collect(plain: &Value, masked: &Value, path: &mut Vec<Value>, found: &mut dyn FnMut(&[Value], &Value)) {
    match (plain, masked) {
        (Value::Object(a), Value::Object(b)) => {
            for (key, value) in a {
                if let Some(other) = b.get(key) {
                    path.push(json!(key));
                    collect(value, other, path, found);
                    path.pop();
                }
            }
        }
        (Value::Array(a), Value::Array(b)) => {
            for (index, (value, other)) in a.iter().zip(b).enumerate() {
                path.push(json!(index));
                collect(value, other, path, found);
                path.pop();
            }
        }
        (a, b) if a != b => found(path, a),
        _ => {}
    }
}

fn put(slot: &mut Value, path: &[Value], value: Value) {
    let Some((first, rest)) = path.split_first() else {
        *slot = value;
        return;
    };
    let next = match first {
        Value::String(key) => slot.get_mut(key),
        other => {
            other.as_u64().and_then(|index| usize::try_from(index).ok()).and_then(|index| slot.get_mut(index))
        }
    };
    if let Some(next) = next {
        put(next, rest, value);
    }
}

/// The nonce comes from the text itself, so that the same plan gives the same bytes and no nonce is used for two texts.
fn nonce_of(key: &PlanKey, text: &[u8]) -> [u8; NONCE_LEN] {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key.0), text);
    let mut nonce = [0; NONCE_LEN];
    nonce.iter_mut().zip(tag.as_ref()).for_each(|(slot, byte)| *slot = *byte);
    nonce
}

fn cipher(key: &PlanKey) -> Result<LessSafeKey, PlanFileError> {
    UnboundKey::new(&CHACHA20_POLY1305, &key.0).map(LessSafeKey::new).map_err(|_| PlanFileError::WrongKey)
}

fn seal(key: &PlanKey, text: &[u8]) -> Result<String, PlanFileError> {
    let nonce = nonce_of(key, text);
    let mut sealed = text.to_vec();
    cipher(key)?
        .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut sealed)
        .map_err(|_| PlanFileError::WrongKey)?;
    let mut out = nonce.to_vec();
    out.extend(sealed);
    Ok(STANDARD.encode(out))
}

fn open(key: &PlanKey, sealed: &str) -> Result<Vec<u8>, PlanFileError> {
    let bytes = STANDARD.decode(sealed).map_err(|_| PlanFileError::WrongKey)?;
    let (nonce, rest) = bytes.split_at_checked(NONCE_LEN).ok_or(PlanFileError::WrongKey)?;
    let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| PlanFileError::WrongKey)?;
    let mut rest = rest.to_vec();
    let text =
        cipher(key)?.open_in_place(nonce, Aad::empty(), &mut rest).map_err(|_| PlanFileError::WrongKey)?;
    Ok(text.to_vec())
}

fn signature(key: &PlanKey, file: &Value) -> String {
    let text = podsmith_object::json::canonical(file);
    hex::encode(hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key.0), text.as_bytes()))
}
