//! `podsmith ns`

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use kube::api::{Api, DynamicObject, Patch, PatchParams};
use kube::discovery::ApiResource;
use podsmith_namespaces::change::Change;
use podsmith_namespaces::model::Kind;
use podsmith_namespaces::tree::Edges;
use podsmith_namespaces::{Config, controller, manifests, metrics::Metrics, ops, tree};
use podsmith_object::{Diagnostic, GroupVersionKind, Place, Value, json};
use tokio::sync::watch;

use crate::cli::Global;
use crate::failure::{Failure, Outcome, exit};
use crate::output::{Format, print_value};
use crate::planning::FORMATS;
use crate::runtime;
use crate::target::{Target, data_directory};

/// Namespaces: the tree, templates and what flows down.
#[derive(Args, Debug)]
pub struct NsArgs {
    /// Show what would change, propagation included, and change nothing.
    #[arg(long, global = true)]
    pub plan: bool,
    /// The configuration; default: `namespaces.yaml` in the data directory, if it is there.
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// What to do.
    #[command(subcommand)]
    pub action: NsAction,
}

/// What to do with namespaces.
#[derive(Debug, Subcommand)]
pub enum NsAction {
    /// Draw the tree, or the part under a namespace.
    Tree {
        /// Where to start.
        root: Option<String>,
    },
    /// List namespaces with their place in the tree.
    List {
        /// Also those without a place in a tree.
        #[arg(long)]
        all: bool,
    },
    /// Show one namespace and what is propagated to and from it.
    Describe {
        /// The namespace.
        namespace: String,
    },
    /// Make a namespace a root, a template, or neither.
    SetType {
        /// The namespace.
        namespace: String,
        /// What it becomes.
        kind: TypeWord,
    },
    /// Ask for a sub-namespace.
    Create {
        /// The new namespace.
        name: String,
        /// Its parent.
        parent: String,
        /// A label for it; may be given several times.
        #[arg(long = "label", value_name = "K=V")]
        labels: Vec<String>,
        /// An annotation for it; may be given several times.
        #[arg(long = "annotation", value_name = "K=V")]
        annotations: Vec<String>,
    },
    /// Remove a sub-namespace.
    Delete {
        /// The sub-namespace.
        name: String,
    },
    /// Put a sub-namespace under another parent.
    Move {
        /// The sub-namespace.
        namespace: String,
        /// Its new parent.
        new_parent: String,
    },
    /// Make a namespace a sub-namespace.
    Graft {
        /// The namespace.
        namespace: String,
        /// Its parent.
        parent: String,
    },
    /// Make a sub-namespace a root.
    Cut {
        /// The sub-namespace.
        namespace: String,
    },
    /// Templates and their instances.
    #[command(subcommand)]
    Template(TemplateAction),
}

/// What to do with templates.
#[derive(Debug, Subcommand)]
pub enum TemplateAction {
    /// Draw the templates with their instances.
    List {
        /// Where to start.
        template: Option<String>,
    },
    /// Give a namespace a template.
    Set {
        /// The namespace.
        namespace: String,
        /// The template.
        template: String,
    },
    /// Take the template away.
    Unset {
        /// The namespace.
        namespace: String,
    },
}

/// The type of a namespace.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum TypeWord {
    /// The top of a tree.
    Root,
    /// Others copy from it.
    Template,
    /// Neither.
    None,
}

/// Runs the command.
///
/// # Errors
///
/// When the change is not possible, or the cluster refuses it.
pub fn run(args: &NsArgs, global: &Global) -> Outcome {
    let format = Format::choose(global.output.as_deref(), &FORMATS, Format::Text).map_err(Failure::usage)?;
    let config = read_config(args.config.as_deref(), global)?;
    runtime::one_thread()?.block_on(async {
        let target = Target::open(global).await?;
        let done = act(args, &config, format, &target, global).await;
        target.close().await;
        done
    })
}

