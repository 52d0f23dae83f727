//! Transformers made of transformers.

use std::sync::Arc;

use podsmith_object::Object;

use crate::{BoxError, Context, Filter, Transformer};

/// One transformer after the other. The first error stops the chain; an empty chain changes nothing.
///
/// ```
/// use podsmith_engine::transformer::{chain, name};
/// let transformer = chain([name::prefix("a-"), name::suffix("-z")]);
/// # let _ = transformer;
/// ```
pub fn chain<T: Transformer + 'static>(transformers: impl IntoIterator<Item = T>) -> Arc<dyn Transformer> {
    Arc::new(Chain(transformers.into_iter().collect::<Vec<T>>()))
}

/// Applies the transformer where `condition` holds, and changes nothing elsewhere.
///
/// ```
/// use podsmith_engine::filter::namespace;
/// use podsmith_engine::transformer::{if_then, labels};
/// let transformer = if_then(namespace::one_of(["shop"]), labels::set([("team", "web")]));
/// # let _ = transformer;
/// ```
pub fn if_then(condition: impl Filter + 'static, then: impl Transformer + 'static) -> Arc<dyn Transformer> {
    Arc::new(If(condition, then))
}

/// One branch of a [`switch`].
#[derive(Clone)]
pub struct Case {
    /// Which objects take this branch.
    pub when: Arc<dyn Filter>,
    /// What happens to them.
    pub then: Arc<dyn Transformer>,
}

impl Case {
    /// A branch.
    pub fn new(when: impl Filter + 'static, then: impl Transformer + 'static) -> Self {
        Self { when: Arc::new(when), then: Arc::new(then) }
    }
}

/// Applies the first case that matches and no other; `default` if none does; nothing without a default.
///
/// ```
/// use podsmith_engine::filter::kind;
/// use podsmith_engine::transformer::{Case, labels, name, switch};
/// let jobs = Case::new(kind::one_of(["Job"])?, name::prefix("once-"));
/// let transformer = switch([jobs], Some(labels::set([("env", "dev")])));
/// # let _ = transformer;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn switch(
    cases: impl IntoIterator<Item = Case>,
    default: Option<Arc<dyn Transformer>>,
) -> Arc<dyn Transformer> {
    Arc::new(Switch { cases: cases.into_iter().collect(), default })
}

/// A closure as a shared transformer, so that it fits one list with others.
///
/// ```
/// use podsmith_engine::transformer::{chain, name, shared};
/// use podsmith_object::Object;
/// let transformer = chain([name::prefix("a-"), shared(|object: Object| object)]);
/// # let _ = transformer;
/// ```
pub fn shared(transformer: impl Transformer + 'static) -> Arc<dyn Transformer> {
    Arc::new(transformer)
}

struct Chain<T>(Vec<T>);
struct If<C, T>(C, T);
struct Switch {
    cases: Vec<Case>,
    default: Option<Arc<dyn Transformer>>,
}

impl<T: Transformer> Transformer for Chain<T> {
    fn transform(&self, object: Object, context: &Context<'_>) -> Result<Object, BoxError> {
        self.0.iter().try_fold(object, |object, transformer| transformer.transform(object, context))
    }

    fn asks_for_scopes(&self) -> bool {
        self.0.iter().any(Transformer::asks_for_scopes)
    }
}

impl<C: Filter, T: Transformer> Transformer for If<C, T> {
    fn transform(&self, object: Object, context: &Context<'_>) -> Result<Object, BoxError> {
        if self.0.keep(&object, context)? { self.1.transform(object, context) } else { Ok(object) }
    }

    fn asks_for_scopes(&self) -> bool {
        self.1.asks_for_scopes()
    }
}

impl Transformer for Switch {
    fn transform(&self, object: Object, context: &Context<'_>) -> Result<Object, BoxError> {
        for case in &self.cases {
            if case.when.keep(&object, context)? {
                return case.then.transform(object, context);
            }
        }
        match &self.default {
            Some(default) => default.transform(object, context),
            None => Ok(object),
        }
    }

    fn asks_for_scopes(&self) -> bool {
        self.cases.iter().map(|case| &case.then).chain(&self.default).any(|then| then.asks_for_scopes())
    }
}
