//! The `pod` block and everything in it.

use super::Type::{
    Amount, Any, Bool, Environment, Integer, OneOf, Port, PortOrName, Quantity, Text, TextList, TextMap,
};
use super::top::{OBJECT, REPEAT};
use super::{Attribute, BlockType, BodyType, Times, optional, required};

/// What a container has, whether it is the pod's own or an extra one.
const CONTAINER: &[Attribute] = &[
    optional("tag", Text, "appended to the image as :tag"),
    optional("command", TextList, "replaces the image's entry point"),
    optional("arguments", TextList, "replaces the image's arguments"),
    optional("working_dir", Text, "directory the process starts in"),
    optional("image_pull_policy", OneOf(&["Always", "IfNotPresent", "Never"]), "when to pull the image"),
    optional("pre_stop", TextList, "command to run before the container is stopped"),
    optional("post_start", TextList, "command to run after the container has started"),
    optional("tty", Bool, "give the process a terminal"),
    optional("stdin", Bool, "keep standard input open"),
];

const CONTAINER_BLOCKS: &[BlockType] = &[
    BlockType {
        name: "environment",
        label: None,
        times: Times::Once,
        body: &ENVIRONMENT,
        about: "environment variables; each attribute is one",
    },
    BlockType {
        name: "resource",
        label: Some("name"),
        times: Times::Many,
        body: &RESOURCE,
        about: "requests and limits of cpu, memory or any other resource",
    },
    BlockType {
        name: "volume",
        label: Some("name"),
        times: Times::Many,
        body: &VOLUME,
        about: "storage of this pod alone",
    },
    BlockType {
        name: "shared_volume",
        label: Some("volume_id"),
        times: Times::Many,
        body: &MOUNT,
        about: "mounts a shared volume",
    },
    BlockType {
        name: "mount",
        label: Some("volume"),
        times: Times::Many,
        body: &MOUNT,
        about: "mounts a volume that another container of the pod declares",
    },
    BlockType {
        name: "scratch",
        label: Some("name"),
        times: Times::Many,
        body: &SCRATCH,
        about: "a directory that lives as long as the pod",
    },
    BlockType {
        name: "host_path",
        label: Some("name"),
        times: Times::Many,
        body: &HOST_PATH,
        about: "a directory of the node",
    },
    BlockType {
        name: "config",
        label: Some("name"),
        times: Times::Many,
        body: &USE,
        about: "mounts a config, or makes its keys environment variables",
    },
    BlockType {
        name: "secret",
        label: Some("name"),
        times: Times::Many,
        body: &USE,
        about: "mounts a secret, or makes its keys environment variables",
    },
    BlockType {
        name: "probe",
        label: Some("readiness, liveness or startup"),
        times: Times::Many,
        body: &PROBE,
        about: "how to tell whether the container works",
    },
    BlockType {
        name: "security",
        label: None,
        times: Times::Once,
        body: &SECURITY,
        about: "user, privileges and capabilities",
    },
];

