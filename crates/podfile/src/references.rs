//! What one block can read from another: `pod.db.service.pg.host`.
//!
//! Only the parts that are asked for are evaluated, so two pods may refer to each other as long as no single value
//! depends on itself.

use hcl_edit::expr::TraversalOperator;
use hcl_edit::structure::{Block, Body};
use hcl_edit::{Decorated, Span};
use podsmith_object::{Map, Value, suggest};

use crate::convert;
use crate::eval::{Evaluator, Fault, Frame};
use crate::source::SourceFile;
use crate::unit::{BlockRef, Instance, Unit};

/// The name of an object made from `label` for one instance.
pub(crate) fn instance_name(label: &str, key: Option<&Value>) -> String {
    match key.map(convert::to_text) {
        Some(Ok(key)) => format!("{label}-{}", crate::functions::slug(&key)),
        _ => label.to_owned(),
    }
}

/// Where a nested block sits: the pod it belongs to decides names and hosts.
#[derive(Clone)]
struct Owner {
    kind: &'static str,
    name: String,
    namespace: Option<String>,
}

impl<'u> Unit<'u> {
    /// Follows `operators` from a top-level block.
    pub(crate) fn block_reference(
        &'u self,
        from: &Evaluator<'_>,
        block: BlockRef<'u>,
        operators: &[Decorated<TraversalOperator>],
        frame: &Frame<'_>,
    ) -> Result<(Value, usize), Fault> {
        let instances = self.instances(block)?;
        if let [Instance { key: None, .. }] = instances.as_slice() {
            return self.instance_reference(from, block, None, &Frame::EMPTY, operators, frame);
        }
        let index = match operators.first() {
            Some(first)
                if matches!(
                    first.value(),
                    TraversalOperator::Index(_) | TraversalOperator::LegacyIndex(_)
                ) =>
            {
                Some((first, from.step_key(first, frame)?))
            }
            _ => None,
        };
        if let Some((first, key)) = index {
            for instance in &instances {
                if instance.key.as_ref().is_some_and(|own| convert::equal(own, &key)) {
                    let bound = Frame { bindings: &instance.bindings, parent: None };
                    let rest = operators.get(1..).unwrap_or(&[]);
                    let found =
                        self.instance_reference(from, block, instance.key.as_ref(), &bound, rest, frame)?;
                    return Ok((found.0, found.1 + 1));
                }
            }
            let text = convert::to_text(&key).unwrap_or_default();
            let label = block.block.labels.first().map_or("", |label| label.as_str());
            let message = format!("`{label}` has no instance `{text}`");
            return Err(from.fault(first.span(), message));
        }
        let counted = block.block.body.has_attribute("count");
        let mut list = Vec::new();
        let mut map = Map::new();
        for instance in &instances {
            let bound = Frame { bindings: &instance.bindings, parent: None };
            let (value, _) =
                self.instance_reference(from, block, instance.key.as_ref(), &bound, &[], frame)?;
            match &instance.key {
                Some(Value::String(key)) if !counted => {
                    map.insert(key.clone(), value);
                }
                _ => list.push(value),
            }
        }
        Ok((if counted { Value::Array(list) } else { Value::Object(map) }, 0))
    }

    fn instance_reference(
        &'u self,
        from: &Evaluator<'_>,
        block: BlockRef<'u>,
        key: Option<&Value>,
        bound: &Frame<'_>,
        operators: &[Decorated<TraversalOperator>],
        frame: &Frame<'_>,
    ) -> Result<(Value, usize), Fault> {
        let label = block.block.labels.first().map_or("", |label| label.as_str());
        let kind = crate::unit::REFERABLE
            .into_iter()
            .find(|kind| *kind == block.block.ident.value().as_str())
            .unwrap_or("pod");
        let body = &block.block.body;
        let text = |name: &str| -> Result<Option<String>, Fault> {
            let Some(attribute) = body.get_attribute(name) else { return Ok(None) };
            let value =
                self.attribute(block.file, &attribute.value, &format!("{kind}.{label}.{name}"), bound)?;
            match value {
                Value::Null => Ok(None),
                other => convert::to_text(&other)
                    .map(Some)
                    .map_err(|error| Box::new(block.file.error(attribute.value.span(), error))),
            }
        };
        let owner = Owner {
            kind,
            name: text("name")?.unwrap_or_else(|| instance_name(label, key)),
            namespace: text("namespace")?.or_else(|| self.namespace.clone()),
        };
        let path = format!("{kind}.{label}");
        self.member(from, block.file, body, &owner, &path, None, bound, operators, frame)
    }

