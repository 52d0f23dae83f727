//! From files to packages of objects.

use std::collections::HashMap;

use hcl_edit::Span;
use hcl_edit::structure::Structure;
use podsmith_object::files::FileTree;
use podsmith_object::{Diagnostics, Map, Object, ObjectId, Origin, Value};

use crate::decode::{Decoder, check_top};
use crate::eval::{Evaluator, Frame};
use crate::language::FILE;
use crate::objects::Builder;
use crate::source::SourceFile;
use crate::unit::{BlockRef, ParsedFile, REFERABLE, Unit};
use crate::variables;

/// One Podfile to render.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Podfile {
    /// The file as the user named it, for messages.
    pub name: String,
    /// The directory of the file inside the file tree; `file()` and modules start there.
    pub directory: String,
    /// The text.
    pub text: String,
}

/// What a rendering may use besides the files.
pub struct Options<'o> {
    /// Values of variables, from values files and `--set`.
    pub values: Map<String, Value>,
    /// Looks up an environment variable; used for `PODSMITH_VAR_x` only.
    pub environment: &'o dyn Fn(&str) -> Option<String>,
    /// The package's name when the files do not say it.
    pub package: Option<String>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self { values: Map::new(), environment: &|_| None, package: None }
    }
}

/// A package and its objects, in the order of the files.
#[derive(Clone, Debug)]
pub struct PodfilePackage {
    /// The name: from the `podsmith` block, the options, or the file.
    pub name: String,
    /// The default namespace, when the files name one.
    pub namespace: Option<String>,
    /// The objects, each with the place it was declared at.
    pub objects: Vec<Object>,
    /// Values of `output` blocks.
    pub outputs: Map<String, Value>,
}

/// Everything the files declare.
#[derive(Clone, Debug, Default)]
pub struct PodfileOutput {
    /// The packages, in the order they are first named.
    pub packages: Vec<PodfilePackage>,
    /// What is worth knowing but no error.
    pub warnings: Diagnostics,
}

impl PodfileOutput {
    /// All objects of all packages.
    pub fn objects(&self) -> impl Iterator<Item = &Object> {
        self.packages.iter().flat_map(|package| &package.objects)
    }
}

/// Renders Podfiles to objects.
///
/// Files of one directory belong together, as do files that name the same package. The result depends on nothing but
/// the arguments: no cluster, no clock, no order of a hash map.
///
/// # Errors
///
/// Every problem of every file, each with its place.
///
/// # Cost
///
/// Linear in the size of the files and of the result.
pub fn render(
    files: &[Podfile],
    tree: &dyn FileTree,
    options: &Options<'_>,
) -> Result<PodfileOutput, Diagnostics> {
    let mut problems = Diagnostics::new();
    let sources =
        files.iter().map(|file| SourceFile::new(&file.name, &file.directory, file.text.clone())).collect();
    let parsed = parse_all(sources, &mut problems);
    let mut output = PodfileOutput::default();
    let mut known_values: Vec<String> = Vec::new();
    for group in group(parsed, options, &mut problems) {
        let inputs = Inputs {
            tree,
            package: group.name.clone(),
            namespace: group.namespace.clone(),
            values: &options.values,
            environment: options.environment,
            depth: 0,
        };
        let rendered = render_unit(&group.files, &inputs, &mut problems);
        known_values.extend(rendered.variables);
        output.packages.push(PodfilePackage {
            name: group.name,
            namespace: group.namespace,
            objects: rendered.objects,
            outputs: rendered.outputs,
        });
    }
    refuse_duplicates(&output, &mut problems);
    for name in options.values.keys().filter(|name| !known_values.contains(name)) {
        let hint = podsmith_object::suggest::nearest(name, known_values.iter().map(String::as_str));
        problems.push(
            podsmith_object::Diagnostic::warning(format!(
                "a value is given for `{name}`, but no variable has this name"
            ))
            .with_hint_if(hint.map(|near| format!("did you mean `{near}`?"))),
        );
    }
    dedupe(&mut problems);
    if problems.has_errors() {
        return Err(problems);
    }
    output.warnings = problems;
    Ok(output)
}

/// What a unit is rendered with.
pub(crate) struct Inputs<'i> {
    pub tree: &'i dyn FileTree,
    pub package: String,
    pub namespace: Option<String>,
    pub values: &'i Map<String, Value>,
    pub environment: &'i dyn Fn(&str) -> Option<String>,
    pub depth: usize,
}

/// A rendered unit.
pub(crate) struct Rendered {
    pub objects: Vec<Object>,
    pub outputs: Map<String, Value>,
    /// Names of the variables that were declared.
    pub variables: Vec<String>,
}

