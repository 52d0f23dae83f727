//! Any text either is a pipeline or is refused with at least one message.
#![no_main]

use libfuzzer_sys::fuzz_target;
use podsmith::pipeline::Pipeline;

fuzz_target!(|text: &str| {
    if let Err(problems) = Pipeline::parse("podsmith.yaml", text) {
        assert!(!problems.to_string().is_empty());
    }
});