    /// One step into a body: a computed value, an attribute, or a nested block.
    #[allow(clippy::too_many_arguments)]
    fn member(
        &'u self,
        from: &Evaluator<'_>,
        file: &'u SourceFile,
        body: &'u Body,
        owner: &Owner,
        path: &str,
        nested: Option<(&str, &str)>,
        bound: &Frame<'_>,
        operators: &[Decorated<TraversalOperator>],
        frame: &Frame<'_>,
    ) -> Result<(Value, usize), Fault> {
        let Some(first) = operators.first() else {
            return self.whole(file, body, owner, path, nested, bound).map(|value| (value, 0));
        };
        let name = from.step_key(first, frame)?;
        let name = convert::to_text(&name).map_err(|error| from.fault(first.span(), error))?;
        if let Some(attribute) = body.get_attribute(&name) {
            let value = self.attribute(file, &attribute.value, &format!("{path}.{name}"), bound)?;
            return Ok((value, 1));
        }
        let blocks: Vec<&Block> = body.get_blocks(&name).collect();
        if !blocks.is_empty() {
            let unlabelled = blocks.iter().find(|block| block.labels.is_empty());
            if let Some(block) = unlabelled {
                let rest = operators.get(1..).unwrap_or(&[]);
                let path = format!("{path}.{name}");
                let (value, used) = self.member(
                    from,
                    file,
                    &block.body,
                    owner,
                    &path,
                    Some((&name, "")),
                    bound,
                    rest,
                    frame,
                )?;
                return Ok((value, used + 1));
            }
            let Some(second) = operators.get(1) else {
                let mut all = Map::new();
                for block in blocks {
                    let label = block.labels.first().map_or("", |label| label.as_str());
                    let path = format!("{path}.{name}.{label}");
                    let value = self.whole(file, &block.body, owner, &path, Some((&name, label)), bound)?;
                    all.insert(label.to_owned(), value);
                }
                return Ok((Value::Object(all), 1));
            };
            let label = from.step_key(second, frame)?;
            let label = convert::to_text(&label).map_err(|error| from.fault(second.span(), error))?;
            let labels = blocks.iter().filter_map(|block| Some((block.labels.first()?.as_str(), *block)));
            if let Some((label, block)) = labels.clone().find(|(own, _)| *own == label) {
                let rest = operators.get(2..).unwrap_or(&[]);
                let path = format!("{path}.{name}.{label}");
                let (value, used) = self.member(
                    from,
                    file,
                    &block.body,
                    owner,
                    &path,
                    Some((&name, label)),
                    bound,
                    rest,
                    frame,
                )?;
                return Ok((value, used + 2));
            }
            let known: Vec<&str> = labels.map(|(label, _)| label).collect();
            let message = format!("{path} has no {name} `{label}`");
            let hint = suggest::hint(&label, known);
            return Err(Box::new(from.file.error(second.span(), message).with_hint_if(hint)));
        }
        if let Some(value) = self.computed(file, body, owner, nested, &name, path, bound)? {
            return Ok((value, 1));
        }
        let mut known: Vec<String> =
            computed_names(owner.kind, nested).iter().map(|n| (*n).to_owned()).collect();
        known.extend(body.attributes().map(|attribute| attribute.key.value().as_str().to_owned()));
        known.extend(body.blocks().map(|block| block.ident.value().as_str().to_owned()));
        let message = format!("{path} has no `{name}`");
        let hint = suggest::hint(&name, known.iter().map(String::as_str));
        Err(Box::new(from.file.error(first.span(), message).with_hint_if(hint)))
    }

    #[allow(clippy::too_many_arguments)]
    fn whole(
        &'u self,
        file: &'u SourceFile,
        body: &'u Body,
        owner: &Owner,
        path: &str,
        nested: Option<(&str, &str)>,
        bound: &Frame<'_>,
    ) -> Result<Value, Fault> {
        let mut all = Map::new();
        for name in computed_names(owner.kind, nested) {
            if let Some(value) = self.computed(file, body, owner, nested, name, path, bound)? {
                all.insert((*name).to_owned(), value);
            }
        }
        for attribute in body.attributes() {
            let name = attribute.key.value().as_str();
            if matches!(name, "count" | "for_each") {
                continue;
            }
            all.insert(
                name.to_owned(),
                self.attribute(file, &attribute.value, &format!("{path}.{name}"), bound)?,
            );
        }
        for block in body.blocks() {
            let name = block.ident.value().as_str();
            let label = block.labels.first().map_or("", |label| label.as_str());
            let path = format!("{path}.{name}");
            let value = self.whole(file, &block.body, owner, &path, Some((name, label)), bound)?;
            if block.labels.is_empty() {
                all.insert(name.to_owned(), value);
            } else if let Value::Object(group) =
                all.entry(name.to_owned()).or_insert_with(|| Value::Object(Map::new()))
            {
                group.insert(label.to_owned(), value);
            }
        }
        Ok(Value::Object(all))
    }

    /// Values that nobody writes but everybody needs.
    #[allow(clippy::too_many_arguments)]
    fn computed(
        &'u self,
        file: &'u SourceFile,
        body: &'u Body,
        owner: &Owner,
        nested: Option<(&str, &str)>,
        name: &str,
        path: &str,
        bound: &Frame<'_>,
    ) -> Result<Option<Value>, Fault> {
        Ok(match (nested, name) {
            (None, "name") => Some(Value::from(owner.name.as_str())),
            (None, "namespace") => Some(owner.namespace.as_deref().map_or(Value::Null, Value::from)),
            (Some(("service", label)), "name") => Some(Value::from(label)),
            (Some(("service", label)), "host") => Some(Value::from(match &owner.namespace {
                Some(namespace) => format!("{label}.{namespace}.svc"),
                None => label.to_owned(),
            })),
            (Some(("service", _)), "target_port") => match body.get_attribute("port") {
                Some(port) => Some(self.attribute(file, &port.value, &format!("{path}.port"), bound)?),
                None => None,
            },
            (Some(("volume", label)), "claim") => Some(Value::from(format!("{label}-{}-0", owner.name))),
            (Some(("volume" | "config" | "secret", label)), "name") => Some(Value::from(label)),
            _ => None,
        })
    }
}

fn computed_names(kind: &str, nested: Option<(&str, &str)>) -> &'static [&'static str] {
    match (kind, nested) {
        (_, None) => &["name", "namespace"],
        (_, Some(("service", _))) => &["name", "host", "target_port"],
        (_, Some(("volume", _))) => &["name", "claim"],
        (_, Some(_)) => &[],
    }
}
