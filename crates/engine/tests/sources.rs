//! YAML files, memory, streams, templates; annotations, content hash, cache.
#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};

use podsmith_engine::{
    CacheLimits, Cancel, Directories, Engine, Fingerprint, MemorySource, ReaderSource, RenderCache,
    RenderCall, RenderError, Renderer, Source, Sources, TemplateEngine, TemplateFile, TemplateSource, Values,
    YamlSource, filter, hash, transformer,
};
use podsmith_object::files::{DiskFiles, FileTree, MemoryFiles};
use podsmith_object::yaml::ReadOptions;
use podsmith_object::{Diagnostic, Object, json};
use support::{config_map, names, raw};

fn tree(files: &[(&str, &str)]) -> Arc<dyn FileTree> {
    Arc::new(files.iter().fold(MemoryFiles::new(), |tree, (path, content)| tree.with(path, content)))
}

fn yaml(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n")
}

fn read(source: YamlSource) -> Result<Vec<Object>, RenderError> {
    let engine = Engine::builder().renderer(Sources::new("yaml", [source])).build().unwrap();
    engine.render(Default::default()).map(|rendered| rendered.objects)
}

fn read_names(files: &Arc<dyn FileTree>, pattern: &str) -> Vec<String> {
    let objects = read(YamlSource::parse(files.clone(), pattern).unwrap());
    objects
        .unwrap_or_else(|error| panic!("{pattern}: {}", error.to_diagnostics()))
        .iter()
        .map(|o| o.name().to_owned())
        .collect()
}

fn sample() -> Arc<dyn FileTree> {
    tree(&[
        ("a.yaml", &yaml("a")),
        ("b.yml", &yaml("b")),
        ("c.json", r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}"#),
        ("notes.txt", &yaml("notes")),
        ("app/web/one.yaml", &yaml("one")),
        ("app/web/deep/two.yaml", &yaml("two")),
        ("app/db/three.yaml", &yaml("three")),
        ("app/top.yaml", &yaml("top")),
    ])
}

#[test]
fn patterns_name_files_directories_and_globs() {
    let files = sample();
    for (pattern, expected) in [
        ("a.yaml", &["a"][..]),
        ("./a.yaml", &["a"]),
        ("notes.txt", &["notes"]),
        ("*.yaml", &["a"]),
        ("*", &["a", "b", "c"]),
        ("*.{yaml,yml}", &["a", "b"]),
        ("[ab].y*ml", &["a", "b"]),
        ("?.json", &["c"]),
        ("app/*.yaml", &["top"]),
        ("app/*/*.yaml", &["three", "one"]),
        ("app/**/*.yaml", &["three", "top", "two", "one"]),
        ("**/*.yaml", &["a", "three", "top", "two", "one"]),
        ("app/**", &["three", "top", "two", "one"]),
        ("**/deep/*.yaml", &["two"]),
        ("app/{web,db}/*.yaml", &["three", "one"]),
        ("app", &["top"]),
        ("app/web/", &["one"]),
        (".", &["a", "b", "c"]),
    ] {
        assert_eq!(read_names(&files, pattern), expected, "{pattern}");
    }
    let recursive = YamlSource::parse(files, "app").unwrap().with_directories(Directories::Recursive);
    assert_eq!(names(&read(recursive).unwrap()), ["three", "top", "two", "one"]);
}

