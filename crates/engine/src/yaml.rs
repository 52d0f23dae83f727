//! YAML and JSON files.

use std::sync::Arc;

use podsmith_object::files::FileTree;
use podsmith_object::stream::ObjectStream;
use podsmith_object::yaml::{ReadOptions, decode_text};
use podsmith_object::{Diagnostic, Diagnostics, Object, Origin, Place};

use crate::glob::{Pattern, Walk};
use crate::groups::{groups, is_json};
use crate::parallel::in_order;
use crate::{Directories, Emit, Fingerprint, InvalidPattern, RenderCall, RenderError, Source};

/// About how much text one thread reads at a time.
const GROUP_BYTES: usize = 64 << 10;

/// From how many threads on it pays to read JSON in parallel. Reading JSON costs little more than handing the objects
/// from one thread to another, whose allocator then has to give the memory back.
const MANY: usize = 4;

/// Kubernetes objects in YAML and JSON files: one file, a directory, or a glob where `**` spans directories.
///
/// Files are read in the order of their paths, lists are replaced by their items, empty documents are skipped. Values
/// do not change anything. Every problem of every file is reported, not only the first.
///
/// ```
/// use podsmith_engine::{Engine, Sources, YamlSource};
/// use podsmith_object::files::MemoryFiles;
/// use std::sync::Arc;
/// let files = MemoryFiles::new().with("app/web/a.yaml", "{apiVersion: v1, kind: Service, metadata: {name: a}}");
/// let source = YamlSource::parse(Arc::new(files), "app/**/*.yaml")?;
/// let engine = Engine::builder().renderer(Sources::new("yaml", [source])).build()?;
/// assert_eq!(engine.render(Default::default())?.objects[0].name(), "a");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct YamlSource {
    files: Arc<dyn FileTree>,
    text: String,
    pattern: Pattern,
    options: ReadOptions,
    directories: Directories,
}

impl YamlSource {
    /// The files that `pattern` names in `files`.
    ///
    /// # Errors
    ///
    /// When the pattern is not valid. Whether anything matches is known when it is rendered.
    pub fn parse(files: Arc<dyn FileTree>, pattern: &str) -> Result<Self, InvalidPattern> {
        Ok(Self {
            files,
            text: pattern.to_owned(),
            pattern: Pattern::parse(pattern)?,
            options: ReadOptions::default(),
            directories: Directories::default(),
        })
    }

    /// Reads with other options, for example [`ReadOptions::lenient`].
    #[must_use]
    pub fn with_read_options(mut self, options: ReadOptions) -> Self {
        self.options = options;
        self
    }

    /// Says how much of a directory its path means.
    #[must_use]
    pub fn with_directories(mut self, directories: Directories) -> Self {
        self.directories = directories;
        self
    }

    fn read_file(
        &self,
        path: &str,
        call: &RenderCall<'_>,
        take: &mut dyn FnMut(Result<Object, Diagnostic>) -> Result<(), RenderError>,
    ) -> Result<(), RenderError> {
        call.check()?;
        let name: Arc<str> = Arc::from(self.files.display(path));
        let unreadable = |error: std::io::Error| {
            Diagnostic::error("could not read the file")
                .at(Place::file(name.clone()))
                .because(error.to_string())
        };
        let bytes = match self.files.read(path) {
            Ok(bytes) => bytes,
            Err(error) => return take(Err(unreadable(error))),
        };
        let text = match decode_text(&bytes) {
            Ok(text) => text,
            Err(error) => return take(Err(Diagnostic::error(error.to_string()).at(Place::file(name)))),
        };
        let groups = groups(&text, GROUP_BYTES);
        let mut before = Before::default();
        let threads = if is_json(&text) && call.parallelism() < MANY { 1 } else { call.parallelism() };
        if threads == 1 {
            // One object at a time: what is dropped right away leaves its memory to the next one.
            for group in groups {
                call.check()?;
                let mut stream = ObjectStream::new(&name, group.as_bytes(), self.options);
                stream.by_ref().try_for_each(|result| take(before.moved(result)))?;
                before.add(group, stream.documents());
            }
            return Ok(());
        }
        let read = |index: usize| {
            call.check()?;
            let group = groups.get(index).copied().unwrap_or("");
            let mut stream = ObjectStream::new(&name, group.as_bytes(), self.options);
            let results: Vec<_> = stream.by_ref().collect();
            Ok::<_, RenderError>((group, results, stream.documents()))
        };
        in_order(groups.len(), threads, read, |read| {
            let (group, results, documents) = read?;
            results.into_iter().try_for_each(|result| take(before.moved(result)))?;
            before.add(group, documents);
            Ok(())
        })
    }
}

