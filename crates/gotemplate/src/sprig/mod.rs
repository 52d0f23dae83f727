//! The functions of Sprig, as Helm ships them.

mod cases;
mod certificates;
mod crypto;
mod dates;
mod decimal;
mod defaults;
mod dicts;
mod keys;
mod lists;
mod merge;
mod numbers;
mod paths;
mod regexes;
mod strings;
mod time;
mod urls;
mod versions;

pub(crate) use dates::time_from_toml;

use crate::args;
use crate::function::Functions;

/// Adds them.
pub(crate) fn install(functions: &mut Functions) {
    for table in [
        strings::TABLE,
        numbers::TABLE,
        lists::TABLE,
        dicts::TABLE,
        defaults::TABLE,
        dates::TABLE,
        paths::TABLE,
        urls::TABLE,
        regexes::TABLE,
        versions::TABLE,
        crypto::TABLE,
        certificates::TABLE,
    ] {
        args::install(functions, table);
    }
}