#[test]
fn a_pattern_without_files_is_an_error() {
    let files = tree(&[("a.yaml", &yaml("a")), ("docs/readme.md", "# hi"), ("docs/more.txt", "x")]);
    let message = |pattern: &str| {
        read(YamlSource::parse(files.clone(), pattern).unwrap()).unwrap_err().to_diagnostics().to_string()
    };
    insta::assert_snapshot!(message("b/*.yaml"), @r#"
    error: no file matches `b/*.yaml`
    hint: `*` stays within one directory; `**` spans several
    "#);
    insta::assert_snapshot!(message("a.yml"), @r#"
    error: `a.yml` does not exist
    hint: did you mean `a.yaml`?
    "#);
    insta::assert_snapshot!(message("docs"), @"error: `docs` names 2 files, none of which ends in .yaml, .yml or .json");
    insta::assert_snapshot!(YamlSource::parse(files.clone(), "../x.yaml").unwrap_err(), @"`../x.yaml` is no valid path pattern: it leaves the directory it is relative to");
    insta::assert_snapshot!(YamlSource::parse(files.clone(), "a[.yaml").unwrap_err(), @"`a[.yaml` is no valid path pattern: unclosed character class; missing ']'");
}

#[test]
fn documents_keep_their_order_and_know_their_place() {
    let text = format!(
        "{}---\n# nothing\n---\n{}---\napiVersion: v1\nkind: List\nitems:\n- {{apiVersion: v1, kind: Secret, metadata: {{name: c}}}}\n",
        yaml("a"),
        yaml("b")
    );
    let files = tree(&[("x.yaml", &text)]);
    let objects = read(YamlSource::parse(files, "x.yaml").unwrap()).unwrap();
    assert_eq!(names(&objects), ["a", "b", "c"]);
    let lines: Vec<usize> = objects.iter().map(|object| object.origin().unwrap().line).collect();
    assert_eq!(lines, [1, 8, 13]);
}

#[test]
fn every_problem_of_every_file_is_reported() {
    let files = tree(&[
        ("1.yaml", "apiVersion: v1\nkind: ConfigMap\n---\nkind: X\n---\na: b: c\n"),
        ("2.yaml", "- list\n"),
        ("3.yaml", &yaml("fine")),
    ]);
    let error = read(YamlSource::parse(files, "*.yaml").unwrap()).unwrap_err();
    assert_eq!((error.renderer(), error.source_path()), (Some("yaml"), Some("*.yaml")));
    insta::assert_snapshot!(error.to_diagnostics(), @r#"
    error: 1.yaml:4:1: `apiVersion` is missing
       |
     4 | kind: X
       | ^
    hint: every Kubernetes object has an apiVersion and a kind; is this another kind of file?
    error: 1.yaml:6:5: a `key: value` cannot stand here
       |
     6 | a: b: c
       |     ^
    hint: check the indentation; a text with `: ` in it must be quoted
    error: 2.yaml:1: a document must be a mapping with apiVersion and kind, this is a list
       |
     1 | - list
       | ^
    "#);
}

#[test]
fn lenient_reading_can_be_asked_for() {
    let files = tree(&[("a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, name: b}\n")]);
    let source = || YamlSource::parse(files.clone(), "a.yaml").unwrap();
    assert!(read(source()).is_err());
    assert_eq!(names(&read(source().with_read_options(ReadOptions::lenient())).unwrap()), ["b"]);
}

/// Long enough for several groups, with a broken document far down.
#[test]
fn long_files_read_the_same_on_any_number_of_threads() {
    let mut text = String::new();
    for index in 0..2_500 {
        text.push_str(&format!(
            "---\n# number {index}\n{}data: {{text: \"{}\"}}\n",
            yaml(&format!("n{index}")),
            "x".repeat(index % 97)
        ));
    }
    let json: String = (0..2_500)
        .map(|index| format!("{}\n", json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("n{index}")}, "data": {"t": "{}\n{}"}})))
        .collect();
    for content in [text, json] {
        let files = tree(&[("long", &content)]);
        let render = |threads: usize| {
            let source = YamlSource::parse(files.clone(), "long").unwrap();
            let engine = Engine::builder()
                .renderer(Sources::new("yaml", [source]))
                .parallelism(threads)
                .build()
                .unwrap();
            let objects = engine.render(Default::default()).unwrap().objects;
            objects.iter().map(|o| (o.to_value().to_string(), o.origin().cloned())).collect::<Vec<_>>()
        };
        let alone = render(1);
        assert_eq!(alone.len(), 2_500);
        let whole = podsmith_object::read_objects("long", content.as_bytes()).unwrap();
        assert!(alone.iter().zip(&whole).all(|((_, origin), object)| origin.as_ref() == object.origin()));
        assert_eq!(render(4), alone);

        let broken = format!("{content}---\nkind: [\n");
        let files = tree(&[("long", &broken)]);
        let problem = |threads: usize| {
            let source = YamlSource::parse(files.clone(), "long").unwrap();
            let engine = Engine::builder()
                .renderer(Sources::new("yaml", [source]))
                .parallelism(threads)
                .build()
                .unwrap();
            engine.render(Default::default()).unwrap_err().to_diagnostics().to_string()
        };
        assert_eq!(problem(1), problem(4));
        let line = broken.lines().count();
        assert!(
            problem(4).contains(&format!("long:{line}"))
                || problem(4).contains(&format!("long:{}", line + 1)),
            "{}",
            problem(4)
        );
    }
}

