//! What the command line does: reads the tree, plans a change, makes it.

use std::fmt::Write as _;

use kube::Client;
use kube::api::{Api, DeleteParams, DynamicObject, Patch, PatchParams, PostParams, Preconditions};
use podsmith_object::{Object, ObjectId, Value, json};
use thiserror::Error;

use crate::change::{self, Change, Refused, Step};
use crate::cluster::{self, ClusterError, Doing as _, namespaces, subnamespaces, to_request};
use crate::config::Config;
use crate::desired::{self, Want};
use crate::model::{Key, Name, Namespace};
use crate::resource;
use crate::tree::{self, Edges, Line, Row};
use crate::world::World;
use crate::write::Write;

/// The field manager of what people do by command; what it sets is theirs, not the controller's.
pub const MANAGER: &str = "podsmith-cli";

/// Why a command failed.
#[derive(Debug, Error)]
pub enum OpError {
    /// The cluster refused or did not answer.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// The change is not possible.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// A step failed and those before it were undone.
    #[error("cannot {step}; {}", undone_words(.undone))]
    Step {
        /// The step.
        step: String,
        /// Undoing what was done before: nothing to say, or what could not be undone.
        undone: Vec<String>,
        /// Why.
        #[source]
        source: ClusterError,
    },
}

fn undone_words(left: &[String]) -> String {
    match left {
        [] => "nothing was changed".to_owned(),
        left => format!("undoing what was done before failed too: {}", left.join("; ")),
    }
}

/// One thing that propagation would do.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// `create`, `update`, `replace` or `delete`.
    pub action: &'static str,
    /// The object.
    pub object: ObjectId,
    /// What changes, in words.
    pub detail: String,
}

/// What a change would do.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What is asked for.
    pub steps: Vec<Step>,
    /// What follows from it.
    pub effects: Vec<Effect>,
    /// Objects that would stand in the way, and namespaces that would be frozen.
    pub warnings: Vec<String>,
}

/// A described namespace.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// The namespace as a row of the list.
    pub row: Row,
    /// The parent.
    pub parent: Option<Name>,
    /// The template.
    pub template: Option<Name>,
    /// What is propagated to it or from it.
    pub resources: Vec<DescribedResource>,
}

/// A resource that is propagated to or from a namespace.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribedResource {
    /// The kind.
    pub kind: String,
    /// The name.
    pub name: Name,
    /// Where it says to be from.
    pub from: Option<Name>,
    /// How it is propagated.
    pub mode: String,
    /// `in sync`, `out of date`, `missing`, `conflict` or `to be removed`.
    pub state: &'static str,
}

/// The trees, or the one under a namespace. One list of namespaces, whatever their number.
///
/// # Errors
///
/// When the cluster cannot be read or the namespace does not exist.
pub async fn tree(
    client: &Client,
    config: &Config,
    edges: Edges,
    root: Option<&str>,
) -> Result<Vec<Line>, OpError> {
    let mut world = World::new();
    for object in cluster::list(client, &namespaces()).await? {
        world.put_namespace(Namespace::read(&object, &config.keys));
    }
    let missing = || Refused::Missing(Name::from(root.unwrap_or_default())).into();
    tree::lines(&world, &config.keys, edges, root).ok_or_else(missing)
}

/// The namespaces that have a place in a tree, or all of them.
///
/// # Errors
///
/// When the cluster cannot be read.
pub async fn list(client: &Client, config: &Config, all: bool) -> Result<Vec<Row>, OpError> {
    Ok(tree::rows(&cluster::read_tree(client, config).await?, &config.keys, all))
}

/// One namespace and what is propagated to and from it.
///
/// # Errors
///
/// When the cluster cannot be read or the namespace does not exist.
pub async fn describe(client: &Client, config: &Config, name: &str) -> Result<Description, OpError> {
    let (world, _) = cluster::read_all(client, config).await?;
    description(&world, config, name).ok_or_else(|| Refused::Missing(Name::from(name)).into())
}

