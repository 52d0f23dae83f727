//! The engine: order of the steps, options, parallel rendering, cancellation, errors.
#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

mod support;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::time::Instant;

use podsmith_engine::{
    Cancel, Cancelled, Engine, EngineOptions, InvalidEngine, MemorySource, RenderCall, RenderError,
    RenderOptions, Renderer, Source, Sources, Stage, Values, filter, for_type, named, post, transformer,
};
use podsmith_object::{Diagnostic, Object, Place, json};
use support::{Counter, broken_filter, broken_transformer, config_map, failing, names, object, renderer};

fn render(engine: &Engine) -> Vec<String> {
    let rendered = engine.render(RenderOptions::default()).unwrap();
    rendered.objects.iter().map(|object| object.name().to_owned()).collect()
}

fn marks(label: &'static str) -> Arc<dyn podsmith_engine::Transformer> {
    transformer::labels::set([(label, "yes")])
}

#[test]
fn an_empty_engine_renders_nothing() {
    assert!(render(&Engine::builder().build().unwrap()).is_empty());
    assert!(render(&Engine::new(EngineOptions::default()).unwrap()).is_empty());
    assert!(render(&Engine::builder().renderer(renderer("a", &[])).build().unwrap()).is_empty());
}

#[test]
fn objects_come_in_the_order_of_renderers_and_sources() {
    let sources = ["c", "b"].map(|name| MemorySource::new(name, vec![config_map(name), config_map("x")]));
    let engine =
        Engine::builder().renderer(renderer("one", &["z", "a"])).renderer(Sources::new("two", sources));
    assert_eq!(render(&engine.build().unwrap()), ["z", "a", "c", "x", "b", "x"]);
}

#[test]
fn all_filters_run_before_all_transformers_and_engine_before_call() {
    let log: Arc<Mutex<Vec<String>>> = Arc::default();
    let filter = |name: &'static str| {
        let log = log.clone();
        filter::shared(move |object: &Object| {
            log.lock().unwrap().push(format!("{name} filter {}", object.labels().count()));
            true
        })
    };
    let transformer = |name: &'static str| {
        let log = log.clone();
        transformer::shared(move |mut object: Object| {
            log.lock().unwrap().push(format!("{name} transformer"));
            object.set_label(name, "yes");
            object
        })
    };
    let after = |name: &'static str| {
        let log = log.clone();
        move |objects: Vec<Object>| {
            log.lock().unwrap().push(format!("{name} post {}", objects[0].labels().count()));
            objects
        }
    };
    let own = Sources::new("one", [MemorySource::new("m", vec![config_map("a")])])
        .transformer(transformer("own"))
        .filter(filter("own"))
        .post_renderer(after("own"));
    let engine = Engine::builder()
        .post_renderer(after("engine"))
        .transformer(transformer("engine"))
        .filter(filter("engine"))
        .renderer(own)
        .build()
        .unwrap();
    engine
        .call()
        .post_renderer(after("call"))
        .transformer(transformer("call"))
        .filter(filter("call"))
        .render()
        .unwrap();
    let expected = [
        "own filter 0",
        "own transformer",
        "own post 1",
        "engine filter 1",
        "call filter 1",
        "engine transformer",
        "call transformer",
        "engine post 3",
        "call post 3",
    ];
    assert_eq!(*log.lock().unwrap(), expected);
}

#[test]
fn filters_are_anded_and_transformers_run_in_sequence() {
    let engine = Engine::builder()
        .renderer(renderer("one", &["web-1", "web-2", "db-1"]))
        .filter(filter::name::prefix("web"))
        .transformer(transformer::name::prefix("a-"))
        .transformer(transformer::name::prefix("b-"))
        .build()
        .unwrap();
    assert_eq!(render(&engine), ["b-a-web-1", "b-a-web-2"]);
    let rendered = engine
        .call()
        .filter(filter::name::suffix("-1"))
        .transformer(transformer::name::prefix("c-"))
        .render();
    assert_eq!(names(&rendered.unwrap().objects), ["c-b-a-web-1"]);
    assert_eq!(render(&engine), ["b-a-web-1", "b-a-web-2"], "the call left the engine as it was");
}

