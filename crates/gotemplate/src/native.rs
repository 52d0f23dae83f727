//! Objects with a type of their own: fields, methods, and their own way to print.

use std::any::Any;

use podsmith_object::Value as Json;

use crate::value::Value;

/// A Go struct or named type behind the data: `.Files`, `.Chart`, `.Capabilities`, a time, a version.
///
/// A template reads `.Name` first as a method without arguments, then as a field. A native that is a Go map (kind
/// `map`) treats every other name as a key.
#[expect(clippy::len_without_is_empty, reason = "`len` is optional, and emptiness is `is_true`")]
pub trait Native: Any {
    /// The name of the Go type, such as `chart.Metadata`.
    fn type_name(&self) -> &str;

    /// The Go kind, such as `struct`, `ptr`, `map` or `slice`.
    fn kind(&self) -> &'static str {
        "struct"
    }

    /// The field `name`, or the entry of a map. `None` becomes "can't evaluate field".
    fn field(&self, name: &str) -> Option<Value>;

    /// Calls the method `name`. `None` when there is no such method, so that the name can be a field.
    fn call(&self, name: &str, arguments: &[Value]) -> Option<Result<Value, String>> {
        let _ = (name, arguments);
        None
    }

    /// The keys and values that `range` visits, in order; `None` when Go cannot range over it.
    fn entries(&self) -> Option<Vec<(Value, Value)>> {
        None
    }

    /// What `{{ x }}` prints. Go uses the `String` method here even if it belongs to the pointer.
    fn print(&self) -> String;

    /// What `printf "%v"`, `toString` and `quote` print.
    fn format(&self) -> String {
        self.print()
    }

    /// What `toJson` and `toYaml` see.
    fn to_json(&self) -> Json;

    /// What `if` takes it for. Structs are always true.
    fn is_true(&self) -> bool {
        self.entries().is_none_or(|entries| !entries.is_empty())
    }

    /// The length, for maps and slices.
    fn len(&self) -> Option<usize> {
        self.entries().map(|entries| entries.len())
    }

    /// Compares for `deepEqual`, `has` and `uniq`.
    fn equals(&self, other: &dyn Native) -> bool {
        self.type_name() == other.type_name() && self.to_json() == other.to_json()
    }
}
