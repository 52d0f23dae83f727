//! Any bytes either are refused or become objects that survive being written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use podsmith_object::{read_objects, yaml};

fuzz_target!(|bytes: &[u8]| {
    let Ok(objects) = read_objects("fuzz.yaml", bytes) else { return };
    for object in objects {
        let value = object.to_value();
        let text = yaml::to_string(&value);
        let again = yaml::read_value(&text, yaml::ReadOptions::default());
        assert_eq!(again.as_ref(), Ok(&value), "{text}");
    }
});
