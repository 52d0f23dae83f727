//! Filters made of filters. Each stops at the first answer it can be sure of.

use std::sync::Arc;

use podsmith_object::Object;

use crate::{BoxError, Context, Filter};

/// Keeps an object that at least one filter keeps. An empty list keeps everything.
///
/// The first `true` decides; later filters are not asked. An error before that stops the render.
///
/// ```
/// use podsmith_engine::filter::{name, or};
/// let filter = or([name::exact(["a"]), name::exact(["b"])]);
/// # let _ = filter;
/// ```
pub fn or<F: Filter + 'static>(filters: impl IntoIterator<Item = F>) -> Arc<dyn Filter> {
    Arc::new(Or(filters.into_iter().collect::<Vec<F>>()))
}

/// Keeps an object that every filter keeps. An empty list keeps everything.
///
/// The first `false` decides; later filters are not asked.
///
/// ```
/// use podsmith_engine::filter::{and, kind, namespace};
/// let filter = and([namespace::one_of(["shop"]), kind::one_of(["Deployment"])?]);
/// # let _ = filter;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn and<F: Filter + 'static>(filters: impl IntoIterator<Item = F>) -> Arc<dyn Filter> {
    Arc::new(And(filters.into_iter().collect::<Vec<F>>()))
}

/// Keeps what the filter drops, and drops what it keeps.
///
/// ```
/// use podsmith_engine::filter::{name, not};
/// let filter = not(name::prefix("tmp-"));
/// # let _ = filter;
/// ```
pub fn not(filter: impl Filter + 'static) -> Arc<dyn Filter> {
    Arc::new(Not(filter))
}

/// Where `condition` holds, `then` decides; everything else is kept.
///
/// ```
/// use podsmith_engine::filter::{if_then, name, namespace};
/// let filter = if_then(namespace::one_of(["shop"]), name::prefix("web"));
/// # let _ = filter;
/// ```
pub fn if_then(condition: impl Filter + 'static, then: impl Filter + 'static) -> Arc<dyn Filter> {
    Arc::new(If(condition, then))
}

struct Or<F>(Vec<F>);
struct And<F>(Vec<F>);
struct Not<F>(F);
struct If<C, T>(C, T);

impl<F: Filter> Filter for Or<F> {
    fn keep(&self, object: &Object, context: &Context<'_>) -> Result<bool, BoxError> {
        for filter in &self.0 {
            if filter.keep(object, context)? {
                return Ok(true);
            }
        }
        Ok(self.0.is_empty())
    }
}

impl<F: Filter> Filter for And<F> {
    fn keep(&self, object: &Object, context: &Context<'_>) -> Result<bool, BoxError> {
        for filter in &self.0 {
            if !filter.keep(object, context)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl<F: Filter> Filter for Not<F> {
    fn keep(&self, object: &Object, context: &Context<'_>) -> Result<bool, BoxError> {
        self.0.keep(object, context).map(|keep| !keep)
    }
}

impl<C: Filter, T: Filter> Filter for If<C, T> {
    fn keep(&self, object: &Object, context: &Context<'_>) -> Result<bool, BoxError> {
        Ok(!self.0.keep(object, context)? || self.1.keep(object, context)?)
    }
}

/// A closure as a shared filter, so that it fits one list with others.
///
/// ```
/// use podsmith_engine::filter::{name, or, shared};
/// use podsmith_object::Object;
/// let filter = or([name::exact(["a"]), shared(|object: &Object| object.namespace() == "b")]);
/// # let _ = filter;
/// ```
pub fn shared(filter: impl Filter + 'static) -> Arc<dyn Filter> {
    Arc::new(filter)
}
