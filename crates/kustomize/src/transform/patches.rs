//! Strategic merge patches and JSON patches.

use podsmith_object::{Diagnostic, Diagnostics, Map, Value};

use super::json_patch::JsonPatch;
use super::select::Matcher;
use crate::kustomization::Patch;
use crate::load::Loader;
use crate::merge::{MergeTypes, TypeId, merge};
use crate::resources::{
    Duplicates, Resource, ResourceMap, Step, go_float, mapping_at, read_inline, read_resources, text_of,
};

/// A patch after reading: it is clear which of the two kinds it is.
#[derive(Debug)]
pub(crate) enum LoadedPatch {
    Merge(Vec<Resource>),
    Json(JsonPatch),
}

/// Reads an entry of `patches`.
pub(crate) fn load_patch(loader: &Loader, patch: &Patch, file: &str) -> Result<LoadedPatch, Diagnostics> {
    let inline = patch.patch.trim();
    let (merge, text) = match (inline.is_empty(), patch.path.is_empty()) {
        (true, true) => {
            return Err(Diagnostic::error("a patch needs `patch` or `path`").into());
        }
        (false, false) => {
            return Err(Diagnostic::error("a patch cannot have both `patch` and `path`").into());
        }
        (false, true) => {
            let merge = read_inline(file, inline, patch.lines_before, Duplicates::FirstWins);
            (merge, inline.to_owned())
        }
        (true, false) => {
            let bytes = loader.load(&patch.path)?;
            let merge = read_resources(&loader.display(&patch.path), &bytes, Duplicates::FirstWins);
            (merge, String::from_utf8_lossy(&bytes).into_owned())
        }
    };
    let json = JsonPatch::parse(&text);
    match (merge, json) {
        (Ok(merge), Ok(json)) if !merge.is_empty() && !json.is_empty() => {
            Err(Diagnostic::error("this is both a strategic merge patch and a JSON patch").into())
        }
        (Ok(merge), _) => Ok(LoadedPatch::Merge(merge)),
        (Err(_), Ok(json)) => Ok(LoadedPatch::Json(json)),
        (Err(merge), Err(json)) => {
            let mut diagnostic =
                Diagnostic::error("this is neither a strategic merge patch nor a JSON patch");
            for reason in merge.0.iter().take(1) {
                let place = reason.place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
                diagnostic =
                    diagnostic.because(format!("not a strategic merge patch: {place}{}", reason.message));
            }
            Err(diagnostic.because(format!("not a JSON patch: {json}")).into())
        }
    }
}

/// Applies an entry of `patches`.
pub(crate) fn apply_loaded(
    resources: &mut ResourceMap,
    types: &MergeTypes,
    patch: &Patch,
    loaded: &LoadedPatch,
) -> Result<(), Diagnostics> {
    match loaded {
        LoadedPatch::Merge(merges) => {
            let Some(target) = &patch.target else {
                return merges.iter().try_for_each(|merge| {
                    let index = find_one(resources, merge)?;
                    apply_one(resources, types, index, merge, patch)
                });
            };
            let [merge] = merges.as_slice() else {
                if merges.is_empty() {
                    return Ok(());
                }
                return Err(Diagnostic::error("a patch with a `target` must be one document").into());
            };
            let merge = with_text_metadata(merge);
            for index in Matcher::new(target)?.select(resources) {
                apply_one(resources, types, index, &merge, patch)?;
            }
            resources.drop_empty();
            if patch.allow_name_change || patch.allow_kind_change {
                resources.check_unique("the patch")?;
            }
            Ok(())
        }
        LoadedPatch::Json(json) => {
            if json.is_empty() {
                return Ok(());
            }
            let Some(target) = &patch.target else {
                return Err(Diagnostic::error("a JSON patch needs a `target`").into());
            };
            let selected = Matcher::new(target)?.select(resources);
            apply_json(resources, &selected, json, History::Remember)
        }
    }
}

/// Whether a patched object remembers who it was.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum History {
    Remember,
    Keep,
}

