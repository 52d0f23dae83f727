//! Laws that hold for all inputs: the algebra of filters, parallel equals sequential, jq agrees with itself.
#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

mod support;

use std::sync::Arc;

use podsmith_engine::jq::Program;
use podsmith_engine::{
    ApplyOrder, Cancel, Engine, EngineBuilder, Filter, PostRenderer, RenderCall, filter, hash, named,
    transformer,
};
use podsmith_object::{Object, Value, json};
use proptest::prelude::*;
use support::{config_map, keeps, raw};

/// A filter described by data, so that two ways to evaluate it can be compared.
#[derive(Clone, Debug)]
enum Tree {
    Constant(bool),
    Name(String),
    Fail,
    Or(Vec<Tree>),
    And(Vec<Tree>),
    Not(Box<Tree>),
    If(Box<Tree>, Box<Tree>),
}

impl Tree {
    fn filter(&self) -> Arc<dyn Filter> {
        match self {
            Self::Constant(answer) => {
                let answer = *answer;
                filter::shared(move |_: &Object| answer)
            }
            Self::Name(prefix) => filter::name::prefix(prefix),
            Self::Fail => filter::shared(|_: &Object| Err::<bool, _>("fail")),
            Self::Or(inner) => filter::or(inner.iter().map(Self::filter)),
            Self::And(inner) => filter::and(inner.iter().map(Self::filter)),
            Self::Not(inner) => filter::not(inner.filter()),
            Self::If(condition, then) => filter::if_then(condition.filter(), then.filter()),
        }
    }

    /// The meaning, written down a second time: `None` is an error.
    fn meaning(&self, name: &str) -> Option<bool> {
        match self {
            Self::Constant(answer) => Some(*answer),
            Self::Name(prefix) => Some(name.starts_with(prefix)),
            Self::Fail => None,
            Self::Or(inner) if inner.is_empty() => Some(true),
            Self::Or(inner) => inner
                .iter()
                .map(|tree| tree.meaning(name))
                .find(|found| *found != Some(false))
                .unwrap_or(Some(false)),
            Self::And(inner) => inner
                .iter()
                .map(|tree| tree.meaning(name))
                .find(|found| *found != Some(true))
                .unwrap_or(Some(true)),
            Self::Not(inner) => inner.meaning(name).map(|keep| !keep),
            Self::If(condition, then) => match condition.meaning(name)? {
                true => then.meaning(name),
                false => Some(true),
            },
        }
    }
}

fn trees() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Tree::Constant),
        "[ab]{0,2}".prop_map(Tree::Name),
        Just(Tree::Fail),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Tree::Or),
            prop::collection::vec(inner.clone(), 0..4).prop_map(Tree::And),
            inner.clone().prop_map(|tree| Tree::Not(Box::new(tree))),
            (inner.clone(), inner).prop_map(|(a, b)| Tree::If(Box::new(a), Box::new(b))),
        ]
    })
}

/// JSON data with all kinds of numbers.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        // Quarters, because the JSON reader underneath is not exact in the last digit of a long fraction.
        (-1e6..1e6_f64).prop_map(|number| Value::from((number * 4.0).round() / 4.0)),
        Just(json!(1.0)),
        "[a-zäß\"\\\\ \n]{0,5}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec(("[a-e]{1,2}", inner), 0..5)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

