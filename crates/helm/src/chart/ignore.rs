//! `.helmignore`: like a `.gitignore`, with Helm's own rules.
//!
//! The differences that matter: the first rule that matches decides, a rule with `!` ignores everything it does *not*
//! match, `**` is refused, and a rule without `/` looks at the last step of the path only.

use super::pattern::Pattern;

/// Why an ignore file was refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum IgnoreError {
    /// `**` has no meaning here.
    #[error(".helmignore:{line}: double-star (**) syntax is not supported")]
    DoubleStar {
        /// The line, from 1.
        line: usize,
    },
    /// A malformed pattern.
    #[error(".helmignore:{line}: syntax error in pattern `{rule}`")]
    Pattern {
        /// The line, from 1.
        line: usize,
        /// The rule as written.
        rule: String,
    },
}

#[derive(Clone, Debug)]
struct Rule {
    pattern: Pattern,
    negated: bool,
    directories_only: bool,
    /// Match the whole path, not only its last step.
    whole_path: bool,
}

/// The rules of one chart.
#[derive(Clone, Debug, Default)]
pub struct IgnoreRules {
    rules: Vec<Rule>,
}

impl IgnoreRules {
    /// Reads the rules of a `.helmignore` and adds Helm's default: dot files in `templates/`.
    ///
    /// # Errors
    ///
    /// On `**` and on malformed patterns.
    pub fn parse(text: &str) -> Result<Self, IgnoreError> {
        let mut rules = Self::default();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (index, line) in text.lines().enumerate() {
            rules.add(line, index + 1)?;
        }
        rules.add("templates/.?*", 0)?;
        Ok(rules)
    }

    fn add(&mut self, line: &str, number: usize) -> Result<(), IgnoreError> {
        let rule = line.trim();
        if rule.is_empty() || rule.starts_with('#') {
            return Ok(());
        }
        if rule.contains("**") {
            return Err(IgnoreError::DoubleStar { line: number });
        }
        let (negated, body) = rule.strip_prefix('!').map_or((false, rule), |rest| (true, rest));
        let (directories_only, body) = body.strip_suffix('/').map_or((false, body), |rest| (true, rest));
        let whole_path = body.contains('/');
        let body = body.strip_prefix('/').unwrap_or(body);
        let pattern =
            Pattern::parse(body).map_err(|_| IgnoreError::Pattern { line: number, rule: rule.to_owned() })?;
        self.rules.push(Rule { pattern, negated, directories_only, whole_path });
        Ok(())
    }

    /// True if the file or directory at `path`, relative to the chart, is left out.
    pub fn ignores(&self, path: &str, is_directory: bool) -> bool {
        if path.is_empty() || path == "." {
            return false;
        }
        let name = path.rsplit('/').next().unwrap_or(path);
        for rule in &self.rules {
            let subject = if rule.whole_path { path } else { name };
            if rule.negated {
                if (rule.directories_only && !is_directory) || !rule.pattern.matches(subject) {
                    return true;
                }
            } else if (!rule.directories_only || is_directory) && rule.pattern.matches(subject) {
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_follow_helm() {
        for (rules, path, directory, expected) in [
            ("helm.txt", "helm.txt", false, true),
            ("helm.*", "helm.txt", false, true),
            ("helm.*", "rudder.txt", false, false),
            ("*.txt", "tiller.txt", false, true),
            ("cargo/a.txt", "cargo/a.txt", false, true),
            ("cargo/*.txt", "cargo/a.txt", false, true),
            ("cargo/*.*", "cargo/a.txt", false, true),
            ("*.txt", "cargo/a.txt", false, true),
            ("/a.txt", "a.txt", false, true),
            ("/a.txt", "cargo/a.txt", false, false),
            ("/cargo/*.txt", "mast/a.txt", false, false),
            ("cargo/", "cargo", true, true),
            ("mast/", "mast/a.txt", false, false),
            ("helm.txt/", "helm.txt", false, false),
            ("!helm.txt", "helm.txt", false, false),
            ("!helm.txt", "tiller.txt", false, true),
            ("!*.txt", "cargo", true, true),
            ("!cargo/", "mast", true, true),
            ("a[a-d].txt", "aa.txt", false, true),
            ("", "templates/.dotfile", false, true),
            ("", ".dotfile", false, false),
            ("# x", "x", false, false),
        ] {
            let parsed = IgnoreRules::parse(rules).unwrap();
            assert_eq!(parsed.ignores(path, directory), expected, "{rules:?} on {path}");
        }
    }

    #[test]
    fn double_stars_and_broken_classes_name_their_line() {
        assert_eq!(IgnoreRules::parse("a\n**/b").unwrap_err(), IgnoreError::DoubleStar { line: 2 });
        assert!(IgnoreRules::parse("[").unwrap_err().to_string().contains(".helmignore:1"));
    }
}