/// As [`describe`], from a view.
pub fn description(world: &World, config: &Config, name: &str) -> Option<Description> {
    let namespace = world.namespace(name)?;
    let row = tree::rows(world, &config.keys, true).into_iter().find(|row| *row.name == *name)?;
    let mut slots: std::collections::BTreeSet<_> = world
        .objects_in(name)
        .filter(|(_, object)| object.mode.is_some() || object.from.is_some())
        .map(|(slot, _)| slot.clone())
        .collect();
    for above in world.chain(name).unwrap_or_default().iter().skip(1) {
        slots.extend(
            world.objects_in(&above.name).filter(|(_, o)| o.mode.is_some()).map(|(slot, _)| slot.clone()),
        );
    }
    let resources = slots.into_iter().filter_map(|slot| {
        let key = Key { namespace: Name::from(name), slot };
        let live = world.object(&key);
        let want = desired::want_object(world, config, &key);
        let state = match (&want, live) {
            (Want::Copy(_), None) => "missing",
            (Want::Copy(_) | Want::Annotate(_), Some(_)) => "out of date",
            (Want::Conflict(_), _) => "conflict",
            (Want::Absent, _) => "to be removed",
            (Want::Keep, Some(_)) => "in sync",
            (Want::Keep | Want::Annotate(_), None) => return None,
        };
        let (mode, from) = match (&want, live) {
            (Want::Copy(copy), None) => (Some(copy.mode), Some(copy.from.clone())),
            (_, Some(live)) => (live.mode, live.from.clone()),
            _ => (None, None),
        };
        let kind = config.watches.get(usize::from(key.slot.kind.0)).map_or("?", |gvk| &*gvk.kind).to_owned();
        let mode = mode.map_or_else(|| "-".to_owned(), |mode| mode.to_string());
        Some(DescribedResource { kind, name: key.slot.name.clone(), from, mode, state })
    });
    Some(Description {
        row,
        parent: namespace.parent().cloned(),
        template: namespace.template().cloned(),
        resources: resources.collect(),
    })
}

/// A description as text.
pub fn describe_text(described: &Description) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "Name:        {}", described.row.name);
    let _ = writeln!(out, "Type:        {}", described.row.kind);
    for (word, value) in [("Parent:", &described.parent), ("Template:", &described.template)] {
        if let Some(value) = value {
            let _ = writeln!(out, "{word:<12} {value}");
        }
    }
    let _ = writeln!(out, "Dependants:  {}", described.row.dependants);
    if let Some(why) = &described.row.frozen {
        let _ = writeln!(out, "Frozen:      {why}");
    }
    if described.resources.is_empty() {
        return out;
    }
    out.push('\n');
    let head = ["KIND", "NAME", "FROM", "MODE", "STATE"].map(str::to_owned);
    let rows = described.resources.iter().map(|resource| {
        let from = resource.from.as_deref().unwrap_or("-").to_owned();
        [
            resource.kind.clone(),
            resource.name.to_string(),
            from,
            resource.mode.clone(),
            resource.state.to_owned(),
        ]
    });
    out.push_str(&tree::columns(&std::iter::once(head).chain(rows).collect::<Vec<_>>()));
    out
}

/// What a change would do, without doing it.
///
/// # Errors
///
/// When the cluster cannot be read or the change is not possible.
pub async fn plan(client: &Client, config: &Config, wanted: &Change) -> Result<Plan, OpError> {
    let (world, bodies) = cluster::read_all(client, config).await?;
    Ok(plan_of(world, config, wanted, |key| bodies.get(key))?)
}