/// Parses all files; those that do not parse are reported and left out.
pub(crate) fn parse_all(sources: Vec<SourceFile>, problems: &mut Diagnostics) -> Vec<ParsedFile> {
    let mut parsed = Vec::with_capacity(sources.len());
    for source in sources {
        match source.parse() {
            Ok(body) => parsed.push(ParsedFile { source, body }),
            Err(problem) => problems.push(*problem),
        }
    }
    parsed
}

struct Group {
    name: String,
    namespace: Option<String>,
    files: Vec<ParsedFile>,
}

/// Puts files into packages: by the package they name, else with the files of their directory.
fn group(parsed: Vec<ParsedFile>, options: &Options<'_>, problems: &mut Diagnostics) -> Vec<Group> {
    let declared: Vec<Option<(String, Option<String>)>> =
        parsed.iter().map(|file| package_of(file, problems)).collect();
    let mut by_directory: HashMap<&str, Vec<&str>> = HashMap::new();
    for (file, declared) in parsed.iter().zip(&declared) {
        if let Some((name, _)) = declared {
            let names = by_directory.entry(&file.source.directory).or_default();
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
    }
    let names: Vec<String> = parsed
        .iter()
        .zip(&declared)
        .map(|(file, declared)| {
            if let Some((name, _)) = declared {
                return name.clone();
            }
            match by_directory.get(file.source.directory.as_str()).map(Vec::as_slice) {
                Some([only]) => (*only).to_owned(),
                _ => options.package.clone().unwrap_or_else(|| stem(&file.source.name)),
            }
        })
        .collect();
    let mut groups: Vec<Group> = Vec::new();
    for ((file, declared), name) in parsed.into_iter().zip(declared).zip(names) {
        let namespace = declared.and_then(|(_, namespace)| namespace);
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => {
                if let (Some(a), Some(b)) = (&group.namespace, &namespace)
                    && a != b
                {
                    let message = format!("package `{name}` has two default namespaces, `{a}` and `{b}`");
                    problems.push(file.source.error(Some(0..0), message));
                }
                group.namespace = group.namespace.take().or(namespace);
                group.files.push(file);
            }
            None => groups.push(Group { name, namespace, files: vec![file] }),
        }
    }
    groups
}

/// The package's name when nothing names it: the file's name without its directory and extension.
fn stem(file: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let slug = crate::functions::slug(stem);
    if slug.is_empty() { "stdin".into() } else { slug }
}

/// Package and namespace of a file's `podsmith` block. They may not depend on variables, because the package decides
/// which files belong together.
fn package_of(file: &ParsedFile, problems: &mut Diagnostics) -> Option<(String, Option<String>)> {
    let blocks: Vec<_> =
        ["podsmith", "podinate"].iter().flat_map(|name| file.body.get_blocks(name)).collect();
    let block = blocks.first()?;
    if let Some(second) = blocks.get(1) {
        let message = "there is more than one `podsmith` block in this file";
        problems.push(file.source.error(second.ident.span(), message));
    }
    let tree = podsmith_object::files::MemoryFiles::new();
    let unit = Unit::new(&tree, String::new(), None, 0);
    let mut decoder = Decoder { unit: &unit, problems };
    let kind = FILE.block(block.ident.value().as_str())?;
    let decoded = decoder.block(&file.source, block, kind, &Frame::EMPTY)?;
    let (package, namespace) =
        (decoded.text("package")?.to_owned(), decoded.text("namespace").map(str::to_owned));
    for (attribute, value) in [("package", Some(&package)), ("namespace", namespace.as_ref())] {
        if let Some(Err(error)) = value.map(|value| podsmith_object::names::dns_label(value)) {
            problems.push(file.source.error(decoded.span_of(attribute), format!("{attribute} {error}")));
        }
    }
    Some((package, namespace))
}