#[test]
fn struct_options_say_the_same_as_the_builders() {
    let engine = Engine::new(EngineOptions {
        renderers: vec![Arc::new(renderer("one", &["a", "b"]))],
        filters: vec![filter::name::exact(["a", "b"])],
        transformers: vec![transformer::name::suffix("-1")],
        post_renderers: vec![Arc::new(|mut objects: Vec<Object>| {
            objects.reverse();
            objects
        })],
        ..EngineOptions::default()
    })
    .unwrap();
    assert_eq!(render(&engine), ["b-1", "a-1"]);
    let options = RenderOptions {
        filters: vec![filter::name::exact(["a"])],
        transformers: vec![transformer::name::suffix("-2")],
        ..RenderOptions::default()
    };
    assert_eq!(names(&engine.render(options.clone()).unwrap().objects), ["a-1-2"]);
    let mixed = engine.call().transformer(transformer::name::suffix("-0")).options(options).render().unwrap();
    assert_eq!(names(&mixed.objects), ["a-1-0-2"], "both ways mix and only add");

    let more = EngineOptions { filters: vec![filter::name::exact(["a"])], ..EngineOptions::default() };
    let engine = Engine::builder()
        .parallelism(1)
        .renderer(renderer("one", &["a", "b"]))
        .with_content_hash()
        .options(more)
        .build()
        .unwrap();
    let objects = engine.render(Default::default()).unwrap().objects;
    assert_eq!(names(&objects), ["a"]);
    assert!(
        objects[0].annotation("podsmith.dev/content.hash").is_some(),
        "options of a struct switch nothing off"
    );
}

#[test]
fn values_reach_every_renderer_and_replace_each_other() {
    let seen: Arc<Mutex<Vec<Values>>> = Arc::default();
    let spy = || {
        let seen = seen.clone();
        move |call: &RenderCall<'_>| {
            seen.lock().unwrap().push(call.values().clone());
            Vec::new()
        }
    };
    let engine = Engine::builder().renderer(spy()).renderer(spy()).parallelism(1).build().unwrap();
    let values = |value| json!(value).as_object().cloned().unwrap();
    engine.call().values(values(json!({"a": 1}))).values(values(json!({"b": {"c": 2}}))).render().unwrap();
    engine.render(RenderOptions { values: values(json!({"d": 3})), ..RenderOptions::default() }).unwrap();
    engine.render(RenderOptions::default()).unwrap();
    let seen: Vec<String> = seen.lock().unwrap().iter().map(|values| json!(values).to_string()).collect();
    assert_eq!(seen, [r#"{"b":{"c":2}}"#, r#"{"b":{"c":2}}"#, r#"{"d":3}"#, r#"{"d":3}"#, "{}", "{}"]);
}

#[test]
fn values_of_the_call_are_merged_over_those_of_a_source() {
    let merged: Arc<Mutex<String>> = Arc::default();
    let spy = {
        let merged = merged.clone();
        move |call: &RenderCall<'_>| {
            let own = json!({"a": {"x": 1, "y": 2}, "list": [1], "b": 1, "keep": true})
                .as_object()
                .cloned()
                .unwrap();
            *merged.lock().unwrap() = json!(call.values_over(&own)).to_string();
            Vec::new()
        }
    };
    let engine = Engine::builder().renderer(spy).build().unwrap();
    let values = json!({"a": {"y": 3}, "list": [2], "b": null}).as_object().cloned().unwrap();
    engine.call().values(values).render().unwrap();
    assert_eq!(*merged.lock().unwrap(), r#"{"a":{"x":1,"y":3},"list":[2],"b":null,"keep":true}"#);
}

#[test]
fn renderers_need_a_name() {
    let nothing = |_: &RenderCall<'_>| Vec::new();
    for blank in ["", "  ", "\t\n"] {
        let built = Engine::builder().renderer(nothing).renderer(named(blank, nothing)).build();
        assert_eq!(built.err(), Some(InvalidEngine::BlankName { index: 1 }), "{blank:?}");
    }
    assert_eq!(InvalidEngine::BlankName { index: 1 }.to_string(), "renderer 2 has a blank name");
}

#[test]
fn a_failing_renderer_is_named_and_gives_no_partial_result() {
    for threads in [1, 4] {
        let engine = Engine::builder()
            .renderer(renderer("good", &["a"]))
            .renderer(failing("bad", "no bread"))
            .renderer(failing("worse", "no butter"))
            .parallelism(threads)
            .build()
            .unwrap();
        let error = engine.render(Default::default()).unwrap_err();
        assert_eq!(
            (error.stage(), error.renderer(), error.cause().to_string().as_str()),
            (Stage::Render, Some("bad"), "no bread")
        );
        assert_eq!(error.to_string(), "renderer `bad` failed");
    }
}

#[test]
fn a_failing_step_names_its_stage_and_its_object() {
    let text = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: ns}\n";
    let source = || Sources::new("one", [MemorySource::new("m", vec![config_map("fine"), object(text)])]);
    let only_secret = |inner| filter::if_then(filter::kind::one_of(["Secret"]).unwrap(), inner);
    let change_secret = |inner| transformer::if_then(filter::kind::one_of(["Secret"]).unwrap(), inner);

    let engine = Engine::builder().renderer(source()).filter(only_secret(broken_filter())).build().unwrap();
    let error = engine.render(Default::default()).unwrap_err();
    assert_eq!((error.stage(), error.renderer()), (Stage::Filter, None));
    assert_eq!(error.object().unwrap().to_string(), "Secret ns/s");
    assert_eq!(error.place(), Some(&Place::new("test.yaml", 1, 0)));
    assert_eq!(error.to_string(), "filter failed on Secret ns/s");
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "broken filter");

    let renamed = transformer::chain([transformer::name::prefix("x-"), change_secret(broken_transformer())]);
    let engine = Engine::builder().renderer(source().transformer(renamed)).build().unwrap();
    let error = engine.render(Default::default()).unwrap_err();
    assert_eq!((error.stage(), error.renderer()), (Stage::Transform, Some("one")));
    assert_eq!(error.object().unwrap().to_string(), "Secret ns/s", "named as it entered the chain");

    let engine = Engine::builder()
        .renderer(source())
        .post_renderer(|_: Vec<Object>| Err::<Vec<Object>, _>("broken post"));
    let error = engine.build().unwrap().render(Default::default()).unwrap_err();
    assert_eq!((error.stage(), error.object()), (Stage::PostRender, None));
    assert_eq!(error.cause().to_string(), "broken post");
}

