//! Gathering: files, other kustomizations, generators, components.

use std::collections::HashSet;
use std::sync::Arc;

use podsmith_object::files::FileKind;
use podsmith_object::yaml::{ReadOptions, read_value};
use podsmith_object::{Diagnostic, Diagnostics};

use crate::config::{TransformerConfig, config_from_crds};
use crate::generate;
use crate::kustomization::{BuildMetadata, FILE_NAMES, Kind, Kustomization, Spot};
use crate::load::Loader;
use crate::merge::MergeTypes;
use crate::provenance::Provenance;
use crate::resources::{Duplicates, Resource, ResourceMap, read_resources};
use crate::transform::Variables;

/// What one kustomization, or several, have gathered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Accumulator {
    pub resources: ResourceMap,
    pub config: Arc<TransformerConfig>,
    pub variables: Variables,
}

impl Accumulator {
    fn merge(&mut self, other: Self) -> Result<(), Diagnostics> {
        self.resources.append_all(other.resources)?;
        self.merge_config(&other.config)?;
        self.variables.merge(other.variables)
    }

    fn merge_config(&mut self, config: &Arc<TransformerConfig>) -> Result<(), Diagnostics> {
        self.config = TransformerConfig::merged(&self.config, config)
            .map_err(|conflict| Diagnostics::from(conflict.to_diagnostic()))?;
        Ok(())
    }
}

/// The state of one whole build.
#[derive(Debug)]
pub(crate) struct Build {
    /// Lists that merge. The first `openapi` of a build decides for all of it.
    pub types: Arc<MergeTypes>,
    types_are_set: bool,
    /// What the root wants to know about origins; others follow it.
    pub metadata: BuildMetadata,
    pub warnings: Vec<Diagnostic>,
    warned: HashSet<Arc<str>>,
}

/// One kustomization with everything needed to read what it names.
#[derive(Debug)]
pub(crate) struct Target {
    pub loader: Loader,
    pub kustomization: Kustomization,
    pub file_name: &'static str,
    /// Set when origins are tracked.
    pub provenance: Option<Provenance>,
    /// Namespace that charts inherit from the kustomizations above.
    pub chart_namespace: String,
}

impl Target {
    /// Problems of one entry: placed where the entry stands, or, if they have a better place, led back to it.
    pub(crate) fn at(&self, spot: Spot, problems: Diagnostics) -> Diagnostics {
        let entry = format!("reached from {}:{}:{}", self.kustomization.file, spot.line, spot.column);
        let placed = problems.0.into_iter().map(|problem| match &problem.place {
            None => self.kustomization.at(spot, problem),
            Some(place) if place.file == self.kustomization.file => problem,
            Some(_) => problem.because(entry.clone()),
        });
        Diagnostics(placed.collect())
    }
}

impl Build {
    pub(crate) fn new() -> Self {
        Self {
            types: MergeTypes::built_in(),
            types_are_set: false,
            metadata: BuildMetadata::default(),
            warnings: Vec::new(),
            warned: HashSet::new(),
        }
    }

    /// Builds the kustomization at the root of `loader`, without the steps that come once at the end.
    pub(crate) fn root(&mut self, loader: Loader) -> Result<(Accumulator, Kustomization), Diagnostics> {
        let (kustomization, file_name) = self.load(&loader)?;
        self.metadata = kustomization.metadata;
        let provenance = self.metadata.any.then(Provenance::default);
        let mut target =
            Target { loader, kustomization, file_name, provenance, chart_namespace: String::new() };
        self.use_openapi(&target, true)?;
        let accumulator = self.accumulate(&mut target, Accumulator::default())?;
        Ok((accumulator, target.kustomization))
    }

    fn load(&mut self, loader: &Loader) -> Result<(Kustomization, &'static str), Diagnostics> {
        let names: Vec<&'static str> =
            FILE_NAMES.into_iter().filter(|name| loader.kind(name) == Some(FileKind::File)).collect();
        let name = match names.as_slice() {
            [name] => *name,
            [] => {
                let message = format!("{} has no kustomization file", loader.display(""));
                return Err(Diagnostic::error(message)
                    .with_hint(format!("it can be called {}", FILE_NAMES.join(", ")))
                    .into());
            }
            several => {
                let message = format!(
                    "{} has more than one kustomization file: {}",
                    loader.display(""),
                    several.join(", ")
                );
                return Err(Diagnostic::error(message).into());
            }
        };
        let file = loader.display(name);
        let (kustomization, warnings) = Kustomization::read(&file, &loader.load(name)?)?;
        if self.warned.insert(kustomization.file.clone()) {
            self.warnings.extend(warnings);
        }
        Ok((kustomization, name))
    }