#[test]
fn many_files_read_the_same_on_any_number_of_threads() {
    let mut tree = MemoryFiles::new();
    for index in 0..200 {
        let broken = if index % 50 == 49 { "---\nkind: [\n" } else { "" };
        tree.insert(
            &format!("{index:03}.yaml"),
            format!("{}---\n{}{broken}", yaml(&format!("a{index}")), yaml(&format!("b{index}"))),
        );
    }
    let files: Arc<dyn FileTree> = Arc::new(tree);
    let render = |pattern: &str, threads: usize| {
        let source = YamlSource::parse(files.clone(), pattern).unwrap();
        let engine =
            Engine::builder().renderer(Sources::new("yaml", [source])).parallelism(threads).build().unwrap();
        match engine.render(Default::default()) {
            Ok(rendered) => {
                Ok(rendered.objects.iter().map(|object| object.name().to_owned()).collect::<Vec<_>>())
            }
            Err(error) => Err(error.to_diagnostics().to_string()),
        }
    };
    assert_eq!(render("0[0-3]?.yaml", 1).unwrap().len(), 80);
    assert_eq!(render("0[0-3]?.yaml", 4), render("0[0-3]?.yaml", 1));
    let problems = render("*.yaml", 1).unwrap_err();
    assert_eq!(problems.matches("error: ").count(), 4, "{problems}");
    assert_eq!(render("*.yaml", 4).unwrap_err(), problems);
}

#[test]
fn a_link_back_to_its_own_directory_does_not_loop() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("sub")).unwrap();
    std::fs::write(directory.path().join("sub/a.yaml"), yaml("a")).unwrap();
    std::os::unix::fs::symlink(directory.path(), directory.path().join("sub/loop")).unwrap();
    let files: Arc<dyn FileTree> = Arc::new(DiskFiles::new(directory.path()));
    assert_eq!(read_names(&files, "**/*.yaml"), ["a"]);
}

#[test]
fn cancelling_stops_between_files() {
    let files = tree(&[("a.yaml", &yaml("a")), ("b.yaml", &yaml("b")), ("c.yaml", &yaml("c"))]);
    let engine = Engine::builder()
        .renderer(Sources::new("yaml", [YamlSource::parse(files, "*.yaml").unwrap()]))
        .build()
        .unwrap();
    let cancel = Cancel::new();
    let mut seen = Vec::new();
    let error = engine.call().cancel(cancel.clone()).render_each(|object| {
        seen.push(object.name().to_owned());
        cancel.cancel();
        Ok(())
    });
    assert!(error.unwrap_err().is_cancelled());
    assert_eq!(seen, ["a"]);
}

#[test]
fn sources_filter_transform_and_ignore_values() {
    let files = sample();
    let sources =
        ["a.yaml", "app/**/*.yaml"].map(|pattern| YamlSource::parse(files.clone(), pattern).unwrap());
    let renderer = Sources::new("yaml", sources)
        .filter(filter::name::prefix("t"))
        .transformer(transformer::name::suffix("!"));
    let engine = Engine::builder().renderer(renderer).build().unwrap();
    let values: Values = json!({"name": "other"}).as_object().cloned().unwrap();
    assert_eq!(names(&engine.call().values(values).render().unwrap().objects), ["three!", "top!", "two!"]);
}

#[test]
fn memory_gives_copies_and_refuses_what_is_no_object() {
    let source = MemorySource::new("m", vec![config_map("a"), config_map("b")]);
    let engine = Engine::builder().renderer(Sources::new("memory", [source])).build().unwrap();
    let mut first = engine.render(Default::default()).unwrap().objects;
    first[0].set_name("changed");
    assert_eq!(names(&engine.render(Default::default()).unwrap().objects), ["a", "b"]);

    let empty =
        Engine::builder().renderer(Sources::new("memory", [MemorySource::new("m", vec![])])).build().unwrap();
    assert!(empty.render(Default::default()).unwrap().objects.is_empty());
    let invalid = MemorySource::new("m", vec![config_map("a"), raw(json!({}))]);
    let error = Engine::builder()
        .renderer(Sources::new("memory", [invalid]))
        .build()
        .unwrap()
        .render(Default::default())
        .unwrap_err();
    insta::assert_snapshot!(error.to_diagnostics(), @"error: object 2 of `m` has no apiVersion or no kind");
}