#[test]
fn what_a_closure_returned_can_be_found_again() {
    #[derive(Debug, thiserror::Error)]
    #[error("mine")]
    struct Mine(u8);
    let engine =
        Engine::builder().renderer(renderer("one", &["a"])).filter(|_: &Object| Err::<bool, _>(Mine(7)));
    let error = engine.build().unwrap().render(Default::default()).unwrap_err();
    assert_eq!(error.find_cause::<Mine>().unwrap().0, 7);
    let wrapped = RenderError::at_stage(Stage::Transform, error);
    assert_eq!(wrapped.stage(), Stage::Filter, "an error is never wrapped twice");
}

#[test]
fn diagnostics_of_a_cause_are_shown_as_they_are() {
    let problem = Diagnostic::error("`kind` is missing").at(Place::new("a.yaml", 3, 1)).with_hint("add it");
    let bad =
        named("yaml", move |_: &RenderCall<'_>| Err::<Vec<Object>, RenderError>(problem.clone().into()));
    let error = Engine::builder().renderer(bad).build().unwrap().render(Default::default()).unwrap_err();
    insta::assert_snapshot!(error.to_diagnostics(), @r#"
    error: a.yaml:3:1: `kind` is missing
    hint: add it
    "#);

    let engine = Engine::builder()
        .renderer(renderer("one", &["a"]))
        .filter(filter::jq::expression(".data | length").unwrap());
    let error = engine.build().unwrap().render(Default::default()).unwrap_err();
    insta::assert_snapshot!(error.to_diagnostics(), @r#"
    error: ConfigMap a: filter failed
      because: in the jq expression `.data | length`
      because: the jq expression of a filter must give true or false, it gave a number
    hint: compare with something, for example `!= null`
    "#);

    let engine = Engine::builder()
        .renderer(renderer("one", &["a"]))
        .filter(filter::jq::expression("select(.kind == \"Pod\")").unwrap());
    let error = engine.build().unwrap().render(Default::default()).unwrap_err();
    insta::assert_snapshot!(error.to_diagnostics(), @r#"
    error: ConfigMap a: filter failed
      because: in the jq expression `select(.kind == "Pod")`
      because: the jq expression must give exactly one value, it gave none
    hint: a filter gives true or false: write the condition itself, without `select`
    "#);
}

#[test]
fn the_engine_adds_no_annotations_of_its_own_unless_asked() {
    let mut marked = config_map("a");
    marked.set_annotation("from/renderer", "x");
    let source = || Sources::new("one", [MemorySource::new("place", vec![marked.clone(), config_map("b")])]);
    let plain =
        Engine::builder().renderer(source()).build().unwrap().render(Default::default()).unwrap().objects;
    assert_eq!(plain[0], marked);
    assert_eq!(plain[1], config_map("b"));

    let engine = Engine::builder().renderer(source()).with_source_annotations().build().unwrap();
    let annotated = engine.render(Default::default()).unwrap().objects;
    let found: Vec<_> = annotated[0].annotations().collect();
    assert_eq!(
        found,
        [
            ("from/renderer", "x"),
            ("podsmith.dev/source.type", "memory"),
            ("podsmith.dev/source.path", "place"),
            ("podsmith.dev/source.file", "place"),
        ]
    );
}

#[test]
fn post_renderers_can_reorder_drop_and_add() {
    let reverse = |mut objects: Vec<Object>| {
        objects.reverse();
        objects
    };
    let first_two = |mut objects: Vec<Object>| {
        objects.truncate(2);
        objects
    };
    let engine =
        Engine::builder().renderer(renderer("one", &["a", "b", "c"])).post_renderer(reverse).build().unwrap();
    assert_eq!(render(&engine), ["c", "b", "a"]);
    let rendered = engine.call().post_renderer(first_two).render().unwrap();
    assert_eq!(names(&rendered.objects), ["c", "b"], "engine first, then call");
    let add = |mut objects: Vec<Object>| {
        objects.push(config_map("new"));
        objects
    };
    assert_eq!(names(&engine.call().post_renderer(add).render().unwrap().objects), ["c", "b", "a", "new"]);
}

#[test]
fn post_renderers_of_a_source_see_only_that_source() {
    let sizes: Arc<Mutex<Vec<usize>>> = Arc::default();
    let note = || -> Arc<dyn podsmith_engine::PostRenderer> {
        let sizes = sizes.clone();
        Arc::new(move |objects: Vec<Object>| {
            sizes.lock().unwrap().push(objects.len());
            objects
        })
    };
    let sources = Sources::new("one", [])
        .source(MemorySource::new("x", vec![config_map("a")]), vec![note()])
        .source(MemorySource::new("y", vec![config_map("b"), config_map("c")]), vec![note()])
        .post_renderer(note());
    render(&Engine::builder().renderer(sources).post_renderer(note()).build().unwrap());
    assert_eq!(*sizes.lock().unwrap(), [1, 2, 3, 3]);
}

/// A source that fails when it is loaded.
struct Missing;

impl Source for Missing {
    fn kind(&self) -> &str {
        "missing"
    }
    fn path(&self) -> String {
        "nowhere".to_owned()
    }
    fn render(&self, _: &RenderCall<'_>) -> Result<Vec<Object>, RenderError> {
        Err(Diagnostic::error("there is nothing").into())
    }
}

#[test]
fn selectors_skip_a_source_before_it_is_loaded() {
    let engine = Engine::builder()
        .renderer(Sources::new("one", [Missing]))
        .renderer(renderer("two", &["a"]))
        .build()
        .unwrap();
    let error = engine.render(Default::default()).unwrap_err();
    assert_eq!((error.renderer(), error.source_path()), (Some("one"), Some("nowhere")));
    let rendered = engine.call().selector(|source: &dyn Source| source.kind() != "missing").render().unwrap();
    assert_eq!(names(&rendered.objects), ["a"]);
    let typed = engine.call().selector(for_type(|_: &Missing| false)).render().unwrap();
    assert_eq!(names(&typed.objects), ["a"], "other types pass without being asked");
    let own = Engine::builder()
        .renderer(Sources::new("one", [Missing]).selector(|_: &dyn Source| false))
        .build()
        .unwrap();
    assert!(render(&own).is_empty());
}

#[test]
fn selectors_must_all_agree_and_stop_at_the_first_refusal() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = |answer: bool| {
        let asked = asked.clone();
        move |_: &dyn Source| {
            asked.fetch_add(1, Ordering::Relaxed);
            answer
        }
    };
    let engine = Engine::builder().renderer(renderer("one", &["a"])).selector(count(true)).build().unwrap();
    assert_eq!(engine.call().selector(count(false)).selector(count(true)).render().unwrap().objects.len(), 0);
    assert_eq!(asked.load(Ordering::Relaxed), 2);
    let error = engine.call().selector(|_: &dyn Source| Err::<bool, _>("unsure")).render().unwrap_err();
    assert_eq!((error.stage(), error.source_path()), (Stage::Select, Some("memory")));
    assert_eq!(error.cause().to_string(), "unsure");
}

#[test]
fn the_first_error_by_order_wins_not_the_first_by_time() {
    // The second renderer fails first; only then may the first one fail.
    let second_failed = Arc::new(Barrier::new(2));
    let (early, late) = (second_failed.clone(), second_failed);
    let first = named("first", move |_: &RenderCall<'_>| {
        early.wait();
        Err::<Vec<Object>, _>("first error")
    });
    let second = named("second", move |_: &RenderCall<'_>| {
        late.wait();
        Err::<Vec<Object>, _>("second error")
    });
    let engine = Engine::builder().renderer(first).renderer(second).parallelism(2).build().unwrap();
    let error = engine.render(Default::default()).unwrap_err();
    assert_eq!((error.renderer(), error.cause().to_string().as_str()), (Some("first"), "first error"));
}

#[test]
fn a_failure_cancels_the_renderers_after_it() {
    let started = Arc::new(Barrier::new(2));
    let was_cancelled = Arc::new(AtomicBool::new(false));
    let (ready, seen) = (started.clone(), was_cancelled.clone());
    let bad = named("bad", move |_: &RenderCall<'_>| {
        started.wait();
        Err::<Vec<Object>, _>("no")
    });
    let patient = named("patient", move |call: &RenderCall<'_>| {
        ready.wait();
        loop {
            if let Err(cancelled) = call.check() {
                seen.store(true, Ordering::Relaxed);
                return Err::<Vec<Object>, Cancelled>(cancelled);
            }
            std::thread::yield_now();
        }
    });
    let engine = Engine::builder().renderer(bad).renderer(patient).parallelism(2).build().unwrap();
    assert_eq!(engine.render(Default::default()).unwrap_err().renderer(), Some("bad"));
    assert!(was_cancelled.load(Ordering::Relaxed));
}

