//! What a sub-namespace may be called, decided by the name of the tree's root.

use regex::Regex;
use thiserror::Error;

/// One rule: in trees whose root's name contains a match of `root`, new names must contain a match of `pattern`.
#[derive(Clone, Debug)]
pub struct NamingPolicy {
    root: Regex,
    pattern: String,
}

/// Why a rule or a name is no good.
#[derive(Clone, Debug, Error)]
pub enum NamingProblem {
    /// The expression for roots does not compile.
    #[error("`root` is no valid regular expression")]
    Root(#[source] regex::Error),
    /// The expression for names does not compile.
    #[error("`match` is no valid regular expression")]
    Match(#[source] regex::Error),
    /// The name does not follow the rule.
    #[error("`{name}` does not match `{expected}`, as a naming policy for trees under `{root}` asks")]
    Mismatch {
        /// The name.
        name: String,
        /// What it had to match, with the root's groups filled in.
        expected: String,
        /// The root of the tree.
        root: String,
    },
}

impl NamingPolicy {
    /// Compiles a rule. `pattern` may use the groups of `root` as `$name` or `${name}`.
    ///
    /// # Errors
    ///
    /// When either half does not compile; for the second half a group stands for the letter `x`.
    pub fn new(root: &str, pattern: &str) -> Result<Self, NamingProblem> {
        let root = Regex::new(root).map_err(NamingProblem::Root)?;
        let sample = GROUP.replace_all(pattern, "x");
        Regex::new(&sample).map_err(NamingProblem::Match)?;
        Ok(Self { root, pattern: pattern.to_owned() })
    }

    /// Checks a new name in the tree under `root`. Nothing is anchored unless the expressions say so.
    ///
    /// # Errors
    ///
    /// When the rule applies and the name does not follow it.
    pub fn check(&self, root: &str, name: &str) -> Result<(), NamingProblem> {
        let mut expected = String::new();
        let mut applies = false;
        for groups in self.root.captures_iter(root) {
            applies = true;
            groups.expand(&self.pattern, &mut expected);
        }
        if !applies {
            return Ok(());
        }
        let found = Regex::new(&expected).map_err(NamingProblem::Match)?;
        if found.is_match(name) {
            return Ok(());
        }
        Err(NamingProblem::Mismatch { name: name.to_owned(), expected, root: root.to_owned() })
    }
}

/// A reference to a group in `match`.
static GROUP: std::sync::LazyLock<Groups> = std::sync::LazyLock::new(Groups::new);

struct Groups(Option<Regex>);

impl Groups {
    fn new() -> Self {
        Self(Regex::new(r"\$(?:\{\w+\}|\w+)").ok())
    }

    fn replace_all(&self, text: &str, with: &str) -> String {
        self.0.as_ref().map_or_else(|| text.to_owned(), |regex| regex.replace_all(text, with).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_root_of_their_tree() {
        let two = ("^(?P<team>.+)-(?P<stage>[a-z]+)$", "^${team}-.+-$stage$");
        for (policy, root, name, ok) in [
            (
                ("^naming-policy-root-1$", "^naming-policy-root-1-child$"),
                "naming-policy-root-1",
                "naming-policy-root-1-child",
                true,
            ),
            (
                ("^naming-policy-root-1$", "^naming-policy-root-1-child$"),
                "naming-policy-root-1",
                "other",
                false,
            ),
            (("^a$", "^b$"), "c", "anything", true),
            (("^app-(?P<n>.*)", "^$n-.*$"), "app-shop", "shop-web", true),
            (("^app-(?P<n>.*)", "^$n-.*$"), "app-shop", "web", false),
            (two, "shop-dev", "shop-web-dev", true),
            (two, "shop-dev", "shop-web-prod", false),
            // An unused group is fine, and so is a search in the middle of a name.
            (("(?P<unused>x)y", "web"), "axyb", "my-web-1", true),
            // Several matches of `root` are joined.
            (("(?P<n>[ab])", "$n"), "a-b", "xaby", true),
            (("(?P<n>[ab])", "$n"), "a-b", "a-b", false),
        ] {
            let policy = NamingPolicy::new(policy.0, policy.1).unwrap();
            assert_eq!(policy.check(root, name).is_ok(), ok, "{name} under {root}");
        }
    }

    #[test]
    fn both_halves_are_checked_when_read() {
        assert!(matches!(NamingPolicy::new("(", "a"), Err(NamingProblem::Root(_))));
        assert!(matches!(NamingPolicy::new("a", "("), Err(NamingProblem::Match(_))));
        assert!(matches!(NamingPolicy::new("(?P<n>a)", "^$n[$"), Err(NamingProblem::Match(_))));
        assert!(NamingPolicy::new("(?P<n>a)", "^${n}-$").is_ok());
    }
}