#[test]
fn source_annotations_say_where_an_object_came_from() {
    let source = YamlSource::parse(sample(), "app/*.yaml").unwrap();
    let engine =
        Engine::builder().renderer(Sources::new("yaml", [source]).with_source_annotations()).build().unwrap();
    let objects = engine.render(Default::default()).unwrap().objects;
    let found: Vec<_> = objects[0].annotations().collect();
    assert_eq!(
        found,
        [
            ("podsmith.dev/source.type", "yaml"),
            ("podsmith.dev/source.path", "app/*.yaml"),
            ("podsmith.dev/source.file", "app/top.yaml"),
        ]
    );
}

#[test]
fn the_content_hash_is_taken_last_and_depends_on_content_only() {
    let render = |path: &str, object: Object, suffix: &str| {
        let source =
            Sources::new("memory", [MemorySource::new(path, vec![object])]).with_source_annotations();
        let engine = Engine::builder()
            .renderer(source)
            .with_content_hash()
            .transformer(transformer::name::suffix(suffix));
        engine.build().unwrap().render(Default::default()).unwrap().objects.remove(0)
    };
    let key = "podsmith.dev/content.hash";
    let one = render("here", config_map("a"), "");
    let expected = hash::content_hash(&config_map("a"));
    assert_eq!(one.annotation(key), Some(expected.as_str()), "the hash of the plain object");
    assert!(expected.starts_with("sha256:") && expected.len() == 71);
    assert_eq!(
        render("there", config_map("a"), "").annotation(key),
        one.annotation(key),
        "the path does not count"
    );
    assert_ne!(
        render("here", config_map("a"), "-x").annotation(key),
        one.annotation(key),
        "transformers count"
    );
    assert_eq!(
        render("here", one.clone(), "").annotation(key),
        one.annotation(key),
        "hashing again changes nothing"
    );

    let shuffled = raw(json!({"metadata": {"name": "a"}, "kind": "ConfigMap", "apiVersion": "v1"}));
    assert_eq!(hash::content_hash(&shuffled), expected, "the order of keys does not count");
    let mut other = config_map("a");
    other.set_annotation("example.org/x", "1");
    assert_ne!(hash::content_hash(&other), expected, "annotations of others count");
    for bare in [json!({"kind": "A"}), json!({"kind": "A", "metadata": {"annotations": {}}})] {
        let bare = raw(bare);
        let mut marked = bare.clone();
        hash::annotate(&mut marked);
        assert_eq!(
            marked.annotation(key),
            Some(hash::content_hash(&marked).as_str()),
            "writing it down does not change it"
        );
    }
    insta::assert_snapshot!(expected, @"sha256:bee2360fe9a24e63651736acbf8fc1ac4f6085afb8cc9e79cd3b1315b0294dc6");
}

#[test]
fn a_stream_may_be_utf_16() {
    let bytes: Vec<u8> = yaml("a").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let source = ReaderSource::new("<stdin>", std::io::Cursor::new(bytes));
    let engine = Engine::builder().renderer(Sources::new("stdin", [source])).build().unwrap();
    assert_eq!(names(&engine.render(Default::default()).unwrap().objects), ["a"]);
}

#[test]
fn a_stream_is_read_as_it_arrives_and_once() {
    let text = format!("{}---\n{}", yaml("a"), yaml("b"));
    let source = ReaderSource::new("<stdin>", std::io::Cursor::new(text));
    let engine = Engine::builder().renderer(Sources::new("stdin", [source])).build().unwrap();
    let mut seen = Vec::new();
    engine
        .render_each(Default::default(), |object| {
            seen.push(object.name().to_owned());
            Ok(())
        })
        .unwrap();
    assert_eq!(seen, ["a", "b"]);
    let error = engine.render(Default::default()).unwrap_err();
    insta::assert_snapshot!(error.to_diagnostics(), @"error: <stdin>: the stream was read before and cannot be read again");
}

/// Replaces `{{ key }}` by a value; a key that is missing is an error.
struct Braces;