#[test]
fn no_more_renderers_run_at_once_than_allowed() {
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let mut builder = Engine::builder().parallelism(3);
    for _ in 0..20 {
        let (running, most) = (running.clone(), most.clone());
        builder = builder.renderer(move |_: &RenderCall<'_>| {
            most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::yield_now();
            running.fetch_sub(1, Ordering::SeqCst);
            Vec::new()
        });
    }
    builder.build().unwrap().render(Default::default()).unwrap();
    assert!(most.load(Ordering::SeqCst) <= 3);
}

#[test]
fn cancellation_is_honoured_between_sources_files_and_objects() {
    let cancel = Cancel::new();
    let seen = Arc::new(AtomicUsize::new(0));
    let stop_at_third = {
        let (cancel, seen) = (cancel.clone(), seen.clone());
        filter::shared(move |_: &Object| {
            if seen.fetch_add(1, Ordering::Relaxed) == 2 {
                cancel.cancel();
            }
            true
        })
    };
    let engine = Engine::builder().renderer(renderer("one", &["a", "b", "c", "d", "e"])).build().unwrap();
    let error = engine.call().cancel(cancel.clone()).filter(stop_at_third).render().unwrap_err();
    assert!(error.is_cancelled());
    assert_eq!(seen.load(Ordering::Relaxed), 3, "no object after the third was looked at");

    let counter = Counter::default();
    let again = engine.call().cancel(cancel).filter(counter.filter(true)).render().unwrap_err();
    assert!(again.is_cancelled());
    assert_eq!(counter.count(), 0);
}