/// A pod.
pub(crate) static POD: BodyType = BodyType {
    attributes: &[
        OBJECT,
        REPEAT,
        &[optional("image", Text, "image reference")],
        CONTAINER,
        &[
            optional(
                "kind",
                OneOf(&["statefulset", "deployment", "daemonset", "job", "cronjob"]),
                "what keeps the pod running; default: statefulset",
            ),
            optional("replicas", Integer, "how many pods; default: 1"),
            optional("pod_labels", TextMap, "labels on the pods only"),
            optional("pod_annotations", TextMap, "annotations on the pods only"),
            optional("service_account", Text, "account the pods run as"),
            optional("automount_service_account_token", Bool, "whether the pods get the account's token"),
            optional("image_pull_secrets", TextList, "names of Secrets with registry logins"),
            optional("node_selector", TextMap, "labels a node must have"),
            optional("affinity", Any, "affinity rules, as in Kubernetes"),
            optional("priority_class", Text, "priority class of the pods"),
            optional("runtime_class", Text, "runtime class of the pods"),
            optional("termination_grace_period", Integer, "seconds a pod has to stop"),
            optional("host_network", Bool, "use the node's network"),
            optional(
                "dns_policy",
                OneOf(&["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"]),
                "how names are resolved",
            ),
            optional("hostname", Text, "host name inside the pod"),
            optional(
                "restart_policy",
                OneOf(&["Always", "OnFailure", "Never"]),
                "when containers are started again",
            ),
            optional("strategy", OneOf(&["rolling", "recreate", "on_delete"]), "how changes replace pods"),
            optional("max_surge", Amount, "pods above the wanted number during a change"),
            optional("max_unavailable", Amount, "pods below the wanted number during a change"),
            optional("min_ready_seconds", Integer, "how long a pod must be ready to count"),
            optional("revision_history", Integer, "how many old revisions to keep"),
            optional("pod_management", OneOf(&["ordered", "parallel"]), "order of the pods of a statefulset"),
            optional("schedule", Text, "cron expression of a cronjob"),
            optional("time_zone", Text, "time zone of the schedule"),
            optional("suspend", Bool, "do not run the job for now"),
            optional(
                "concurrency",
                OneOf(&["Allow", "Forbid", "Replace"]),
                "what to do when the last run has not ended",
            ),
            optional("starting_deadline", Integer, "seconds a run may start late"),
            optional("successful_history", Integer, "how many finished runs to keep"),
            optional("failed_history", Integer, "how many failed runs to keep"),
            optional("backoff_limit", Integer, "how often a job tries again"),
            optional("completions", Integer, "how many pods of a job must succeed"),
            optional("parallelism", Integer, "how many pods of a job run at once"),
            optional("active_deadline", Integer, "seconds a job may take"),
            optional("ttl_after_finished", Integer, "seconds to keep a finished job"),
            optional("pod_spec", Any, "more fields of the pod's spec, as in Kubernetes; merged last"),
        ],
    ],
    blocks: &[
        CONTAINER_BLOCKS,
        &[
            BlockType {
                name: "service",
                label: Some("name"),
                times: Times::Many,
                body: &SERVICE,
                about: "a port others can reach",
            },
            BlockType {
                name: "container",
                label: Some("name"),
                times: Times::Many,
                body: &EXTRA,
                about: "one more container",
            },
            BlockType {
                name: "init_container",
                label: Some("name"),
                times: Times::Many,
                body: &EXTRA,
                about: "a container that must end before the others start",
            },
            BlockType {
                name: "toleration",
                label: None,
                times: Times::Many,
                body: &TOLERATION,
                about: "a taint the pods accept",
            },
            BlockType {
                name: "spread",
                label: Some("topology_key"),
                times: Times::Many,
                body: &SPREAD,
                about: "spread the pods over zones or nodes",
            },
            BlockType {
                name: "autoscaling",
                label: None,
                times: Times::Once,
                body: &AUTOSCALING,
                about: "let the load decide how many pods run",
            },
            BlockType {
                name: "disruption_budget",
                label: None,
                times: Times::Once,
                body: &BUDGET,
                about: "how many pods may be away at once",
            },
            BlockType {
                name: "network_policy",
                label: None,
                times: Times::Once,
                body: &POLICY,
                about: "who may talk to the pods; everything else is refused",
            },
        ],
    ],
    free: None,
};

static EXTRA: BodyType = BodyType {
    attributes: &[
        &[required("image", Text, "image reference")],
        CONTAINER,
        &[
            optional("port", Port, "port the container listens on"),
            optional("sidecar", Bool, "an init container that keeps running beside the others"),
        ],
    ],
    blocks: &[CONTAINER_BLOCKS],
    free: None,
};

static ENVIRONMENT: BodyType = BodyType { attributes: &[], blocks: &[], free: Some(Environment) };

static RESOURCE: BodyType = BodyType {
    attributes: &[&[
        optional("requests", Quantity, "what the pod is given at least"),
        optional("limits", Quantity, "what the pod may use at most"),
    ]],
    blocks: &[],
    free: None,
};

const MOUNT_OPTIONS: &[Attribute] = &[
    optional("read_only", Bool, "mount it read-only"),
    optional("sub_path", Text, "mount only this path of the volume"),
];

static VOLUME: BodyType = BodyType {
    attributes: &[
        &[
            required("size", Quantity, "how much storage to ask for"),
            required("mount_path", Text, "where the container sees it"),
            optional("class", Text, "storage class; default: the cluster's default class"),
            optional(
                "access",
                OneOf(&["ReadWriteOnce", "ReadWriteMany", "ReadOnlyMany", "ReadWriteOncePod"]),
                "access mode; default: ReadWriteOnce",
            ),
        ],
        MOUNT_OPTIONS,
    ],
    blocks: &[],
    free: None,
};

static MOUNT: BodyType = BodyType {
    attributes: &[&[required("mount_path", Text, "where the container sees it")], MOUNT_OPTIONS],
    blocks: &[],
    free: None,
};