/// Applies a JSON patch to the selected resources.
pub(crate) fn apply_json(
    resources: &mut ResourceMap,
    selected: &[usize],
    json: &JsonPatch,
    history: History,
) -> Result<(), Diagnostics> {
    let mut renamed = false;
    for index in selected {
        let Some(resource) = resources.get_mut(*index) else { continue };
        let before = resource.key();
        if history == History::Remember {
            resource.remember_identity();
        }
        // The original keeps its notes among the annotations, so a patch can count on that mapping.
        if resource.has_notes() && resource.body.contains_key("metadata") {
            mapping_at(resource.metadata_mut(), "annotations");
        }
        json.apply(&mut resource.body).map_err(|error| {
            Diagnostics::from(
                Diagnostic::error("the JSON patch does not apply")
                    .on(resource.id())
                    .or_at(resource.origin.as_ref().map(|origin| origin.place()))
                    .because(error.to_string()),
            )
        })?;
        resource.blanks.clear();
        resource.written.clear();
        if let Some(Value::Object(annotations)) =
            resource.body.get_mut("metadata").and_then(|metadata| metadata.get_mut("annotations"))
        {
            for value in annotations.values_mut().filter(|value| !value.is_string()) {
                let text = match &*value {
                    Value::Null => "null".to_owned(),
                    Value::Number(number) => number.as_f64().map_or_else(String::new, go_float),
                    other => text_of(other).into_owned(),
                };
                *value = Value::String(text);
            }
        }
        renamed |= resource.key() != before;
    }
    if renamed {
        resources.forget();
    }
    Ok(())
}

/// Applies an entry of the old `patchesStrategicMerge`.
pub(crate) fn apply_merge(
    resources: &mut ResourceMap,
    types: &MergeTypes,
    merge: &Resource,
) -> Result<(), Diagnostics> {
    let index = find_one(resources, merge)?;
    apply_one(resources, types, index, &with_text_metadata(merge), &Patch::default())?;
    resources.drop_empty();
    Ok(())
}

/// A patch whose labels and annotations are all texts. Patches with a target and those in the old field go through
/// this, so that a null label in them does not delete anything.
fn with_text_metadata(patch: &Resource) -> Resource {
    let mut patch = patch.clone();
    for field in ["labels", "annotations"] {
        let texts: Vec<(String, String)> = match patch.body.get("metadata").and_then(|m| m.get(field)) {
            Some(Value::Object(map)) => map
                .iter()
                .map(|(key, value)| (key.clone(), written_text(&patch, field, key, value)))
                .collect(),
            _ => Vec::new(),
        };
        let Some(Value::Object(metadata)) = patch.body.get_mut("metadata") else { continue };
        if texts.is_empty() {
            metadata.shift_remove(field);
        } else {
            let texts = texts.into_iter().map(|(key, text)| (key, Value::from(text)));
            metadata.insert(field.into(), Value::Object(texts.collect()));
        }
    }
    patch
}

fn written_text(patch: &Resource, field: &str, key: &str, value: &Value) -> String {
    let written = patch.written.iter().find(|(path, _)| {
        matches!(path.as_slice(), [Step::Key(a), Step::Key(b), Step::Key(c)] if a == "metadata" && b == field && c == key)
    });
    written.map_or_else(|| text_of(value).into_owned(), |(_, text)| text.clone())
}

/// The one resource a patch names by its own identity.
fn find_one(resources: &mut ResourceMap, patch: &Resource) -> Result<usize, Diagnostics> {
    let found = resources.find_by_id(&patch.key());
    match found.as_slice() {
        [index] => Ok(*index),
        [] => Err(not_found(resources, patch)),
        _ => Err(Diagnostic::error("more than one object matches this patch")
            .on(patch.id())
            .or_at(patch.origin.as_ref().map(|origin| origin.place()))
            .with_hint("use a `target` to say which one is meant")
            .into()),
    }
}