#[test]
fn options_do_not_forget_a_switch_that_was_given_before() {
    let engine = Engine::builder().renderer(renderer("one", &["a"])).build().unwrap();
    let cancel = Cancel::new();
    cancel.cancel();
    assert!(engine.call().cancel(cancel.clone()).options(RenderOptions::default()).render().is_err());
    let options = RenderOptions { cancel, ..RenderOptions::default() };
    assert!(engine.call().options(options).cancel(Cancel::new()).render().is_err());
}

#[test]
fn a_deadline_in_the_past_stops_everything() {
    let engine = Engine::builder().renderer(renderer("one", &["a"])).build().unwrap();
    let error = engine.call().cancel(Cancel::new().with_deadline(Instant::now())).render().unwrap_err();
    assert_eq!(error.find_cause::<Cancelled>(), Some(&Cancelled::DeadlinePassed));
}

#[test]
fn an_expression_that_never_ends_can_be_cancelled() {
    let engine = Engine::builder()
        .renderer(renderer("one", &["a"]))
        .filter(filter::jq::expression("last(repeat(1)) == 1").unwrap())
        .build()
        .unwrap();
    let deadline = Instant::now() + std::time::Duration::from_millis(30);
    let error = engine.call().cancel(Cancel::new().with_deadline(deadline)).render().unwrap_err();
    assert!(error.is_cancelled(), "{error:?}");
}

