//! `podsmith render`

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use podsmith_engine::RenderOptions;
use podsmith_object::{Diagnostic, Diagnostics, Object, yaml};

use crate::cli::Global;
use crate::failure::{Failure, Outcome, exit};
use crate::output::{self, Format, HeldOutput};
use crate::shape;
use crate::sources::{self, ChartFlags, Declared};
use crate::values::GivenValues;

/// A result up to this size is printed only when all of it is right; a longer one streams from there on.
const HOLD_BACK: usize = 8 << 20;

/// What to render and how to shape it. Shared by render, plan and apply.
#[derive(Args, Clone, Debug)]
pub struct ShapingArgs {
    /// A file, directory, glob, `-` for stdin, https URL, `.tgz` chart or oci:// chart.
    ///
    /// A directory is recognised by what is in it: Chart.yaml, kustomization.yaml, podsmith.yaml (a pipeline),
    /// pod.yaml; else all its .pf, .yaml, .yml and .json files in name order.
    #[arg(value_name = "SOURCE", required = true)]
    pub sources: Vec<String>,
    /// Read values for charts, Podfiles and templates from a YAML file; later files win.
    #[arg(long, short = 'f', value_name = "FILE")]
    pub values: Vec<PathBuf>,
    /// Set one value: a.b=c, list[0]=x, name={a,b}; wins over --values.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Set one value that stays a string.
    #[arg(long, value_name = "PATH=TEXT")]
    pub set_string: Vec<String>,
    /// Keep only objects that match; several are ANDed, `!` in front negates.
    ///
    /// kind=Deployment,apps/v1/StatefulSet  namespace=a,b  name=x  name^=PREFIX  name$=SUFFIX  name~=REGEX
    /// label=SELECTOR  annotation=KEY[=VALUE]  jq=EXPRESSION
    #[arg(long, value_name = "FILTER")]
    pub filter: Vec<String>,
    /// Change every object; several apply in order.
    ///
    /// namespace=NS  namespace?=NS (only if unset)  name-prefix=P  name-suffix=S  label=K=V  label-=K
    /// annotation=K=V  annotation-=K  jq=EXPRESSION
    #[arg(long, value_name = "TRANSFORM")]
    pub transform: Vec<String>,
    /// Flags for charts.
    #[command(flatten)]
    pub chart: ChartFlags,
}

impl ShapingArgs {
    /// The renderers of all sources, and the level-3 filters, transformers and values. Values are read once: a file may
    /// be stdin.
    ///
    /// # Errors
    ///
    /// Every wrong flag, as a usage error; every source and values file that could not be understood.
    pub fn read(&self, global: &Global) -> Result<(Declared, RenderOptions), Failure> {
        let mut options = self.steps()?;
        let values = GivenValues::read(&self.values, &self.set, &self.set_string)?;
        options.values = values.merged();
        Ok((sources::declare(&self.sources, &self.chart, values, global)?, options))
    }

    fn steps(&self) -> Result<RenderOptions, Failure> {
        let mut wrong = Diagnostics::new();
        let mut options = RenderOptions::default();
        for text in &self.filter {
            match shape::parse_filter(text) {
                Ok(filter) => options.filters.push(filter),
                Err(reason) => wrong.push(Diagnostic::error(format!("--filter: {reason}"))),
            }
        }
        for text in &self.transform {
            match shape::parse_transform(text) {
                Ok(transformer) => options.transformers.push(transformer),
                Err(reason) => wrong.push(Diagnostic::error(format!("--transform: {reason}"))),
            }
        }
        if wrong.is_empty() { Ok(options) } else { Err(Failure::Usage(wrong)) }
    }
}

/// Print the objects that sources describe, in the order of the sources.
///
/// Nothing is printed if a file, an object or a flag is wrong; all errors are listed instead.
#[derive(Args, Clone, Debug)]
pub struct RenderArgs {
    /// What to render.
    #[command(flatten)]
    pub shaping: ShapingArgs,
    /// Write on every object which file it came from.
    #[arg(long)]
    pub source_annotations: bool,
    /// Write on every object a hash of what it contains.
    #[arg(long)]
    pub content_hash: bool,
}

/// Renders and prints.
///
/// # Errors
///
/// Everything that is wrong with the sources.
pub fn run(args: &RenderArgs, global: &Global) -> Outcome {
    let formats = [Format::Yaml, Format::Json, Format::Ndjson];
    let format = Format::choose(global.output.as_deref(), &formats, Format::Yaml).map_err(Failure::usage)?;
    let (mut declared, options) = args.shaping.read(global)?;
    declared.annotate(args.source_annotations, args.content_hash);
    let notes = declared.notes();
    let mut printer = Printer::new(std::io::stdout().lock(), format);
    let warnings = declared.render_each(&options, &mut |object| printer.object(&object))?;
    printer.finish()?;
    output::report(&warnings, Some(global));
    if args.shaping.chart.notes {
        let mut stderr = std::io::stderr().lock();
        for text in notes() {
            writeln!(stderr, "{}", text.trim_end())?;
        }
    }
    Ok(exit::DONE)
}

struct Printer<W: Write> {
    output: HeldOutput<W>,
    format: Format,
    count: usize,
    text: String,
}

impl<W: Write> Printer<W> {
    fn new(output: W, format: Format) -> Self {
        Self { output: HeldOutput::new(output, HOLD_BACK), format, count: 0, text: String::new() }
    }

    fn object(&mut self, object: &Object) -> Result<(), Failure> {
        self.text.clear();
        match self.format {
            Format::Json => {
                self.text.push_str(if self.count == 0 {
                    "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[\n"
                } else {
                    ",\n"
                });
                self.json(object)?;
            }
            Format::Ndjson => {
                self.json(object)?;
                self.text.push('\n');
            }
            Format::Yaml | Format::Text => {
                if self.count > 0 {
                    self.text.push_str("---\n");
                }
                yaml::write_map(&mut self.text, object.body(), yaml::Style::default());
            }
        }
        self.count += 1;
        Ok(self.output.push(self.text.as_bytes())?)
    }

    fn json(&mut self, object: &Object) -> Result<(), Failure> {
        let text = serde_json::to_string(object).map_err(|error| Failure::message(error.to_string()))?;
        self.text.push_str(&text);
        Ok(())
    }

    fn finish(mut self) -> Result<(), Failure> {
        if self.format == Format::Json {
            let end: &[u8] = if self.count == 0 {
                b"{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[]}\n"
            } else {
                b"\n]}\n"
            };
            self.output.push(end)?;
        }
        Ok(self.output.finish()?)
    }
}