impl TemplateEngine for Braces {
    fn execute(
        &self,
        files: &[TemplateFile],
        values: &Values,
        call: &RenderCall<'_>,
    ) -> Result<Vec<String>, RenderError> {
        let mut out = Vec::new();
        for file in files {
            call.check()?;
            let mut text = file.text.clone();
            for (key, value) in values {
                text = text.replace(&format!("{{{{ {key} }}}}"), value.as_str().unwrap_or(""));
            }
            if text.contains("{{") {
                return Err(Diagnostic::error(format!("{}: a value is missing", file.display)).into());
            }
            out.push(text);
        }
        Ok(out)
    }
}

#[test]
fn templates_get_merged_values_and_come_in_the_order_of_their_paths() {
    let template = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"{{ name }}-{{ env }}\"}\n";
    let files = tree(&[("t/b/x.tpl", template), ("t/a/x.tpl", template), ("t/a/empty.tpl", "# nothing\n")]);
    let own: Values = json!({"name": "web", "env": "dev"}).as_object().cloned().unwrap();
    let source = TemplateSource::parse(files, "t/**/*.tpl", Arc::new(Braces)).unwrap().with_values(own);
    let engine = Engine::builder()
        .renderer(Sources::new("template", [source]))
        .with_source_annotations()
        .build()
        .unwrap();
    let objects =
        engine.call().values(json!({"env": "prod"}).as_object().cloned().unwrap()).render().unwrap().objects;
    assert_eq!(names(&objects), ["web-prod", "web-prod"]);
    assert_eq!(objects[0].annotation("podsmith.dev/source.file"), Some("t/a/x.tpl"));
    assert_eq!(
        objects[1].annotation("podsmith.dev/source.file"),
        Some("t/b/x.tpl"),
        "one base name twice is no problem"
    );
    assert_eq!(names(&engine.render(Default::default()).unwrap().objects), ["web-dev", "web-dev"]);
}

/// A source that counts its renders and can be changed from outside.
struct Counting {
    content: Arc<Mutex<String>>,
    renders: Arc<AtomicUsize>,
}

impl Source for Counting {
    fn kind(&self) -> &str {
        "counting"
    }
    fn path(&self) -> String {
        "counting".to_owned()
    }
    fn render(&self, call: &RenderCall<'_>) -> Result<Vec<Object>, RenderError> {
        self.renders.fetch_add(1, Ordering::SeqCst);
        call.warn(Diagnostic::warning("old content"));
        match self.content.lock().unwrap().as_str() {
            "fail" => Err(Diagnostic::error("no").into()),
            name => Ok(vec![config_map(name)]),
        }
    }
    fn fingerprint(&self, call: &RenderCall<'_>) -> Result<Option<Fingerprint>, RenderError> {
        let content = self.content.lock().unwrap().clone();
        Ok(Some(Fingerprint::of("counting").text(&content).value(&json!(call.values())).finish()))
    }
}

fn counting(limits: CacheLimits) -> (Engine, Arc<Mutex<String>>, Arc<AtomicUsize>, Arc<RenderCache>) {
    let (content, renders) = (Arc::new(Mutex::new("a".to_owned())), Arc::new(AtomicUsize::new(0)));
    let cache = Arc::new(RenderCache::new(limits));
    let source = Counting { content: content.clone(), renders: renders.clone() };
    let engine =
        Engine::builder().renderer(Sources::new("c", [source])).cache(cache.clone()).build().unwrap();
    (engine, content, renders, cache)
}

#[test]
fn an_unchanged_source_is_rendered_once() {
    let (engine, content, renders, cache) = counting(CacheLimits::default());
    let mut first = engine.render(Default::default()).unwrap();
    first.objects[0].set_name("changed");
    let second = engine.render(Default::default()).unwrap();
    assert_eq!(names(&second.objects), ["a"], "a change outside does not reach the cache");
    assert_eq!(second.warnings.len(), 1, "a hit warns like a miss");
    let mut streamed = 0;
    engine
        .render_each(Default::default(), |_| {
            streamed += 1;
            Ok(())
        })
        .unwrap();
    assert_eq!((renders.load(Ordering::SeqCst), streamed, cache.len()), (1, 1, 1));

    *content.lock().unwrap() = "b".to_owned();
    assert_eq!(names(&engine.render(Default::default()).unwrap().objects), ["b"], "other content");
    engine.call().values(json!({"x": 1}).as_object().cloned().unwrap()).render().unwrap();
    assert_eq!(renders.load(Ordering::SeqCst), 3, "other values");

    *content.lock().unwrap() = "fail".to_owned();
    assert!(engine.render(Default::default()).is_err());
    assert!(engine.render(Default::default()).is_err());
    assert_eq!(renders.load(Ordering::SeqCst), 5, "failures are not kept");
}