#[test]
fn streaming_gives_the_same_objects_in_the_same_order() {
    for threads in [1, 2, 8] {
        let many: Vec<String> = (0..1000).map(|index| format!("n{index}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let engine = Engine::builder()
            .renderer(renderer("one", &many))
            .renderer(renderer("two", &["x", "y"]))
            .renderer(renderer("three", &many))
            .filter(filter::not(filter::name::suffix("7")))
            .transformer(marks("seen"))
            .parallelism(threads)
            .build()
            .unwrap();
        let collected = engine.render(Default::default()).unwrap().objects;
        let mut streamed = Vec::new();
        engine
            .render_each(Default::default(), |object| {
                streamed.push(object);
                Ok(())
            })
            .unwrap();
        assert_eq!(streamed, collected);
        assert_eq!(streamed.len(), 1802);
    }
}

#[test]
fn streaming_starts_before_everything_is_rendered() {
    // The renderer waits for its first object to be taken before it makes the second one.
    let taken = Arc::new(AtomicBool::new(false));
    struct Slow(Arc<AtomicBool>);
    impl Renderer for Slow {
        fn name(&self) -> &str {
            "slow"
        }
        fn render(&self, _: &RenderCall<'_>) -> Result<Vec<Object>, RenderError> {
            Err(RenderError::new("this renderer only streams"))
        }
        fn render_each(
            &self,
            _: &RenderCall<'_>,
            emit: &mut podsmith_engine::Emit<'_>,
        ) -> Result<(), RenderError> {
            emit(config_map("first"))?;
            while !self.0.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            emit(config_map("second"))
        }
    }
    let engine = Engine::builder()
        .renderer(Slow(taken.clone()))
        .renderer(renderer("two", &["third"]))
        .build()
        .unwrap();
    let mut order = Vec::new();
    engine
        .render_each(Default::default(), |object| {
            taken.store(true, Ordering::Release);
            order.push(object.name().to_owned());
            Ok(())
        })
        .unwrap();
    assert_eq!(order, ["first", "second", "third"]);
}

#[test]
fn an_error_of_the_consumer_ends_the_stream_and_comes_back() {
    for threads in [1, 4] {
        let engine = Engine::builder()
            .renderer(renderer("one", &["a", "b", "c"]))
            .renderer(renderer("two", &["d"]))
            .parallelism(threads)
            .build()
            .unwrap();
        let mut seen = 0;
        let error = engine
            .render_each(Default::default(), |_| {
                seen += 1;
                if seen == 2 { Err(RenderError::new("the pipe is closed")) } else { Ok(()) }
            })
            .unwrap_err();
        assert_eq!(
            (seen, error.cause().to_string().as_str(), error.renderer()),
            (2, "the pipe is closed", None)
        );
    }
}

#[test]
fn an_error_of_a_renderer_ends_the_stream_after_the_objects_before_it() {
    for threads in [1, 4] {
        let engine = Engine::builder()
            .renderer(renderer("one", &["a"]))
            .renderer(failing("two", "no"))
            .renderer(renderer("three", &["c"]))
            .parallelism(threads)
            .build()
            .unwrap();
        let mut seen = Vec::new();
        let error = engine.render_each(Default::default(), |object| {
            seen.push(object.name().to_owned());
            Ok(())
        });
        assert_eq!(error.unwrap_err().renderer(), Some("two"));
        assert_eq!(seen, ["a"]);
    }
}

#[test]
fn a_batch_step_collects_before_it_streams() {
    let engine =
        Engine::builder().renderer(renderer("one", &["a", "b"])).post_renderer(|mut objects: Vec<Object>| {
            objects.reverse();
            objects
        });
    let mut seen = Vec::new();
    engine
        .build()
        .unwrap()
        .render_each(Default::default(), |object| {
            seen.push(object.name().to_owned());
            Ok(())
        })
        .unwrap();
    assert_eq!(seen, ["b", "a"]);
}

#[test]
fn duplicates_can_be_refused_with_both_places() {
    let one = object("apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n");
    let text = b"# first\n\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\n";
    let two = podsmith_object::read_objects("other.yaml", text).unwrap().remove(0);
    let generated =
        podsmith_object::read_objects("g.yaml", b"{apiVersion: v1, kind: Pod, metadata: {generateName: g}}")
            .unwrap()
            .remove(0);
    let source = MemorySource::new("m", vec![one, generated.clone(), generated, two]);
    let engine =
        Engine::builder().renderer(Sources::new("one", [source])).post_renderer(post::refuse_duplicates());
    let error = engine.build().unwrap().render(Default::default()).unwrap_err();
    insta::assert_snapshot!(error.to_diagnostics(), @r#"
    error: other.yaml:3: Secret s: the object is declared twice
      because: it is declared before at test.yaml:1
    "#);
}

#[test]
fn a_chain_of_steps_is_one_post_renderer() {
    let steps = post::chain(
        vec![filter::name::prefix("a")],
        vec![transformer::name::suffix("-z")],
        vec![Arc::new(|mut o: Vec<Object>| {
            o.reverse();
            o
        })],
    );
    let engine = Engine::builder()
        .renderer(renderer("one", &["a1", "b", "a2"]))
        .post_renderer(steps.unwrap())
        .build()
        .unwrap();
    assert_eq!(render(&engine), ["a2-z", "a1-z"]);
    let broken = post::chain(vec![broken_filter()], vec![], vec![]).unwrap();
    let error = Engine::builder()
        .renderer(renderer("one", &["a"]))
        .post_renderer(broken)
        .build()
        .unwrap()
        .render(Default::default());
    let error = error.unwrap_err();
    assert_eq!(
        (error.stage(), error.object().is_some()),
        (Stage::Filter, true),
        "the typed error is not lost"
    );
}

#[test]
fn a_filter_error_keeps_transformers_from_running() {
    let counter = Counter::default();
    let engine = Engine::builder()
        .renderer(renderer("one", &["a", "b"]))
        .transformer(counter.transformer())
        .build()
        .unwrap();
    let fails_at_b = filter::if_then(filter::name::exact(["b"]), broken_filter());
    assert!(engine.call().filter(fails_at_b).render().is_err());
    assert_eq!(counter.count(), 0);
    assert!(engine.call().filter(|_: &Object| false).render().unwrap().objects.is_empty());
    assert_eq!(counter.count(), 0, "everything was filtered");
    engine.call().transformer(broken_transformer()).render().unwrap_err();
    assert_eq!(counter.count(), 1, "the first error stops the rest");
}
