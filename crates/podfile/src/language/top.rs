//! The blocks at the top of a file.

use super::Type::{Any, Bool, OneOf, Quantity, Text, TextList, TextMap};
use super::pod::POD;
use super::{Attribute, BlockType, BodyType, Times, optional, required};

/// A whole file.
pub(crate) static FILE: BodyType = BodyType {
    attributes: &[],
    blocks: &[&[
        BlockType {
            name: "podsmith",
            label: None,
            times: Times::Once,
            body: &PACKAGE,
            about: "name and default namespace of the package",
        },
        BlockType {
            name: "podinate",
            label: None,
            times: Times::Once,
            body: &PACKAGE,
            about: "the same as podsmith",
        },
        BlockType { name: "pod", label: Some("id"), times: Times::Many, body: &POD, about: "a workload" },
        BlockType {
            name: "shared_volume",
            label: Some("id"),
            times: Times::Many,
            body: &SHARED_VOLUME,
            about: "storage that several pods mount",
        },
        BlockType {
            name: "config",
            label: Some("name"),
            times: Times::Many,
            body: &CONFIG,
            about: "a ConfigMap",
        },
        BlockType {
            name: "secret",
            label: Some("name"),
            times: Times::Many,
            body: &SECRET,
            about: "a Secret; values are given as plain text and masked in every output",
        },
        BlockType {
            name: "service_account",
            label: Some("name"),
            times: Times::Many,
            body: &SERVICE_ACCOUNT,
            about: "a ServiceAccount, with a Role when it has rules",
        },
        BlockType {
            name: "manifest",
            label: Some("name"),
            times: Times::Many,
            body: &MANIFEST,
            about: "any Kubernetes object",
        },
        BlockType {
            name: "variable",
            label: Some("name"),
            times: Times::Many,
            body: &VARIABLE,
            about: "an input, read as var.NAME",
        },
        BlockType {
            name: "locals",
            label: None,
            times: Times::Many,
            body: &LOCALS,
            about: "named values, read as local.NAME",
        },
        BlockType {
            name: "module",
            label: Some("name"),
            times: Times::Many,
            body: &MODULE,
            about: "the Podfiles of another directory",
        },
        BlockType {
            name: "output",
            label: Some("name"),
            times: Times::Many,
            body: &OUTPUT,
            about: "a value that a module gives to its user",
        },
    ]],
    free: None,
};

static PACKAGE: BodyType = BodyType {
    attributes: &[&[
        required("package", Text, "name of the package"),
        required("namespace", Text, "default namespace of everything in the package"),
    ]],
    blocks: &[],
    free: None,
};

/// Attributes of every block that becomes an object.
pub(super) const OBJECT: &[Attribute] = &[
    optional("namespace", Text, "namespace; default: that of the package"),
    optional("labels", TextMap, "labels on every object made from this block"),
    optional("annotations", TextMap, "annotations on every object made from this block"),
];

/// Attributes of every block that can be repeated.
pub(super) const REPEAT: &[Attribute] = &[
    optional("count", Any, "how many instances to make; count.index tells them apart"),
    optional(
        "for_each",
        Any,
        "an object or list of strings; one instance for each, with each.key and each.value",
    ),
    optional("name", Text, "name of the object; default: the label, with the key of the instance"),
];

static SHARED_VOLUME: BodyType = BodyType {
    attributes: &[
        OBJECT,
        REPEAT,
        &[
            required("size", Quantity, "how much storage to ask for"),
            optional("class", Text, "storage class; default: the cluster's default class"),
            optional(
                "access",
                OneOf(&["ReadWriteOnce", "ReadWriteMany", "ReadOnlyMany", "ReadWriteOncePod"]),
                "access mode; default: ReadWriteOnce",
            ),
        ],
    ],
    blocks: &[],
    free: None,
};

static CONFIG: BodyType = BodyType {
    attributes: &[
        OBJECT,
        REPEAT,
        &[
            optional("data", TextMap, "keys and values"),
            optional("files", TextMap, "keys and the paths of files whose content is the value"),
            optional("immutable", Bool, "whether the server refuses later changes"),
        ],
    ],
    blocks: &[],
    free: None,
};

static SECRET: BodyType = BodyType {
    attributes: &[
        OBJECT,
        REPEAT,
        &[
            optional("data", TextMap, "keys and values as plain text"),
            optional("files", TextMap, "keys and the paths of files whose content is the value"),
            optional("type", Text, "type of the Secret; default: Opaque"),
            optional("immutable", Bool, "whether the server refuses later changes"),
        ],
    ],
    blocks: &[],
    free: None,
};

static SERVICE_ACCOUNT: BodyType = BodyType {
    attributes: &[
        OBJECT,
        REPEAT,
        &[optional("image_pull_secrets", TextList, "names of Secrets with registry logins")],
    ],
    blocks: &[&[BlockType {
        name: "rule",
        label: None,
        times: Times::Many,
        body: &RULE,
        about: "what the account may do in its namespace",
    }]],
    free: None,
};

static RULE: BodyType = BodyType {
    attributes: &[&[
        optional("groups", TextList, "API groups; default: the core group"),
        required("resources", TextList, "resources, in the plural"),
        required("verbs", TextList, "get, list, watch, create, update, patch, delete"),
        optional("names", TextList, "only these objects"),
    ]],
    blocks: &[],
    free: None,
};

static MANIFEST: BodyType = BodyType {
    attributes: &[
        REPEAT_ONLY,
        &[
            optional("object", Any, "the object, as an HCL value"),
            optional("yaml", Text, "one or more objects as YAML text"),
        ],
    ],
    blocks: &[],
    free: None,
};

const REPEAT_ONLY: &[Attribute] = &[
    optional("count", Any, "how many instances to make"),
    optional("for_each", Any, "one instance for each element"),
];

static VARIABLE: BodyType = BodyType {
    attributes: &[&[
        optional(
            "type",
            Any,
            "string, number, bool, list(T), set(T), map(T), object({…}), tuple([…]) or any",
        ),
        optional("default", Any, "value when none is given"),
        optional("description", Text, "what the variable is for"),
        optional("sensitive", Bool, "mask the value wherever it is shown"),
        optional("nullable", Bool, "whether null is allowed; default: true"),
    ]],
    blocks: &[&[BlockType {
        name: "validation",
        label: None,
        times: Times::Many,
        body: &VALIDATION,
        about: "a rule the value must keep",
    }]],
    free: None,
};

static VALIDATION: BodyType = BodyType {
    attributes: &[&[
        required("condition", Any, "true for a good value"),
        required("error_message", Text, "what to tell the user otherwise"),
    ]],
    blocks: &[],
    free: None,
};

static LOCALS: BodyType = BodyType { attributes: &[], blocks: &[], free: Some(Any) };

static MODULE: BodyType = BodyType {
    attributes: &[
        REPEAT_ONLY,
        &[
            required("source", Text, "directory of the module, relative to this file"),
            optional("namespace", Text, "default namespace inside the module"),
        ],
    ],
    blocks: &[],
    free: Some(Any),
};

static OUTPUT: BodyType = BodyType {
    attributes: &[&[
        required("value", Any, "the value"),
        optional("description", Text, "what it is for"),
        optional("sensitive", Bool, "mask the value wherever it is shown"),
    ]],
    blocks: &[],
    free: None,
};