    fn use_openapi(&mut self, target: &Target, is_root: bool) -> Result<(), Diagnostics> {
        if self.types_are_set {
            return Ok(());
        }
        let kustomization = &target.kustomization;
        if let Some(path) = &kustomization.openapi_path {
            let bytes = target.loader.load(&path.text).map_err(|problems| target.at(path.spot, problems))?;
            if let Some(version) = &kustomization.openapi_version {
                let message = "`openapi` cannot have both `path` and `version`";
                return Err(target.at(version.spot, Diagnostic::error(message).into()));
            }
            let text = String::from_utf8_lossy(&bytes);
            let document = read_value(&text, ReadOptions::lenient()).map_err(|error| {
                Diagnostics::from(error.to_diagnostic(&target.loader.display(&path.text), &text, 0))
            })?;
            let base = MergeTypes::built_in();
            self.types = Arc::new(MergeTypes::from_openapi(&document, (!is_root).then_some(&*base)));
            self.types_are_set = true;
        } else if let Some(version) = kustomization.openapi_version.as_ref().filter(|v| !v.text.is_empty()) {
            if version.text != "v1.21.2" {
                let message = format!("OpenAPI version `{}` is not built in, only v1.21.2 is", version.text);
                return Err(target.at(version.spot, Diagnostic::error(message).into()));
            }
            self.types_are_set = true;
        }
        Ok(())
    }

    /// Runs one kustomization on `accumulator`, which holds what its user gathered if it is a component.
    fn accumulate(
        &mut self,
        target: &mut Target,
        accumulator: Accumulator,
    ) -> Result<Accumulator, Diagnostics> {
        let mut accumulator = accumulator;
        for entry in target.kustomization.resources.clone() {
            self.accumulate_resource(target, &mut accumulator, &entry.text)
                .map_err(|problems| target.at(entry.spot, problems))?;
        }
        self.accumulate_config(target, &mut accumulator)?;
        self.generate(target, &mut accumulator)?;
        for entry in target.kustomization.components.clone() {
            let taken = std::mem::take(&mut accumulator);
            accumulator = self
                .accumulate_component(target, taken, &entry.text)
                .map_err(|problems| target.at(entry.spot, problems))?;
        }
        self.transform(target, &mut accumulator)?;
        self.validate(target, &mut accumulator)?;
        for variable in &target.kustomization.variables {
            accumulator
                .variables
                .add(&mut accumulator.resources, variable)
                .map_err(|problems| target.at(variable.spot, problems))?;
        }
        Ok(accumulator)
    }

    /// Adds what one entry of `resources` names: a file, a directory, or something remote.
    pub(super) fn accumulate_resource(
        &mut self,
        target: &mut Target,
        accumulator: &mut Accumulator,
        path: &str,
    ) -> Result<(), Diagnostics> {
        if path.is_empty() {
            return Err(Diagnostic::error("an empty path names nothing").into());
        }
        let is_directory = target.loader.kind(path) == Some(FileKind::Directory);
        let is_file = target.loader.kind(path) == Some(FileKind::File);
        if !is_directory {
            match target.loader.load(path) {
                Ok(bytes) => {
                    return self.add_file(target, accumulator, path, &bytes);
                }
                // Something that is no file may still be a repository.
                Err(problems) if is_file || crate::load::RepositoryAddress::parse(path).is_none() => {
                    return Err(problems);
                }
                Err(_) => {}
            }
        }
        let loader = target.loader.open(path)?;
        let mut sub = self.open(target, loader, path, Kind::Kustomization)?;
        let inner = self.accumulate(&mut sub, Accumulator::default())?;
        accumulator.merge(inner)
    }

    fn add_file(
        &mut self,
        target: &Target,
        accumulator: &mut Accumulator,
        path: &str,
        bytes: &[u8],
    ) -> Result<(), Diagnostics> {
        let found = read_resources(&target.loader.display(path), bytes, Duplicates::Refuse)?;
        let provenance = target.provenance.as_ref().map(|provenance| provenance.append(path));
        // Two objects of one file clash first with each other, then with what is there.
        let mut own = ResourceMap::default();
        for mut resource in found {
            resource.provenance.clone_from(&provenance);
            own.append(resource)?;
        }
        accumulator.resources.append_all(own)
    }

    fn accumulate_component(
        &mut self,
        target: &Target,
        accumulator: Accumulator,
        path: &str,
    ) -> Result<Accumulator, Diagnostics> {
        let loader = target.loader.open(path)?;
        let mut sub = self.open(target, loader, path, Kind::Component)?;
        self.accumulate(&mut sub, accumulator)
    }

