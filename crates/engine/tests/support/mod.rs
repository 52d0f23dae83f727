//! Objects and steps that the tests share.
#![allow(dead_code, clippy::unwrap_used, reason = "each test program uses a part of it")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use podsmith_engine::{
    Cancel, Context, Filter, MemorySource, RenderCall, Renderer, Scopes, Sources, Transformer, Warnings,
    named,
};
use podsmith_object::{Object, Value, json};

/// The first object of a text.
pub fn object(text: &str) -> Object {
    podsmith_object::read_objects("test.yaml", text.as_bytes()).unwrap().remove(0)
}

/// A bare object that need not be valid.
pub fn raw(value: Value) -> Object {
    Object::from_value(value).unwrap()
}

pub fn config_map(name: &str) -> Object {
    raw(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}))
}

pub fn names(objects: &[Object]) -> Vec<&str> {
    objects.iter().map(Object::name).collect()
}

/// A renderer of ConfigMaps with these names.
pub fn renderer(name: &str, names: &[&str]) -> impl Renderer + 'static {
    let objects = names.iter().map(|name| config_map(name)).collect();
    Sources::new(name, [MemorySource::new("memory", objects)])
}

pub fn failing(name: &str, message: &'static str) -> Arc<dyn Renderer> {
    named(name, move |_: &RenderCall<'_>| Err::<Vec<Object>, _>(message))
}

/// What a filter says about an object.
pub fn keeps(filter: &dyn Filter, object: &Object) -> Result<bool, String> {
    let (cancel, warnings, scopes) = (Cancel::new(), Warnings::new(), Scopes::new());
    filter.keep(object, &Context::new(&cancel, &warnings, &scopes)).map_err(|error| error.to_string())
}

/// What a transformer makes of an object, and its warnings.
pub fn transform(transformer: &dyn Transformer, object: Object) -> Result<(Value, Vec<String>), String> {
    let (cancel, warnings, scopes) = (Cancel::new(), Warnings::new(), Scopes::new());
    let changed = transformer
        .transform(object, &Context::new(&cancel, &warnings, &scopes))
        .map_err(|error| error.to_string())?;
    Ok((changed.into_value(), warnings.take().iter().map(ToString::to_string).collect()))
}

/// A filter that counts how often it is asked.
#[derive(Clone, Default)]
pub struct Counter(Arc<AtomicUsize>);

impl Counter {
    pub fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    pub fn filter(&self, answer: bool) -> Arc<dyn Filter> {
        let counter = self.0.clone();
        podsmith_engine::filter::shared(move |_: &Object| {
            counter.fetch_add(1, Ordering::Relaxed);
            answer
        })
    }

    pub fn transformer(&self) -> Arc<dyn Transformer> {
        let counter = self.0.clone();
        podsmith_engine::transformer::shared(move |object: Object| {
            counter.fetch_add(1, Ordering::Relaxed);
            object
        })
    }
}

pub fn broken_filter() -> Arc<dyn Filter> {
    podsmith_engine::filter::shared(|_: &Object| Err::<bool, _>("broken filter"))
}

pub fn broken_transformer() -> Arc<dyn Transformer> {
    podsmith_engine::transformer::shared(|_: Object| Err::<Object, _>("broken transformer"))
}