static SCRATCH: BodyType = BodyType {
    attributes: &[
        &[
            required("mount_path", Text, "where the container sees it"),
            optional("size", Quantity, "the most it may hold"),
            optional("memory", Bool, "keep it in memory"),
        ],
        MOUNT_OPTIONS,
    ],
    blocks: &[],
    free: None,
};

static HOST_PATH: BodyType = BodyType {
    attributes: &[
        &[
            required("path", Text, "directory of the node"),
            required("mount_path", Text, "where the container sees it"),
            optional("type", Text, "what must be there: Directory, DirectoryOrCreate, File, Socket, …"),
        ],
        MOUNT_OPTIONS,
    ],
    blocks: &[],
    free: None,
};

static USE: BodyType = BodyType {
    attributes: &[
        &[
            optional("mount_path", Text, "where the container sees the keys as files"),
            optional("key", Text, "mount only this key, as the file mount_path"),
            optional("items", TextMap, "mount only these keys; the value is the file name"),
            optional("mode", Text, "permissions of the files, such as 0400"),
            optional("environment", Bool, "make every key an environment variable"),
            optional("prefix", Text, "put this in front of the names of the variables"),
            optional("optional", Bool, "start the pod even when it does not exist"),
        ],
        MOUNT_OPTIONS,
    ],
    blocks: &[],
    free: None,
};

static PROBE: BodyType = BodyType {
    attributes: &[&[
        optional("initial_delay", Integer, "seconds before the first check"),
        optional("period", Integer, "seconds between checks"),
        optional("timeout", Integer, "seconds a check may take"),
        optional("success_threshold", Integer, "good checks in a row to count as working"),
        optional("failure_threshold", Integer, "bad checks in a row to count as broken"),
        optional("grace_period", Integer, "seconds the container has to stop after it failed"),
    ]],
    blocks: &[&[
        BlockType {
            name: "http",
            label: None,
            times: Times::Once,
            body: &HTTP,
            about: "asks an HTTP server",
        },
        BlockType { name: "tcp", label: None, times: Times::Once, body: &TCP, about: "opens a connection" },
        BlockType {
            name: "exec",
            label: None,
            times: Times::Once,
            body: &EXEC,
            about: "runs a command in the container",
        },
        BlockType {
            name: "grpc",
            label: None,
            times: Times::Once,
            body: &GRPC,
            about: "asks a gRPC health service",
        },
    ]],
    free: None,
};

static HTTP: BodyType = BodyType {
    attributes: &[&[
        required("port", PortOrName, "port to ask"),
        optional("path", Text, "path to ask; default: /"),
        optional("scheme", OneOf(&["HTTP", "HTTPS"]), "protocol; default: HTTP"),
        optional("host", Text, "host name to ask for"),
        optional("headers", TextMap, "headers to send"),
    ]],
    blocks: &[],
    free: None,
};

static TCP: BodyType =
    BodyType { attributes: &[&[required("port", PortOrName, "port to open")]], blocks: &[], free: None };

static EXEC: BodyType =
    BodyType { attributes: &[&[required("command", TextList, "command to run")]], blocks: &[], free: None };

static GRPC: BodyType = BodyType {
    attributes: &[&[
        required("port", Port, "port to ask"),
        optional("service", Text, "service to ask about"),
    ]],
    blocks: &[],
    free: None,
};

static SECURITY: BodyType = BodyType {
    attributes: &[&[
        optional("run_as_user", Integer, "user id of the process"),
        optional("run_as_group", Integer, "group id of the process"),
        optional("run_as_non_root", Bool, "refuse to run as root"),
        optional("fs_group", Integer, "group that owns the volumes; for the whole pod"),
        optional("read_only_root", Bool, "make the root file system read-only"),
        optional("privileged", Bool, "give every privilege of the node"),
        optional("allow_escalation", Bool, "whether a process may gain privileges"),
        optional("add_capabilities", TextList, "Linux capabilities to add"),
        optional("drop_capabilities", TextList, "Linux capabilities to drop"),
        optional("seccomp", OneOf(&["RuntimeDefault", "Unconfined"]), "system call filter"),
        optional("sysctls", TextMap, "kernel settings; for the whole pod"),
    ]],
    blocks: &[],
    free: None,
};

