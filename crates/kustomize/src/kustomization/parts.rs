//! The parts of a kustomization, each with the place where it was written.

use podsmith_object::decode::Decoder;
use podsmith_object::yaml::{Node, NodeData};

use super::table::Table;
use crate::config::FieldSpec;
use crate::resources::Gvk;

/// A place in the file that is being read.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Spot {
    pub line: usize,
    pub column: usize,
}

impl Spot {
    pub(crate) fn of(node: &Node) -> Self {
        Self { line: node.line, column: node.column }
    }
}

/// Which objects are meant. Parts are regular expressions that must match as a whole.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Selector {
    pub gvk: Gvk,
    pub name: String,
    pub namespace: String,
    pub annotation_selector: String,
    pub label_selector: String,
}

impl Selector {
    /// True if nothing but labels and annotations may be asked for.
    pub(crate) fn has_no_id(&self) -> bool {
        self.gvk == Gvk::default() && self.name.is_empty() && self.namespace.is_empty()
    }
}

/// One entry of `patches` or of its older relatives.
#[derive(Clone, Debug, Default)]
pub(crate) struct Patch {
    pub path: String,
    pub patch: String,
    pub target: Option<Selector>,
    pub allow_name_change: bool,
    pub allow_kind_change: bool,
    /// Lines of the file before the first line of an inline patch.
    pub lines_before: usize,
    pub spot: Spot,
}

/// One entry of `images`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Image {
    pub name: String,
    pub new_name: String,
    pub tag_suffix: String,
    pub new_tag: String,
    pub digest: String,
    pub spot: Spot,
}

/// One entry of `replicas`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Replica {
    pub name: String,
    pub count: i64,
    pub spot: Spot,
}

/// One entry of `labels`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Labels {
    pub pairs: Vec<(String, String)>,
    pub include_selectors: bool,
    pub include_templates: bool,
    pub fields: Vec<FieldSpec>,
    pub spot: Spot,
}

/// `generatorOptions`, or the `options` of one generator.
#[derive(Clone, Debug, Default)]
pub(crate) struct GeneratorOptions {
    pub labels: Vec<(String, String)>,
    pub annotations: Vec<(String, String)>,
    pub disable_name_suffix_hash: bool,
    pub immutable: bool,
}

/// One entry of `configMapGenerator` or `secretGenerator`.
#[derive(Clone, Debug, Default)]
pub(crate) struct GeneratorArgs {
    pub name: String,
    pub namespace: String,
    pub behavior: String,
    pub literals: Vec<String>,
    pub files: Vec<String>,
    pub envs: Vec<String>,
    pub options: GeneratorOptions,
    /// Only for secrets.
    pub secret_type: String,
    pub spot: Spot,
}

/// `options` of a replacement's source or target.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    pub delimiter: String,
    pub index: i64,
    pub create: bool,
}

/// Where a replacement's value comes from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Source {
    pub selector: Selector,
    pub field_path: String,
    pub options: Options,
}

/// Where a replacement's value goes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Target {
    pub select: Option<Selector>,
    pub reject: Vec<Selector>,
    pub field_paths: Vec<String>,
    pub options: Options,
}

/// One replacement.
#[derive(Clone, Debug, Default)]
pub(crate) struct Replacement {
    pub source: Option<Source>,
    pub source_value: Option<String>,
    /// `None` when the field is missing.
    pub targets: Option<Vec<Target>>,
    pub spot: Spot,
}

/// One entry of `replacements`: a replacement, or a file with some.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReplacementEntry {
    pub path: String,
    pub replacement: Replacement,
}

/// One entry of `vars`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Variable {
    pub name: String,
    pub gvk: Gvk,
    pub object_name: String,
    pub namespace: String,
    pub field_path: String,
    pub spot: Spot,
}

/// `sortOptions`.
#[derive(Clone, Debug, Default)]
pub(crate) struct SortOptions {
    pub order: String,
    pub legacy: Option<LegacyOrder>,
    pub spot: Spot,
}

/// `legacySortOptions`.
#[derive(Clone, Debug, Default)]
pub(crate) struct LegacyOrder {
    pub first: Vec<String>,
    pub last: Vec<String>,
}

/// `buildMetadata`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BuildMetadata {
    /// Something is asked for, even if unknown: provenance is tracked.
    pub any: bool,
    pub origin: bool,
    pub transformers: bool,
    pub managed_by: bool,
}

pub(crate) fn read_gvk(table: &mut Table<'_, '_, '_>) -> Gvk {
    Gvk { group: table.text("group"), version: table.text("version"), kind: table.text("kind") }
}

pub(crate) fn read_field_spec(decoder: &Decoder<'_>, node: &Node, strict: bool) -> Option<FieldSpec> {
    let mut table = Table::new(decoder, node, "a field", strict)?;
    let spec =
        FieldSpec { gvk: read_gvk(&mut table), path: table.text("path"), create: table.flag("create") };
    table.finish();
    Some(spec)
}

pub(crate) fn read_selector(
    decoder: &Decoder<'_>,
    node: &Node,
    what: &str,
    strict: bool,
) -> Option<Selector> {
    let mut table = Table::new(decoder, node, what, strict)?;
    let selector = selector_fields(&mut table);
    table.finish();
    Some(selector)
}

