//! ConfigMaps and Secrets.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use podsmith_object::Map;
use podsmith_object::files::join;

use super::{Builder, Common};

impl<'u> Builder<'_, 'u> {
    pub(super) fn config(&mut self, common: &Common<'_, 'u>) {
        let mut text = common.block.map("data").cloned().unwrap_or_default();
        let mut binary = Map::new();
        for (key, bytes) in self.files(common) {
            match String::from_utf8(bytes) {
                Ok(content) => text.insert(key, content.into()),
                Err(error) => binary.insert(key, STANDARD.encode(error.as_bytes()).into()),
            };
        }
        let mut object = common.object("v1", "ConfigMap", common.metadata(&common.name, false));
        object.put_map("data", text);
        object.put_map("binaryData", binary);
        object.put_some("immutable", common.block.flag("immutable"));
        self.push(&common.origin, object);
    }

    pub(super) fn secret(&mut self, common: &Common<'_, 'u>) {
        let mut data = Map::new();
        for (key, value) in common.block.map("data").into_iter().flatten() {
            data.insert(key.clone(), STANDARD.encode(value.as_str().unwrap_or_default()).into());
        }
        for (key, bytes) in self.files(common) {
            data.insert(key, STANDARD.encode(bytes).into());
        }
        let mut object = common.object("v1", "Secret", common.metadata(&common.name, false));
        object.put("type", common.block.text("type").unwrap_or("Opaque"));
        object.put_map("data", data);
        object.put_some("immutable", common.block.flag("immutable"));
        self.push(&common.origin, object);
    }

    fn files(&mut self, common: &Common<'_, 'u>) -> Vec<(String, Vec<u8>)> {
        let block = common.block;
        let mut out = Vec::new();
        for (key, path) in block.map("files").into_iter().flatten() {
            let path: &str = path.as_str().unwrap_or_default();
            let inside = if path.starts_with('/') { None } else { join(&block.file.directory, path) };
            match inside.map(|inside| self.unit.tree.read(&inside)) {
                Some(Ok(bytes)) => out.push((key.clone(), bytes)),
                Some(Err(error)) => self.problem(block, "files", format!("`{path}` cannot be read: {error}")),
                None => {
                    self.problem(block, "files", format!("`{path}` leaves the directory that may be read"))
                }
            }
        }
        out
    }
}