fn not_found(resources: &mut ResourceMap, patch: &Resource) -> Diagnostics {
    let named = resources.find_by_name(&patch.name());
    let others: Vec<String> = named
        .iter()
        .filter_map(|index| resources.get(*index))
        .map(|resource| format!("{} ({})", resource.id(), resource.api_version()))
        .take(3)
        .collect();
    let hint = if others.is_empty() {
        "check kind, name and namespace of the patch".to_owned()
    } else {
        format!("objects with this name are: {}", others.join(", "))
    };
    Diagnostic::error("no object matches this patch")
        .on(patch.id())
        .or_at(patch.origin.as_ref().map(|origin| origin.place()))
        .with_hint(hint)
        .into()
}

/// Merges a patch into one resource. Its identity survives unless the patch may change it.
fn apply_one(
    resources: &mut ResourceMap,
    types: &MergeTypes,
    index: usize,
    patch: &Resource,
    options: &Patch,
) -> Result<(), Diagnostics> {
    let Some(resource) = resources.get_mut(index) else { return Ok(()) };
    let (name, namespace, kind) =
        (resource.name().into_owned(), resource.namespace().into_owned(), resource.kind().into_owned());
    let may_rename = options.allow_name_change || options.allow_kind_change;
    if may_rename {
        resource.remember_identity();
    }
    drop_blanks(resource, types);
    let mut change = patch.body.clone();
    if options.target.is_some() {
        // The patch speaks about the version the object has.
        if let Some(version) = resource.body.get("apiVersion") {
            change.insert("apiVersion".into(), version.clone());
        }
    }
    let body = std::mem::take(&mut resource.body);
    resource.body = merge(types, body, &change).map_err(|error| {
        Diagnostics::from(
            Diagnostic::error("the patch does not fit the object")
                .on(patch.id())
                .or_at(patch.origin.as_ref().map(|origin| origin.place()))
                .because(error.to_string()),
        )
    })?;
    if resource.body.is_empty() {
        return Ok(());
    }
    stringify_annotations(resource);
    if !options.allow_kind_change {
        resource.body.insert("kind".into(), Value::from(kind));
    }
    if !options.allow_name_change {
        resource.set_name(&name);
    }
    resource.set_namespace(&namespace);
    if may_rename {
        resources.forget();
    }
    Ok(())
}

/// Annotations that a patch adds as numbers or booleans are texts too.
fn stringify_annotations(resource: &mut Resource) {
    if let Some(Value::Object(annotations)) =
        resource.body.get_mut("metadata").and_then(|metadata| metadata.get_mut("annotations"))
    {
        for value in annotations.values_mut().filter(|value| !value.is_string()) {
            *value = Value::from(&*text_of(value));
        }
    }
}

/// Removes fields that were written with nothing after their colon, as far as the merge reaches them: through mappings
/// and lists that merge, not into other lists.
fn drop_blanks(resource: &mut Resource, types: &MergeTypes) {
    let type_id = types.kind(&resource.api_version(), &resource.kind());
    for path in std::mem::take(&mut resource.blanks) {
        drop_blank(types, type_id, &mut resource.body, &path);
    }
}

fn drop_blank(types: &MergeTypes, type_id: Option<TypeId>, map: &mut Map<String, Value>, path: &[Step]) {
    match path {
        // A blank annotation is an empty text by now.
        [Step::Key(last)]
            if map.get(last).is_some_and(|value| value.is_null() || value.as_str() == Some("")) =>
        {
            map.shift_remove(last);
        }
        [Step::Key(_)] => {}
        [Step::Key(key), rest @ ..] => {
            let rule = type_id.and_then(|id| types.field(id, key));
            match (map.get_mut(key), rest) {
                (Some(Value::Object(inner)), rest) => {
                    drop_blank(types, rule.and_then(|rule| rule.type_id), inner, rest);
                }
                (Some(Value::Array(items)), [Step::Index(index), rest @ ..]) => {
                    if let Some(rule) = rule.filter(|rule| rule.merge.is_some())
                        && let Some(Value::Object(inner)) = items.get_mut(*index)
                    {
                        drop_blank(types, rule.element, inner, rest);
                    }
                }
                _ => {}
            }
        }
        _ => {}
    }
}