fn selector_fields(table: &mut Table<'_, '_, '_>) -> Selector {
    Selector {
        gvk: read_gvk(table),
        name: table.text("name"),
        namespace: table.text("namespace"),
        annotation_selector: table.text("annotationSelector"),
        label_selector: table.text("labelSelector"),
    }
}

pub(crate) fn read_patch(decoder: &Decoder<'_>, node: &Node) -> Option<Patch> {
    let mut table = Table::strict(decoder, node, "a patch")?;
    let mut patch = Patch {
        path: table.text("path"),
        patch: table.text("patch"),
        lines_before: table.take("patch").map_or(0, lines_before),
        target: table.take("target").and_then(|node| read_selector(decoder, node, "a patch target", true)),
        spot: Spot::of(node),
        ..Patch::default()
    };
    if let Some(node) = table.take("options") {
        read_patch_options(decoder, node, &mut patch, true);
    }
    table.finish();
    Some(patch)
}

pub(crate) fn read_patch_options(decoder: &Decoder<'_>, node: &Node, patch: &mut Patch, strict: bool) {
    let Some(mut options) = Table::new(decoder, node, "the patch options", strict) else { return };
    patch.allow_name_change = options.flag("allowNameChange");
    patch.allow_kind_change = options.flag("allowKindChange");
    options.finish();
}

pub(crate) fn read_image(decoder: &Decoder<'_>, node: &Node, strict: bool) -> Option<Image> {
    let mut table = Table::new(decoder, node, "an image", strict)?;
    let image = Image {
        name: table.text("name"),
        new_name: table.text("newName"),
        tag_suffix: table.text("tagSuffix"),
        new_tag: table.text("newTag"),
        digest: table.text("digest"),
        spot: Spot::of(node),
    };
    table.finish();
    Some(image)
}

pub(crate) fn read_replica(decoder: &Decoder<'_>, node: &Node, strict: bool) -> Option<Replica> {
    let mut table = Table::new(decoder, node, "a replica count", strict)?;
    let replica = Replica { name: table.text("name"), count: table.number("count"), spot: Spot::of(node) };
    table.finish();
    Some(replica)
}

pub(crate) fn read_labels(decoder: &Decoder<'_>, node: &Node) -> Option<Labels> {
    let mut table = Table::strict(decoder, node, "an item of labels")?;
    let labels = Labels {
        pairs: table.text_map("pairs"),
        include_selectors: table.flag("includeSelectors"),
        include_templates: table.flag("includeTemplates"),
        fields: table.list("fields", |item| read_field_spec(decoder, item, true)),
        spot: Spot::of(node),
    };
    table.finish();
    Some(labels)
}

pub(crate) fn read_generator_options(
    decoder: &Decoder<'_>,
    node: &Node,
    strict: bool,
) -> Option<GeneratorOptions> {
    let mut table = Table::new(decoder, node, "the generator options", strict)?;
    let options = GeneratorOptions {
        labels: table.text_map("labels"),
        annotations: table.text_map("annotations"),
        disable_name_suffix_hash: table.flag("disableNameSuffixHash"),
        immutable: table.flag("immutable"),
    };
    table.finish();
    Some(options)
}

/// Reads a generator. `secret` allows the `type` of secrets; a plugin file may also give name and namespace under
/// `metadata`.
pub(crate) fn read_generator(
    decoder: &Decoder<'_>,
    node: &Node,
    secret: bool,
    strict: bool,
) -> Option<GeneratorArgs> {
    let mut table = Table::new(decoder, node, "a generator", strict)?;
    let mut args = GeneratorArgs {
        name: table.text("name"),
        namespace: table.text("namespace"),
        behavior: table.text("behavior"),
        literals: table.texts("literals"),
        files: table.texts("files"),
        envs: table.texts("envs"),
        spot: Spot::of(node),
        ..GeneratorArgs::default()
    };
    let env = table.text("env");
    if !env.is_empty() {
        args.envs.push(env);
    }
    if let Some(node) = table.take("options") {
        args.options = read_generator_options(decoder, node, strict)?;
    }
    if secret {
        args.secret_type = table.text("type");
    }
    if !strict && let Some(node) = table.take("metadata") {
        let mut metadata = Table::new(decoder, node, "the metadata", false)?;
        for (slot, key) in [(&mut args.name, "name"), (&mut args.namespace, "namespace")] {
            if slot.is_empty() {
                *slot = metadata.text(key);
            }
        }
    }
    table.finish();
    Some(args)
}

fn read_options(decoder: &Decoder<'_>, node: &Node, strict: bool) -> Option<Options> {
    let mut table = Table::new(decoder, node, "the field options", strict)?;
    let options = Options {
        delimiter: table.text("delimiter"),
        index: table.number("index"),
        create: table.flag("create"),
    };
    table.text("encoding");
    table.finish();
    Some(options)
}