impl Source for YamlSource {
    fn kind(&self) -> &str {
        "yaml"
    }

    fn path(&self) -> String {
        self.text.clone()
    }

    fn render(&self, call: &RenderCall<'_>) -> Result<Vec<Object>, RenderError> {
        let mut objects = Vec::new();
        self.render_each(call, &mut |object| {
            objects.push(object);
            Ok(())
        })?;
        Ok(objects)
    }

    fn fingerprint(&self, call: &RenderCall<'_>) -> Result<Option<Fingerprint>, RenderError> {
        let walk = Walk { files: self.files.as_ref(), directories: self.directories, call };
        let options = format!("{:?} {:?}", self.options, self.directories);
        let mut fingerprint = Fingerprint::of("yaml").text(&self.text).text(&options);
        for path in walk.find(&self.text, &self.pattern)? {
            call.check()?;
            // A file that cannot be read has no content to compare; rendering will say what is wrong with it.
            let Ok(content) = self.files.read(&path) else { return Ok(None) };
            fingerprint = fingerprint.text(&self.files.display(&path)).bytes(&content);
        }
        Ok(Some(fingerprint.finish()))
    }

    fn render_each(&self, call: &RenderCall<'_>, emit: &mut Emit<'_>) -> Result<(), RenderError> {
        let walk = Walk { files: self.files.as_ref(), directories: self.directories, call };
        let mut problems = Diagnostics::new();
        let mut take = |result: Result<Object, Diagnostic>| {
            call.check()?;
            match result {
                // After a problem nothing more is given out, but the rest is read to report all problems at once.
                Ok(object) if problems.is_empty() => return emit(object),
                Ok(_) => {}
                Err(problem) => problems.push(problem),
            }
            Ok(())
        };
        match walk.find(&self.text, &self.pattern)?.as_slice() {
            // One file is read by all threads together, several by one thread each.
            [path] => self.read_file(path, call, &mut take)?,
            paths => {
                let alone = call.with_parallelism(1);
                let read = |index: usize| {
                    let mut results = Vec::new();
                    let path = paths.get(index).map_or("", String::as_str);
                    self.read_file(path, &alone, &mut |result| {
                        results.push(result);
                        Ok(())
                    })?;
                    Ok::<_, RenderError>(results)
                };
                in_order(paths.len(), call.parallelism(), read, |results| {
                    results?.into_iter().try_for_each(&mut take)
                })?;
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
    }
}

/// What stands in the file before a group.
#[derive(Default)]
struct Before {
    lines: usize,
    documents: usize,
}

impl Before {
    fn add(&mut self, group: &str, documents: usize) {
        self.lines += group.bytes().filter(|byte| *byte == b'\n').count();
        self.documents += documents;
    }

    /// The result of a group with its position counted from the start of the file.
    fn moved(&self, result: Result<Object, Diagnostic>) -> Result<Object, Diagnostic> {
        if self.lines == 0 {
            return result;
        }
        match result {
            Ok(object) => Ok(match object.origin().cloned() {
                Some(origin) => {
                    let (line, document) = (origin.line + self.lines, origin.document + self.documents);
                    object.with_origin(Origin { line, document, ..origin })
                }
                None => object,
            }),
            Err(mut problem) => {
                if let Some(place) = problem.place.as_mut().filter(|place| place.line > 0) {
                    place.line += self.lines;
                }
                if let Some(excerpt) = &mut problem.excerpt {
                    excerpt.line += self.lines;
                }
                Err(problem)
            }
        }
    }
}