async fn act(args: &NsArgs, config: &Config, format: Format, target: &Target, global: &Global) -> Outcome {
    let client = &target.client;
    if target.name == "embedded" {
        install(target, config).await?;
    }
    match &args.action {
        NsAction::Tree { root } => {
            let lines =
                ops::tree(client, config, Edges::Parents, root.as_deref()).await.map_err(|e| told(&e))?;
            print(format, || tree::draw(&lines), || lines_json(&lines))
        }
        NsAction::Template(TemplateAction::List { template }) => {
            let lines = ops::tree(client, config, Edges::Templates, template.as_deref())
                .await
                .map_err(|e| told(&e))?;
            print(format, || tree::draw(&lines), || lines_json(&lines))
        }
        NsAction::List { all } => {
            let rows = ops::list(client, config, *all).await.map_err(|e| told(&e))?;
            let value = || {
                let rows = rows.iter().map(|row| {
                    json!({"name": &*row.name, "type": row.kind, "upstream": row.upstream.as_deref(),
                        "dependants": row.dependants, "frozen": row.frozen})
                });
                Value::Array(rows.collect())
            };
            print(format, || tree::table(&rows), value)
        }
        NsAction::Describe { namespace } => {
            let found = ops::describe(client, config, namespace).await.map_err(|e| told(&e))?;
            print(format, || ops::describe_text(&found), || description_json(&found))
        }
        action => change(&wanted(action)?, args.plan, config, format, target, global).await,
    }
}

async fn change(
    wanted: &Change,
    only_plan: bool,
    config: &Config,
    format: Format,
    target: &Target,
    global: &Global,
) -> Outcome {
    if only_plan {
        let plan = ops::plan(&target.client, config, wanted).await.map_err(|error| told(&error))?;
        return print(format, || ops::plan_text(&plan), || plan.to_json());
    }
    let steps = ops::apply(&target.client, config, wanted).await.map_err(|error| told(&error))?;
    if target.name == "embedded" {
        settle(target, config).await?;
    }
    if format == Format::Text {
        if !global.quiet {
            let mut stderr = std::io::stderr().lock();
            if steps.is_empty() {
                writeln!(stderr, "nothing to do")?;
            }
            for step in &steps {
                writeln!(stderr, "{step}")?;
            }
        }
    } else {
        let steps: Vec<String> = steps.iter().map(ToString::to_string).collect();
        print_value(&json!({"steps": steps}), format)?;
    }
    Ok(exit::DONE)
}

fn wanted(action: &NsAction) -> Result<Change, Failure> {
    let name = |text: &str| Arc::<str>::from(text);
    Ok(match action {
        NsAction::SetType { namespace, kind } => Change::SetType(
            name(namespace),
            match kind {
                TypeWord::Root => Some(Kind::Root),
                TypeWord::Template => Some(Kind::Template),
                TypeWord::None => None,
            },
        ),
        NsAction::Create { name: new, parent, labels, annotations } => {
            Change::Create(name(new), name(parent), pairs(labels)?, pairs(annotations)?)
        }
        NsAction::Delete { name: gone } => Change::Delete(name(gone)),
        NsAction::Move { namespace, new_parent } => Change::Move(name(namespace), name(new_parent)),
        NsAction::Graft { namespace, parent } => Change::Graft(name(namespace), name(parent)),
        NsAction::Cut { namespace } => Change::Cut(name(namespace)),
        NsAction::Template(TemplateAction::Set { namespace, template }) => {
            Change::SetTemplate(name(namespace), name(template))
        }
        NsAction::Template(TemplateAction::Unset { namespace }) => Change::UnsetTemplate(name(namespace)),
        NsAction::Tree { .. } | NsAction::List { .. } | NsAction::Describe { .. } | NsAction::Template(_) => {
            return Err(Failure::usage("this command changes nothing"));
        }
    })
}

fn pairs(texts: &[String]) -> Result<std::collections::BTreeMap<String, String>, Failure> {
    texts
        .iter()
        .map(|text| match text.split_once('=') {
            Some((key, value)) => Ok((key.to_owned(), value.to_owned())),
            None => Err(Failure::usage(format!("`{text}` needs a key and a value: KEY=VALUE"))),
        })
        .collect()
}

fn print(format: Format, text: impl FnOnce() -> String, value: impl FnOnce() -> Value) -> Outcome {
    match format {
        Format::Text => std::io::stdout().lock().write_all(text().as_bytes())?,
        _ => print_value(&value(), format)?,
    }
    Ok(exit::DONE)
}