static SERVICE: BodyType = BodyType {
    attributes: &[&[
        optional("port", Port, "port others use; needed unless type is ExternalName"),
        optional("target_port", Port, "port the container listens on; default: port"),
        optional("protocol", OneOf(&["tcp", "udp", "sctp"]), "default: tcp"),
        optional(
            "type",
            OneOf(&["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"]),
            "default: ClusterIP",
        ),
        optional("node_port", Port, "port on every node"),
        optional("headless", Bool, "no address of its own; names lead straight to the pods"),
        optional("external_name", Text, "host name an ExternalName service stands for"),
        optional("load_balancer_class", Text, "which load balancer serves it"),
        optional("external_traffic", OneOf(&["Cluster", "Local"]), "whether traffic may cross nodes"),
        optional("session_affinity", Bool, "keep a client at one pod"),
        optional("app_protocol", Text, "protocol spoken on the port"),
        optional("labels", TextMap, "labels of the Service"),
        optional("annotations", TextMap, "annotations of the Service"),
    ]],
    blocks: &[&[BlockType {
        name: "ingress",
        label: None,
        times: Times::Once,
        body: &INGRESS,
        about: "a host name for the service",
    }]],
    free: None,
};

static INGRESS: BodyType = BodyType {
    attributes: &[&[
        required("hostname", Text, "host name"),
        optional("hostnames", TextList, "more host names"),
        optional("path", Text, "path prefix; default: /"),
        optional("path_type", OneOf(&["Prefix", "Exact", "ImplementationSpecific"]), "default: Prefix"),
        optional("ingress_class", Text, "default: the cluster's default class"),
        optional("tls", Bool, "serve HTTPS; default: false"),
        optional("cluster_issuer", Text, "cert-manager issuer; default: the cluster's default issuer"),
        optional("tls_secret", Text, "Secret with the certificate; with it no issuer is needed"),
        optional("labels", TextMap, "labels of the Ingress"),
        optional("annotations", TextMap, "annotations of the Ingress"),
    ]],
    blocks: &[&[BlockType {
        name: "annotation",
        label: Some("key"),
        times: Times::Many,
        body: &ANNOTATION,
        about: "one annotation of the Ingress",
    }]],
    free: None,
};

static ANNOTATION: BodyType = BodyType {
    attributes: &[&[required("value", Text, "value of the annotation")]],
    blocks: &[],
    free: None,
};

static TOLERATION: BodyType = BodyType {
    attributes: &[&[
        optional("key", Text, "key of the taint; none means every taint"),
        optional("operator", OneOf(&["Exists", "Equal"]), "default: Equal with a value, else Exists"),
        optional("value", Text, "value of the taint"),
        optional(
            "effect",
            OneOf(&["NoSchedule", "PreferNoSchedule", "NoExecute"]),
            "effect of the taint; none means every effect",
        ),
        optional("seconds", Integer, "how long to stay on a node that got the taint"),
    ]],
    blocks: &[],
    free: None,
};

static SPREAD: BodyType = BodyType {
    attributes: &[&[
        optional("max_skew", Integer, "the largest difference allowed; default: 1"),
        optional("required", Bool, "do not start pods that would break the rule; default: false"),
    ]],
    blocks: &[],
    free: None,
};

static AUTOSCALING: BodyType = BodyType {
    attributes: &[&[
        optional("min", Integer, "fewest pods; default: 1"),
        required("max", Integer, "most pods"),
        optional("cpu", Integer, "wanted CPU use, in percent of the request"),
        optional("memory", Integer, "wanted memory use, in percent of the request"),
        optional("behavior", Any, "how fast to grow and shrink, as in Kubernetes"),
    ]],
    blocks: &[],
    free: None,
};

static BUDGET: BodyType = BodyType {
    attributes: &[&[
        optional("min_available", Amount, "fewest pods that must stay"),
        optional("max_unavailable", Amount, "most pods that may be away"),
    ]],
    blocks: &[],
    free: None,
};

static POLICY: BodyType = BodyType {
    attributes: &[],
    blocks: &[&[
        BlockType {
            name: "ingress",
            label: None,
            times: Times::Many,
            body: &PEER,
            about: "traffic the pods accept",
        },
        BlockType {
            name: "egress",
            label: None,
            times: Times::Many,
            body: &PEER,
            about: "traffic the pods may send",
        },
    ]],
    free: None,
};

static PEER: BodyType = BodyType {
    attributes: &[&[
        optional("pods", TextList, "ids of pods of this package"),
        optional("pod_labels", TextMap, "pods with these labels"),
        optional("namespaces", TextList, "pods of these namespaces"),
        optional("namespace_labels", TextMap, "pods of namespaces with these labels"),
        optional("cidr", TextList, "address ranges"),
        optional("except", TextList, "parts of the address ranges that are left out"),
        optional("ports", TextList, "ports, such as 80 or 53/udp; none means every port"),
    ]],
    blocks: &[],
    free: None,
};