    /// Loads the kustomization of another root and checks that it is of the expected kind.
    fn open(
        &mut self,
        target: &Target,
        loader: Loader,
        path: &str,
        expected: Kind,
    ) -> Result<Target, Diagnostics> {
        let (kustomization, file_name) = self.load(&loader)?;
        let chart_namespace = if target.kustomization.namespace.is_empty() {
            target.chart_namespace.clone()
        } else {
            target.kustomization.namespace.clone()
        };
        let provenance = target.provenance.as_ref().map(|provenance| provenance.append(path));
        let sub = Target { loader, kustomization, file_name, provenance, chart_namespace };
        self.use_openapi(&sub, false)?;
        match (expected, sub.kustomization.kind) {
            (Kind::Component, Kind::Kustomization) => {
                Err(Diagnostic::error(format!("`{path}` is not a component"))
                    .with_hint("list it under `resources`, or give it `kind: Component`")
                    .into())
            }
            (Kind::Kustomization, Kind::Component) => {
                Err(Diagnostic::error(format!("`{path}` is a component"))
                    .with_hint("list it under `components`")
                    .into())
            }
            _ => Ok(sub),
        }
    }

    fn accumulate_config(
        &mut self,
        target: &Target,
        accumulator: &mut Accumulator,
    ) -> Result<(), Diagnostics> {
        let mut config = TransformerConfig::built_in();
        let text_of = |entry: &crate::kustomization::Entry| -> Result<String, Diagnostics> {
            let bytes =
                target.loader.load(&entry.text).map_err(|problems| target.at(entry.spot, problems))?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        let mut own = Arc::new(TransformerConfig::default());
        for entry in &target.kustomization.configurations {
            let more = TransformerConfig::read(&target.loader.display(&entry.text), &text_of(entry)?)?;
            own = TransformerConfig::merged(&own, &Arc::new(more))
                .map_err(|conflict| target.at(entry.spot, conflict.to_diagnostic().into()))?;
        }
        if let Some(entry) = target.kustomization.configurations.first() {
            config = TransformerConfig::merged(&config, &own)
                .map_err(|conflict| target.at(entry.spot, conflict.to_diagnostic().into()))?;
        }
        accumulator.merge_config(&config)?;
        for entry in &target.kustomization.crds {
            let more = config_from_crds(&target.loader.display(&entry.text), &text_of(entry)?)?;
            accumulator.merge_config(&Arc::new(more)).map_err(|problems| target.at(entry.spot, problems))?;
        }
        Ok(())
    }

    fn generate(&mut self, target: &mut Target, accumulator: &mut Accumulator) -> Result<(), Diagnostics> {
        let kustomization = &target.kustomization;
        let options = kustomization.generator_options.as_ref();
        let origin = |kind: &str| {
            target.provenance.as_ref().map(|provenance| provenance.of_builtin(target.file_name, kind))
        };
        let mut made: Vec<(Spot, Option<Provenance>, Vec<Resource>)> = Vec::new();
        for args in &kustomization.config_maps {
            let resource = generate::config_map(&target.loader, args, options)
                .map_err(|problems| target.at(args.spot, problems))?;
            made.push((args.spot, origin("ConfigMapGenerator"), vec![resource]));
        }
        for args in &kustomization.secrets {
            let resource = generate::secret(&target.loader, args, options)
                .map_err(|problems| target.at(args.spot, problems))?;
            made.push((args.spot, origin("SecretGenerator"), vec![resource]));
        }
        for chart in &kustomization.charts {
            let namespace = if kustomization.namespace.is_empty() {
                &target.chart_namespace
            } else {
                &kustomization.namespace
            };
            let resources = generate::inflate(&target.loader, chart, &kustomization.chart_home, namespace)
                .map_err(|problems| target.at(chart.spot, problems))?;
            made.push((chart.spot, origin("HelmChartInflationGenerator"), resources));
        }
        let place = |spot: Spot| {
            Arc::new(podsmith_object::Origin {
                file: kustomization.file.clone(),
                document: 0,
                line: spot.line,
            })
        };
        for (spot, _, resources) in &mut made {
            for resource in resources.iter_mut().filter(|resource| resource.origin.is_none()) {
                resource.origin = Some(place(*spot));
            }
        }
        for entry in target.kustomization.generators.clone() {
            made.extend(
                self.external_generators(target, &entry.text)
                    .map_err(|problems| target.at(entry.spot, problems))?
                    .into_iter()
                    .map(|(provenance, resources)| (entry.spot, provenance, resources)),
            );
        }
        for (spot, provenance, resources) in made {
            for mut resource in resources {
                if resource.provenance.is_none() {
                    resource.provenance.clone_from(&provenance);
                }
                accumulator.resources.absorb(resource).map_err(|problems| target.at(spot, problems))?;
            }
        }
        Ok(())
    }
}