fn lines_json(lines: &[tree::Line]) -> Value {
    lines.iter().map(|line| json!({"name": &*line.name, "depth": line.depth, "note": line.note})).collect()
}

fn description_json(found: &ops::Description) -> Value {
    let resources = found.resources.iter().map(|resource| {
        json!({"kind": resource.kind, "name": &*resource.name, "from": resource.from.as_deref(),
            "mode": resource.mode, "state": resource.state})
    });
    json!({"name": &*found.row.name, "type": found.row.kind, "parent": found.parent.as_deref(),
        "template": found.template.as_deref(), "dependants": found.row.dependants, "frozen": found.row.frozen,
        "resources": resources.collect::<Vec<_>>()})
}

fn told(error: &ops::OpError) -> Failure {
    let problem = Diagnostic::error(error.to_string());
    let problem = match std::error::Error::source(error) {
        Some(source) => problem.because_of(source),
        None => problem,
    };
    Failure::from(problem)
}

/// The configuration file, or what most clusters want: roles, bindings, secrets and the like.
///
/// # Errors
///
/// Everything that is wrong with the file.
pub fn read_config(file: Option<&std::path::Path>, global: &Global) -> Result<Config, Failure> {
    let path = match file {
        Some(file) => file.to_owned(),
        None => {
            let usual = data_directory(global)?.join("namespaces.yaml");
            if !usual.is_file() {
                return Ok(usual_config());
            }
            usual
        }
    };
    let name = path.display().to_string();
    let text = std::fs::read_to_string(&path).map_err(|error| {
        Failure::from(
            Diagnostic::error(format!("could not read the configuration: {error}"))
                .at(Place::file(name.as_str())),
        )
    })?;
    Ok(Config::read(&name, &text)?)
}

fn usual_config() -> Config {
    let kinds = [
        ("rbac.authorization.k8s.io", "Role"),
        ("rbac.authorization.k8s.io", "RoleBinding"),
        ("", "Secret"),
        ("", "ConfigMap"),
        ("", "ResourceQuota"),
        ("", "LimitRange"),
        ("networking.k8s.io", "NetworkPolicy"),
    ];
    let watches = kinds.into_iter().map(|(group, kind)| GroupVersionKind::new(group, "v1", kind)).collect();
    Config { watches, ..Config::default() }
}

/// Makes the SubNamespace kind known to the cluster.
///
/// # Errors
///
/// When the cluster refuses.
pub async fn install(target: &Target, config: &Config) -> Result<(), Failure> {
    let definition = manifests::definition(&config.keys);
    let fail = |error: String| Failure::message(format!("could not install the SubNamespace kind: {error}"));
    let name = definition["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let resource = ApiResource::from_gvk_with_plural(
        &kube::core::GroupVersionKind::gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition"),
        "customresourcedefinitions",
    );
    let api: Api<DynamicObject> = Api::all_with(target.client.clone(), &resource);
    if api.get_opt(&name).await.map_err(|error| fail(error.to_string()))?.is_some() {
        return Ok(());
    }
    api.patch(&name, &PatchParams::apply("podsmith").force(), &Patch::Apply(&definition))
        .await
        .map(drop)
        .map_err(|error| fail(error.to_string()))
}

/// Runs the controller until everything is as it must be: the embedded cluster has nobody else to do it.
async fn settle(target: &Target, config: &Config) -> Result<(), Failure> {
    let (_config, configs) = watch::channel(Arc::new(config.clone()));
    let (stop, stopped) = watch::channel(false);
    let (progress, mut seen) = watch::channel(controller::Progress::default());
    let running = controller::run(
        target.client.clone(),
        configs,
        stopped,
        controller::Options::default(),
        Arc::new(Metrics::default()),
        progress,
    );
    let idle = async {
        let waited =
            tokio::time::timeout(Duration::from_secs(30), seen.wait_for(|now| now.synced && now.idle)).await;
        let _ = stop.send(true);
        waited.is_ok()
    };
    let (ran, settled) = tokio::join!(running, idle);
    ran.map_err(|error| Failure::message(error.to_string()))?;
    if settled { Ok(()) } else { Err(Failure::message("propagation has not come to rest within 30 s")) }
}