/// As [`plan`], from a view; `body` gives an object as it is, where it is known.
///
/// # Errors
///
/// Why the change is not possible.
pub fn plan_of<'b>(
    mut world: World,
    config: &Config,
    wanted: &Change,
    body: impl Fn(&Key) -> Option<&'b Object>,
) -> Result<Plan, Refused> {
    let steps = change::steps(&world, config, wanted)?;
    for step in &steps {
        change::apply(&mut world, config, step);
    }
    let before = world.clone();
    let writes = crate::simulate::run(&mut world, config);
    let effects = writes.iter().filter_map(|write| effect(write, config, &body)).collect();
    let desired = desired::desired_of(&world, config);
    let known = desired::desired_of(&before, config);
    let mut warnings: Vec<String> = Vec::new();
    for (key, want) in &desired.objects {
        if let Want::Conflict(from) = want {
            warnings.push(format!("{} stands where a copy from `{from}` belongs", key.describe(config)));
        }
    }
    for (name, reason) in desired.frozen.iter().chain(&known.frozen) {
        let warning = format!("nothing is propagated to `{name}`: {reason}");
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
    Ok(Plan { steps, effects, warnings })
}

fn effect<'b>(write: &Write, config: &Config, body: &impl Fn(&Key) -> Option<&'b Object>) -> Option<Effect> {
    let object = |key: &Key| {
        let gvk = config.watches.get(usize::from(key.slot.kind.0)).cloned().unwrap_or_default();
        ObjectId::new(gvk, key.namespace.clone(), key.slot.name.clone())
    };
    let namespace = |name: &Name| {
        ObjectId::new(podsmith_object::GroupVersionKind::new("", "v1", "Namespace"), "", name.clone())
    };
    let (action, object, detail) = match write {
        Write::CreateNamespace(name, meta) => {
            let parent = meta.labels.get(&config.keys.parent).map_or("", String::as_str);
            ("create", namespace(name), format!("under {parent}"))
        }
        Write::ChangeNamespace(name, _, change) => {
            let words = change.labels.iter().chain(&change.annotations).map(|(key, value)| match value {
                Some(value) => format!("{key}={value}"),
                None => format!("{key}-"),
            });
            ("update", namespace(name), words.collect::<Vec<_>>().join(" "))
        }
        Write::DeleteNamespace(name, ..) => ("delete", namespace(name), String::new()),
        Write::Create(key, copy) => ("create", object(key), format!("{} from {}", copy.mode, copy.from)),
        Write::Update(key, _, copy, _) => {
            let wanted = copy.content.body.as_ref();
            let fixed =
                body(key).zip(wanted).and_then(|(live, wanted)| resource::immutable_difference(live, wanted));
            let detail = format!("{} from {}", copy.mode, copy.from);
            match fixed {
                Some(field) => ("replace", object(key), format!("{detail}, {field} cannot change")),
                None => ("update", object(key), detail),
            }
        }
        Write::Annotate(key, _, mode) => ("update", object(key), format!("{}={mode}", config.keys.propagate)),
        Write::Delete(key, _) => ("delete", object(key), String::new()),
        Write::HoldClaim(..) | Write::ReleaseClaim(..) | Write::SetStatus(..) => return None,
    };
    Some(Effect { action, object, detail })
}

/// A plan as text.
pub fn plan_text(plan: &Plan) -> String {
    let mut out = String::new();
    if plan.steps.is_empty() {
        out.push_str("nothing to do\n");
    }
    for step in &plan.steps {
        let _ = writeln!(out, "{step}");
    }
    if !plan.effects.is_empty() {
        out.push_str("\npropagation would then\n");
    }
    for effect in &plan.effects {
        let sign = match effect.action {
            "create" => "+",
            "delete" => "-",
            "replace" => "±",
            _ => "~",
        };
        let _ = writeln!(out, "{}", format!("  {sign} {} {}", effect.object, effect.detail).trim_end());
    }
    for warning in &plan.warnings {
        let _ = writeln!(out, "warning: {warning}");
    }
    out
}

impl Plan {
    /// The plan as JSON, with the same names as every other plan.
    pub fn to_json(&self) -> Value {
        let changes: Vec<Value> = self
            .effects
            .iter()
            .map(|effect| json!({"action": effect.action, "object": effect.object.to_json(), "reason": effect.detail}))
            .collect();
        let steps: Vec<String> = self.steps.iter().map(ToString::to_string).collect();
        json!({"steps": steps, "changes": changes, "warnings": self.warnings})
    }
}

/// Makes a change and says what was done. When a step fails, those before it are undone.
///
/// # Errors
///
/// When the change is not possible, or a step failed.
pub async fn apply(client: &Client, config: &Config, wanted: &Change) -> Result<Vec<Step>, OpError> {
    let world = cluster::read_tree(client, config).await?;
    let steps = change::steps(&world, config, wanted)?;
    let mut undo: Vec<Step> = Vec::new();
    for step in &steps {
        match perform_again(client, config, &world, step).await {
            Ok(made) => undo.extend(reverse(&world, step, made)),
            Err(source) => {
                let mut left = Vec::new();
                for step in undo.iter().rev() {
                    if let Err(error) = perform(client, config, step).await {
                        left.push(error.to_string());
                    }
                }
                return Err(OpError::Step { step: step.to_string(), undone: left, source });
            }
        }
    }
    Ok(steps)
}