fn read_source(decoder: &Decoder<'_>, node: &Node, strict: bool) -> Option<Source> {
    let mut table = Table::new(decoder, node, "a replacement source", strict)?;
    let mut source = Source {
        selector: Selector {
            gvk: read_gvk(&mut table),
            name: table.text("name"),
            namespace: table.text("namespace"),
            ..Selector::default()
        },
        field_path: table.text("fieldPath"),
        options: Options::default(),
    };
    if let Some(node) = table.take("options") {
        source.options = read_options(decoder, node, strict)?;
    }
    table.finish();
    Some(source)
}

fn read_target(decoder: &Decoder<'_>, node: &Node, strict: bool) -> Option<Target> {
    let mut table = Table::new(decoder, node, "a replacement target", strict)?;
    let mut target = Target {
        select: table
            .take("select")
            .and_then(|node| read_selector(decoder, node, "a target selector", strict)),
        reject: table.list("reject", |item| read_selector(decoder, item, "a target selector", strict)),
        field_paths: table.texts("fieldPaths"),
        options: Options::default(),
    };
    if let Some(node) = table.take("options") {
        target.options = read_options(decoder, node, strict)?;
    }
    table.finish();
    Some(target)
}

pub(crate) fn read_replacement(decoder: &Decoder<'_>, node: &Node, strict: bool) -> Option<Replacement> {
    read_replacement_entry(decoder, node, strict).map(|entry| entry.replacement)
}

pub(crate) fn read_replacement_entry(
    decoder: &Decoder<'_>,
    node: &Node,
    strict: bool,
) -> Option<ReplacementEntry> {
    let mut table = Table::new(decoder, node, "a replacement", strict)?;
    let source = table.take("source").and_then(|node| read_source(decoder, node, strict));
    let source_value = match table.take("sourceValue") {
        Some(node) => Some(decoder.string(node, "`sourceValue` of a replacement")?),
        None => None,
    };
    let targets = table.take("targets").map(|node| {
        let items = decoder.sequence(node, "`targets` of a replacement");
        items.iter().filter_map(|item| read_target(decoder, item, strict)).collect()
    });
    let path = table.text("path");
    table.finish();
    Some(ReplacementEntry {
        path,
        replacement: Replacement { source, source_value, targets, spot: Spot::of(node) },
    })
}

pub(crate) fn read_variable(decoder: &Decoder<'_>, node: &Node) -> Option<Variable> {
    let mut table = Table::strict(decoder, node, "a var")?;
    let mut variable = Variable { name: table.text("name"), spot: Spot::of(node), ..Variable::default() };
    if let Some(node) = table.take("objref") {
        let mut object = Table::strict(decoder, node, "`objref` of a var")?;
        variable.gvk = read_gvk(&mut object);
        let api_version = object.text("apiVersion");
        match api_version.split('/').collect::<Vec<_>>().as_slice() {
            [group, version] => {
                (*group).clone_into(&mut variable.gvk.group);
                (*version).clone_into(&mut variable.gvk.version);
            }
            [version] if !version.is_empty() => (*version).clone_into(&mut variable.gvk.version),
            _ => {}
        }
        variable.object_name = object.text("name");
        variable.namespace = object.text("namespace");
        object.finish();
    }
    if let Some(node) = table.take("fieldref") {
        let mut field = Table::strict(decoder, node, "`fieldref` of a var")?;
        variable.field_path = field.text("fieldPath");
        field.finish();
    }
    if variable.field_path.is_empty() {
        "metadata.name".clone_into(&mut variable.field_path);
    }
    table.finish();
    Some(variable)
}

pub(crate) fn read_sort_options(decoder: &Decoder<'_>, node: &Node) -> Option<SortOptions> {
    let mut table = Table::strict(decoder, node, "`sortOptions`")?;
    let mut options =
        SortOptions { order: table.text("order"), spot: Spot::of(node), ..SortOptions::default() };
    if let Some(node) = table.take("legacySortOptions") {
        let mut legacy = Table::strict(decoder, node, "`legacySortOptions`")?;
        options.legacy =
            Some(LegacyOrder { first: legacy.texts("orderFirst"), last: legacy.texts("orderLast") });
        legacy.finish();
    }
    table.finish();
    Some(options)
}

pub(crate) fn read_metadata(decoder: &Decoder<'_>, node: &Node) {
    let Some(mut table) = Table::strict(decoder, node, "`metadata`") else { return };
    for key in ["name", "namespace"] {
        table.text(key);
    }
    for key in ["labels", "annotations"] {
        table.text_map(key);
    }
    table.finish();
}

/// Where the content of a text starts: a block starts on the line after its mark.
fn lines_before(node: &Node) -> usize {
    let is_block = node.as_str().is_some_and(|text| text.contains('\n'));
    if is_block { node.line } else { node.line.saturating_sub(1) }
}

/// The text of a `patchesStrategicMerge` item with its place.
pub(crate) fn read_old_patch(decoder: &Decoder<'_>, node: &Node) -> Option<Patch> {
    let text = match node.data {
        NodeData::Null => String::new(),
        _ => decoder.string(node, "an item of `patchesStrategicMerge`")?,
    };
    Some(Patch { patch: text, lines_before: lines_before(node), spot: Spot::of(node), ..Patch::default() })
}