fn objects() -> impl Strategy<Value = Object> {
    prop::collection::vec(("[a-e]{1,2}", values()), 0..5)
        .prop_map(|pairs| Object::new(pairs.into_iter().collect()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn nested_filters_mean_what_they_say(tree in trees(), name in "[ab]{0,3}") {
        let found = keeps(&tree.filter(), &config_map(&name)).ok();
        prop_assert_eq!(found, tree.meaning(&name));
    }

    #[test]
    fn de_morgan_and_double_negation_hold(a in trees(), b in trees(), name in "[ab]{0,3}") {
        let object = config_map(&name);
        let ask = |filter: Arc<dyn Filter>| keeps(&filter, &object);
        prop_assert_eq!(ask(filter::not(filter::not(a.filter()))), ask(a.filter()));
        prop_assert_eq!(
            ask(filter::not(filter::and([a.filter(), b.filter()]))),
            ask(filter::or([filter::not(a.filter()), filter::not(b.filter())]))
        );
        prop_assert_eq!(
            ask(filter::if_then(a.filter(), b.filter())),
            ask(filter::or([filter::not(a.filter()), b.filter()]))
        );
    }

    #[test]
    fn a_list_of_filters_is_their_conjunction(trees in prop::collection::vec(trees(), 0..4), name in "[ab]{0,3}") {
        let object = config_map(&name);
        let listed = trees.iter().fold(Engine::builder().renderer(memory(vec![object.clone()])), |builder, tree| builder.filter(tree.filter()));
        let listed = listed.build().unwrap().render(Default::default()).ok().map(|rendered| rendered.objects.len() == 1);
        prop_assert_eq!(listed, keeps(&filter::and(trees.iter().map(Tree::filter)), &object).ok());
    }

    #[test]
    fn jq_gives_back_what_it_does_not_touch(object in objects()) {
        let before = object.to_value();
        for expression in [".", ".new = 1 | del(.new)", "walk(.)", "map_values(.)", "with_entries(.)", "[.][0]", ". + {}"] {
            let program = Program::compile(expression).unwrap();
            let after = program.run_object(&object, &Cancel::new()).unwrap();
            prop_assert_eq!(after.len(), 1);
            prop_assert_eq!(after[0].to_string(), before.to_string(), "{}", expression);
        }
    }

    #[test]
    fn jq_reads_the_same_lazily_and_eagerly(object in objects()) {
        let value = object.to_value();
        for expression in ["[..]", "[paths]", "keys", "to_entries", "[tostream]", "tojson", "[.[]?]", "[.[] | length?]", "[leaf_paths as $p | getpath($p)]", "map(type)", "[.[] | tostring] | sort"] {
            let program = Program::compile(expression).unwrap();
            prop_assert_eq!(program.run_object(&object, &Cancel::new()), program.run(&value), "{}", expression);
        }
    }

    #[test]
    fn jq_undoes_its_own_streams_and_paths(object in objects()) {
        let whole = object.to_value();
        let run = |expression: &str| Program::compile(expression).unwrap().run_object(&object, &Cancel::new()).unwrap();
        prop_assert_eq!(run("fromstream(tostream) == ."), vec![json!(true)]);
        prop_assert_eq!(run("(tojson | fromjson) == ."), vec![json!(true)]);
        prop_assert_eq!(run(". as $d | reduce leaf_paths as $p (.; setpath($p; $d | getpath($p))) | . == $d"), vec![json!(true)]);
        prop_assert_eq!(run("delpaths([paths]) | length"), vec![json!(0)], "{}", whole);
    }

    #[test]
    fn any_text_is_compiled_or_refused(text in "[a-z.|\\[\\](){}\"$@: 0-9=,;]{0,30}") {
        if let Ok(program) = Program::builder(text).limits(podsmith_engine::jq::Limits { steps: 10_000, values: 10_000 }).compile() {
            let _ = program.run(&json!({"a": [1, {"b": "x"}]}));
        }
    }

    #[test]
    fn the_content_hash_does_not_change_when_it_is_written_down(object in objects()) {
        let mut marked = object.clone();
        hash::annotate(&mut marked);
        prop_assert_eq!(marked.annotation("podsmith.dev/content.hash").map(str::to_owned), Some(hash::content_hash(&marked)));
    }

    #[test]
    fn the_apply_order_is_total_and_sorting_again_changes_nothing(kinds in prop::collection::vec("(Service|Pod|Secret|Zebra|Namespace)", 0..12)) {
        use podsmith_engine::{Context, Scopes, Warnings};
        let (cancel, warnings, scopes) = (Cancel::new(), Warnings::new(), Scopes::new());
        let context = Context::new(&cancel, &warnings, &scopes);
        let objects: Vec<Object> = kinds.iter().enumerate().map(|(index, kind)| {
            raw(json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": format!("n{}", index % 3)}}))
        }).collect();
        let once = ApplyOrder::new().process(objects, &context).unwrap();
        let twice = ApplyOrder::new().process(once.clone(), &context).unwrap();
        prop_assert_eq!(once, twice);
    }
}

fn memory(objects: Vec<Object>) -> impl podsmith_engine::Renderer + 'static {
    move |_: &RenderCall<'_>| objects.clone()
}

/// One renderer of a random run.
#[derive(Clone, Debug)]
struct Plan {
    objects: usize,
    /// How often to give the processor away before it is done, so that renderers end in any order.
    delay: usize,
    fails: bool,
}

fn plans() -> impl Strategy<Value = Vec<Plan>> {
    let plan = (0_usize..5, 0_usize..40, prop::bool::weighted(0.1));
    prop::collection::vec(plan.prop_map(|(objects, delay, fails)| Plan { objects, delay, fails }), 0..8)
}

fn build(plans: &[Plan], threads: usize) -> Engine {
    let add = |builder: EngineBuilder, (index, plan): (usize, &Plan)| {
        let plan = plan.clone();
        builder.renderer(named(format!("r{index}"), move |call: &RenderCall<'_>| {
            for _ in 0..plan.delay {
                std::thread::yield_now();
                call.check()?;
            }
            call.warn(podsmith_object::Diagnostic::warning(format!("warning of {index}")));
            match plan.fails {
                true => Err(podsmith_engine::RenderError::new(format!("failure of {index}"))),
                false => {
                    Ok((0..plan.objects).map(|number| config_map(&format!("o{index}-{number}"))).collect())
                }
            }
        }))
    };
    plans
        .iter()
        .enumerate()
        .fold(Engine::builder().parallelism(threads), add)
        .filter(filter::not(filter::name::suffix("-2")))
        .transformer(transformer::name::prefix("p-"))
        .build()
        .unwrap()
}

/// Everything that can be observed of a render.
fn outcome(engine: &Engine) -> Result<(Vec<Object>, Vec<String>), (String, String)> {
    match engine.render(Default::default()) {
        Ok(rendered) => Ok((rendered.objects, rendered.warnings.iter().map(ToString::to_string).collect())),
        Err(error) => Err((error.to_string(), error.cause().to_string())),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn parallel_equals_sequential(plans in plans(), threads in 2_usize..6) {
        let sequential = outcome(&build(&plans, 1));
        let parallel = build(&plans, threads);
        prop_assert_eq!(outcome(&parallel), sequential.clone());

        let mut streamed = Vec::new();
        let result = parallel.render_each(Default::default(), |object| { streamed.push(object); Ok(()) });
        match sequential {
            Ok((objects, _)) => prop_assert_eq!(streamed, objects),
            Err((message, _)) => prop_assert_eq!(result.unwrap_err().to_string(), message),
        }
    }
}
