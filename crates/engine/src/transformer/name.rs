//! Names. References to a changed name in other objects are not followed; Kustomize does that.

use std::sync::Arc;

use podsmith_object::Object;

use crate::Transformer;

/// Puts `prefix` in front of the name. An object without a name gets the bare prefix.
///
/// ```
/// use podsmith_engine::transformer::name;
/// let transformer = name::prefix("dev-");
/// # let _ = transformer;
/// ```
pub fn prefix(prefix: impl Into<String>) -> Arc<dyn Transformer> {
    let prefix = prefix.into();
    Arc::new(move |object: Object| rename(object, |name| format!("{prefix}{name}")))
}

/// Puts `suffix` behind the name. An object without a name gets the bare suffix.
///
/// ```
/// use podsmith_engine::transformer::name;
/// let transformer = name::suffix("-v2");
/// # let _ = transformer;
/// ```
pub fn suffix(suffix: impl Into<String>) -> Arc<dyn Transformer> {
    let suffix = suffix.into();
    Arc::new(move |object: Object| rename(object, |name| format!("{name}{suffix}")))
}

/// Replaces every occurrence of `from` in the name. An empty `from` puts `to` between all characters.
///
/// ```
/// use podsmith_engine::transformer::name;
/// let transformer = name::replace("staging", "production");
/// # let _ = transformer;
/// ```
pub fn replace(from: impl Into<String>, to: impl Into<String>) -> Arc<dyn Transformer> {
    let (from, to) = (from.into(), to.into());
    Arc::new(move |object: Object| rename(object, |name| name.replace(&from, &to)))
}

fn rename(mut object: Object, change: impl Fn(&str) -> String) -> Object {
    let name = change(object.name());
    if name != object.name() {
        object.set_name(&name);
    }
    object
}