/// Renders the files of one package or module.
pub(crate) fn render_unit(files: &[ParsedFile], inputs: &Inputs<'_>, problems: &mut Diagnostics) -> Rendered {
    let mut unit = Unit::new(inputs.tree, inputs.package.clone(), inputs.namespace.clone(), inputs.depth);
    let mut variable_blocks: Vec<(String, BlockRef<'_>)> = Vec::new();
    let mut manifests = Vec::new();
    let mut outputs = Vec::new();
    for file in files {
        check_top(&file.source, &file.body, &FILE, problems);
        for structure in &file.body {
            let Structure::Block(block) = structure else { continue };
            let reference = BlockRef { file: &file.source, block };
            let label = block.labels.first().map(|label| label.as_str());
            match (block.ident.value().as_str(), label) {
                ("variable", Some(label)) => variable_blocks.push((label.to_owned(), reference)),
                ("manifest", Some(_)) => manifests.push(reference),
                ("output", Some(label)) => outputs.push((label, reference)),
                ("module", Some(label)) => {
                    unit.modules.insert(label, reference);
                }
                ("locals", None) => {
                    for attribute in block.body.attributes() {
                        let name = attribute.key.value().as_str();
                        if unit.locals.insert(name, (&file.source, &attribute.value)).is_some() {
                            let message = format!("the local value `{name}` is declared twice");
                            problems.push(file.source.error(attribute.key.span(), message));
                        }
                    }
                }
                (kind, Some(label)) => {
                    let Some(kind) = REFERABLE.into_iter().find(|known| *known == kind) else { continue };
                    // Twice in one file is reported by the check above.
                    if let Some(first) = unit.blocks.insert((kind, label), reference)
                        && first.file.name != file.source.name
                    {
                        let message = format!("there are two `{kind}` blocks with the label `{label}`");
                        let place = first.file.place(first.block.ident.span().map_or(0, |span| span.start));
                        let problem = file.source.error(block.ident.span(), message);
                        problems.push(problem.because(format!("the other one is at {place}")));
                    }
                }
                _ => check_unlabelled(&file.source, block, problems),
            }
        }
    }
    variables::assign(&mut unit, &variable_blocks, inputs.values, inputs.environment, problems);
    let rendered = build(&unit, &variable_blocks, &manifests, &outputs, problems);
    let variables = variable_blocks.into_iter().map(|(name, _)| name).collect();
    Rendered { variables, ..rendered }
}

/// Top-level blocks whose label is missing are checked here, because nothing else looks at them.
fn check_unlabelled(file: &SourceFile, block: &hcl_edit::structure::Block, problems: &mut Diagnostics) {
    let name = block.ident.value().as_str();
    if let Some(kind) = FILE.block(name)
        && let Some(meaning) = kind.label
    {
        let problem = file.error(block.ident.span(), format!("`{name}` needs a label: {meaning}"));
        problems.push(problem.with_hint(format!("write {name} \"…\" {{ … }}")));
    }
}

fn build<'u>(
    unit: &'u Unit<'u>,
    variable_blocks: &[(String, BlockRef<'u>)],
    manifests: &[BlockRef<'u>],
    outputs: &[(&'u str, BlockRef<'u>)],
    problems: &mut Diagnostics,
) -> Rendered {
    variables::validate(unit, variable_blocks, problems);
    // A variable without a value would be reported again at every use.
    let complete = variable_blocks.iter().all(|(name, _)| unit.variables.contains_key(name));
    let mut objects = Vec::new();
    let mut values = Map::new();
    if !complete {
        return Rendered { objects, outputs: values, variables: Vec::new() };
    }
    for (file, expression) in unit.locals.values() {
        let evaluator = Evaluator { unit, file };
        if let Err(fault) = evaluator.eval(expression, &Frame::EMPTY) {
            problems.push(*fault);
        }
    }
    unit.sensitive.set(false);
    Builder { unit, problems, objects: &mut objects }.build_all(manifests);
    for (name, block) in &unit.modules {
        match unit.module(name, *block) {
            Ok(instances) => {
                for instance in instances.iter() {
                    objects.extend(instance.objects.iter().cloned());
                    problems.extend(instance.problems.0.iter().cloned());
                }
            }
            Err(fault) => problems.push(*fault),
        }
    }
    for (name, block) in outputs {
        let evaluator = Evaluator { unit, file: block.file };
        match block.block.body.get_attribute("value") {
            Some(attribute) => match evaluator.eval(&attribute.value, &Frame::EMPTY) {
                Ok(value) => {
                    values.insert((*name).to_owned(), value);
                }
                Err(fault) => problems.push(*fault),
            },
            None => problems
                .push(block.file.error(block.block.ident.span(), "`output` needs the attribute `value`")),
        }
    }
    Rendered { objects, outputs: values, variables: Vec::new() }
}

/// Two blocks that make the same object would overwrite each other in turn.
fn refuse_duplicates(output: &PodfileOutput, problems: &mut Diagnostics) {
    let mut seen: HashMap<ObjectId, &Origin> = HashMap::new();
    for package in &output.packages {
        for object in &package.objects {
            let Some(origin) = object.origin() else { continue };
            if object.name().is_empty() {
                continue;
            }
            if let Some(first) = seen.insert(object.id(), origin) {
                let message = "this object is declared twice";
                let problem = podsmith_object::Diagnostic::error(message).at(origin.place()).on(object.id());
                problems.push(
                    problem
                        .because(format!("the other one is declared at {}", first.place()))
                        .with_hint("give one of them another name or namespace"),
                );
            }
        }
    }
}

/// The same mistake can be met on several ways, through references for instance; it is told once.
fn dedupe(problems: &mut Diagnostics) {
    let mut seen = std::collections::HashSet::new();
    problems.0.retain(|problem| {
        let place = problem.place.as_ref().map(ToString::to_string);
        seen.insert((place, problem.message.clone(), problem.object.clone()))
    });
    problems.0.sort_by(|a, b| {
        let key =
            |d: &podsmith_object::Diagnostic| d.place.as_ref().map(|p| (p.file.clone(), p.line, p.column));
        key(a).cmp(&key(b))
    });
}