#[test]
fn the_cache_drops_what_was_used_longest_ago() {
    let (engine, content, renders, cache) = counting(CacheLimits { entries: 2, objects: 10 });
    let render = |name: &str| {
        *content.lock().unwrap() = name.to_owned();
        engine.render(Default::default()).unwrap();
        renders.load(Ordering::SeqCst)
    };
    assert_eq!([render("a"), render("b"), render("a"), render("c")], [1, 2, 2, 3]);
    assert_eq!([render("a"), render("b")], [3, 4], "a was used after b, so b went");
    assert_eq!(cache.len(), 2);
    let (engine, _, renders, cache) = counting(CacheLimits { entries: 2, objects: 0 });
    engine.render(Default::default()).unwrap();
    engine.render(Default::default()).unwrap();
    assert_eq!((renders.load(Ordering::SeqCst), cache.is_empty()), (2, true), "too large to be kept");
}

#[test]
fn two_threads_that_want_the_same_render_it_once() {
    let cache = RenderCache::default();
    let (started, renders) = (Barrier::new(2), AtomicUsize::new(0));
    let key = Fingerprint::of("x").finish();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| {
            cache.get_or_render(key, &Cancel::new(), || {
                started.wait();
                renders.fetch_add(1, Ordering::SeqCst);
                Ok((vec![config_map("a")], vec![]))
            })
        });
        started.wait();
        let second = cache.get_or_render(key, &Cancel::new(), || {
            renders.fetch_add(1, Ordering::SeqCst);
            Ok((vec![], vec![]))
        });
        assert_eq!(names(&second.unwrap().0), ["a"]);
        assert_eq!(names(&first.join().unwrap().unwrap().0), ["a"]);
    });
    assert_eq!(renders.load(Ordering::SeqCst), 1);
}

#[test]
fn waiting_for_another_render_can_be_cancelled_and_a_failure_lets_the_next_one_try() {
    let cache = RenderCache::default();
    let key = Fingerprint::of("x").finish();
    let cancelled = Cancel::new();
    cancelled.cancel();
    let outer = cache.get_or_render(key, &Cancel::new(), || {
        let inner = cache.get_or_render(key, &cancelled, || Ok((vec![], vec![])));
        assert!(inner.unwrap_err().is_cancelled());
        Err(RenderError::new("failed"))
    });
    assert!(outer.is_err());
    assert!(cache.get_or_render(key, &Cancel::new(), || Ok((vec![], vec![]))).is_ok());
}

#[test]
fn the_same_pattern_on_two_trees_is_not_the_same_render() {
    let cache = Arc::new(RenderCache::default());
    let render = |files: &Arc<dyn FileTree>| {
        let source = YamlSource::parse(files.clone(), "*.yaml").unwrap();
        let engine =
            Engine::builder().renderer(Sources::new("yaml", [source])).cache(cache.clone()).build().unwrap();
        engine.render(Default::default()).unwrap().objects.remove(0).name().to_owned()
    };
    let (one, two) = (tree(&[("a.yaml", &yaml("one"))]), tree(&[("a.yaml", &yaml("two"))]));
    assert_eq!([render(&one), render(&two), render(&one)], ["one", "two", "one"]);
    assert_eq!(cache.len(), 2);
}

#[test]
fn a_renderer_can_be_used_without_an_engine() {
    use podsmith_engine::{Context, Scopes, Warnings};
    let (cancel, warnings, scopes, values) = (Cancel::new(), Warnings::new(), Scopes::new(), Values::new());
    let call = RenderCall::new(&values, Context::new(&cancel, &warnings, &scopes));
    let renderer = Sources::new("memory", [MemorySource::new("m", vec![config_map("a")])]);
    assert_eq!(names(&renderer.render(&call).unwrap()), ["a"]);
}