/// Does a step. The controller may write to the same namespace meanwhile; as long as its place in the tree is the one
/// that was looked at, that is no reason to fail.
async fn perform_again(
    client: &Client,
    config: &Config,
    world: &World,
    step: &Step,
) -> Result<Name, ClusterError> {
    const TRIES: usize = 10;
    let keys = &config.keys;
    let mut step = step.clone();
    for _ in 1..TRIES {
        let conflict = match perform(client, config, &step).await {
            Err(ClusterError::Call { source, action }) if cluster::code(&source) == 409 => {
                ClusterError::Call { source, action }
            }
            answer => return answer,
        };
        let Step::Label(name, version, _) = &mut step else { return Err(conflict) };
        let api: Api<DynamicObject> = Api::all_with(client.clone(), &namespaces());
        let live = api.get(name).await.doing(format!("read namespace {name}"))?;
        let live = Namespace::read(&cluster::to_object(live, &namespaces())?, keys);
        let place = |namespace: &Namespace| {
            [&keys.parent, &keys.template, &keys.kind].map(|key| namespace.labels.get(key).cloned())
        };
        let same =
            world.namespace(name).is_some_and(|seen| seen.uid == live.uid && place(seen) == place(&live));
        if !same || live.deleting {
            return Err(conflict);
        }
        *version = live.version;
    }
    perform(client, config, &step).await
}

/// The step that undoes another one; `made` is the uid of what it made.
fn reverse(world: &World, step: &Step, made: Name) -> Option<Step> {
    Some(match step {
        Step::Label(name, _, changes) => {
            let before = world.namespace(name)?;
            let back = changes.keys().map(|key| (key.clone(), before.labels.get(key).cloned())).collect();
            // Whatever else happened to the namespace meanwhile, these labels go back.
            Step::Label(name.clone(), Name::from(""), back)
        }
        Step::Claim(claim) => Step::Unclaim(claim.namespace.clone(), claim.name.clone(), made),
        Step::Unclaim(namespace, name, _) => Step::Claim(world.claim(namespace, name)?.clone()),
    })
}

async fn perform(client: &Client, config: &Config, step: &Step) -> Result<Name, ClusterError> {
    let claims = |namespace: &str| -> Api<DynamicObject> {
        Api::namespaced_with(client.clone(), namespace, &subnamespaces(&config.keys))
    };
    let made = |object: DynamicObject| Name::from(object.metadata.uid.unwrap_or_default());
    match step {
        Step::Label(name, version, labels) => {
            let api: Api<DynamicObject> = Api::all_with(client.clone(), &namespaces());
            let mut patch = json!({"metadata": {"labels": labels}});
            if !version.is_empty() {
                patch["metadata"]["resourceVersion"] = json!(&**version);
            }
            let params = PatchParams { field_manager: Some(MANAGER.into()), ..PatchParams::default() };
            api.patch(name, &params, &Patch::Merge(&patch)).await.map(made).doing(step.to_string())
        }
        Step::Claim(claim) => {
            let body = json!({
                "apiVersion": subnamespaces(&config.keys).api_version, "kind": "SubNamespace",
                "metadata": {"name": &*claim.name, "namespace": &*claim.namespace, "finalizers": [&config.keys.finalizer]},
                "spec": {"labels": claim.labels, "annotations": claim.annotations},
            });
            let object =
                Object::from_value(body).map_err(|error| ClusterError::Strange(error.to_string()))?;
            let params = PostParams { field_manager: Some(MANAGER.into()), ..PostParams::default() };
            claims(&claim.namespace)
                .create(&params, &to_request(&object)?)
                .await
                .map(made)
                .doing(step.to_string())
        }
        Step::Unclaim(namespace, name, uid) => {
            let only = Preconditions { uid: Some(uid.to_string()), resource_version: None };
            let params = DeleteParams::background().preconditions(only);
            claims(namespace).delete(name, &params).await.doing(step.to_string())?;
            Ok(uid.clone())
        }
    }
}
