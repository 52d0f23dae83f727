//! Charts grown at random: trees of subcharts with values, globals, nulls, conditions, tags, aliases and imports.
//!
//! The generator is its own small one with a fixed seed, so that every run compares the same charts.

use std::path::Path;

use podsmith_object::{Map, Value, json};

const DUMP: &str = "kind: Dump\nmetadata: {name: '{{ .Template.Name | replace \"/\" \".\" }}'}\nspec:\n  values: \
    {{ .Values | toJson }}\n  dependencies: {{ .Chart.Dependencies | toJson }}\n";

struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        // A linear congruential generator; the high bits are the good ones.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::try_from(self.below(from.len() as u64)).unwrap()]
    }

    fn value(&mut self, depth: u64) -> Value {
        match self.below(10) {
            0 => Value::Null,
            1..=4 if depth < 3 => Value::Object(self.table(depth + 1)),
            5 => json!([self.below(3), "x"]),
            6 => Value::Bool(self.percent(50)),
            _ => self.pick(&["one", "two", "3"]).into(),
        }
    }

    fn table(&mut self, depth: u64) -> Map<String, Value> {
        let mut table = Map::new();
        for _ in 0..self.below(4) {
            table.insert(self.pick(&["a", "b", "c", "d"]).to_owned(), self.value(depth));
        }
        table
    }

    /// Values for a subchart.
    fn for_subchart(&mut self) -> Value {
        let mut table = self.table(1);
        if self.percent(40) {
            table.insert("enabled".to_owned(), Value::Bool(self.percent(60)));
        }
        for key in ["global", "s1", "s2"] {
            if self.percent(30) {
                table.insert(key.to_owned(), Value::Object(self.table(1)));
            }
        }
        Value::Object(table)
    }

    fn dependency(&mut self, name: &str) -> Value {
        let version = self.pick(&["1.x", "^1.0.0", ">=0.5", "*"]);
        let mut dependency = json!({"name": name, "version": version, "repository": ""});
        if self.percent(30) {
            dependency["condition"] = self.pick(&["s1.enabled", "a,b", "s2.a,s2.enabled", "global.a"]).into();
        }
        if self.percent(30) {
            dependency["tags"] = json!([self.pick(&["t1", "t2"]), "t3"]);
        }
        if self.percent(40) {
            let paths =
                json!({"child": self.pick(&["a", "b.a", "global"]), "parent": self.pick(&[".", "c.x", "b"])});
            dependency["import-values"] = json!([self.pick(&["e1", "e2"]), paths]);
        }
        dependency
    }
}

fn write(path: &Path, value: &Value) {
    std::fs::write(path, podsmith_object::yaml::to_string(value)).unwrap();
}

fn grow(dice: &mut Dice, directory: &Path, name: &str, depth: u64) {
    std::fs::create_dir_all(directory.join("templates")).unwrap();
    std::fs::write(directory.join("templates/dump.yaml"), DUMP).unwrap();
    let mut values = dice.table(0);
    values.insert("global".to_owned(), Value::Object(dice.table(1)));
    if dice.percent(40) {
        values.insert("exports".to_owned(), json!({"e1": dice.table(1), "e2": dice.table(1)}));
    }
    let mut declared = Vec::new();
    for child in ["s1", "s2", "s3"] {
        if depth == 3 || !dice.percent(if depth == 0 { 70 } else { 40 }) {
            continue;
        }
        grow(dice, &directory.join("charts").join(child), child, depth + 1);
        if dice.percent(60) {
            values.insert(child.to_owned(), dice.for_subchart());
        }
        // Undeclared charts below a chart with two aliases are left out: there Helm edits one chart twice.
        if depth == 0 && dice.percent(25) {
            continue;
        }
        let mut dependency = dice.dependency(child);
        if dice.percent(25) {
            let mut twin = dependency.clone();
            twin["alias"] = format!("twin_{child}").into();
            declared.push(twin);
            values.insert(format!("twin_{child}"), dice.for_subchart());
        }
        if dice.percent(20) {
            dependency["alias"] = format!("other_{child}").into();
        }
        declared.push(dependency);
    }
    if dice.percent(30) {
        values.insert("tags".to_owned(), json!({"t1": dice.percent(50), "t3": dice.percent(50)}));
    }
    let mut metadata = json!({"apiVersion": "v2", "name": name, "version": "1.0.0"});
    if !declared.is_empty() || dice.percent(20) {
        metadata["dependencies"] = Value::Array(declared);
    }
    write(&directory.join("Chart.yaml"), &metadata);
    write(&directory.join("values.yaml"), &Value::Object(values));
}

/// Grows charts below `directory`, each with values of a user.
pub fn charts(directory: &Path) {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for index in 0..24 {
        let name = format!("grown{index:02}");
        let chart = directory.join(&name);
        grow(&mut dice, &chart, &name, 0);
        std::fs::create_dir_all(chart.join("ci")).unwrap();
        let mut user = dice.table(0);
        for key in ["global", "s1", "s2", "s3", "twin_s1", "other_s2"] {
            if dice.percent(50) {
                user.insert(key.to_owned(), dice.for_subchart());
            }
        }
        write(&chart.join("ci/user-values.yaml"), &Value::Object(user));
    }
}
