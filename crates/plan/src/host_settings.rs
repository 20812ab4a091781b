//! What a host has of its own in a live run, beside its network.

use longhaul_units::InvalidValue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What programs of a host find in place of what the machine has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostSettings {
    /// Its host name; `None`: the name of the node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hostname: Option<String>,
    /// Files in place of the machine's, or beside them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<HostFile>,
    /// CPU time that its programs may use together, in thousandths of a CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_millicores: Option<u64>,
    /// Memory that its programs may use together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// A root directory in place of the machine's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<HostRoot>,
    /// Whether it has its own PID namespace.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pid_namespace: bool,
    /// The user that its programs run as: a name of the host's, or a number; `None`: root of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Capabilities that its programs may have, by their numbers in linux/capability.h; `None`: all that isolation leaves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Vec<u8>>,
}

/// A root directory, which the host finds under a layer of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostRoot {
    /// The directories that overlayfs merges, the topmost first; they are not changed. Empty where an image has yet to
    /// be looked up.
    pub directories: Vec<String>,
    /// The image whose layers they are, if they are such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Whether the run directory keeps what the host writes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep_files: bool,
}

impl HostSettings {
    /// Checks that files have absolute paths, and hashes for names.
    pub(crate) fn check(&self) -> Result<(), InvalidValue> {
        for (position, file) in self.files.iter().enumerate() {
            let wrong =
                |field: &str, what: &str| Err(InvalidValue::new(format!("files[{position}].{field}"), what));
            let mut steps = file.target.split('/');
            if steps.next() != Some("") || steps.any(|step| matches!(step, "" | "." | "..")) {
                return wrong("target", "is not an absolute path in its shortest form");
            }
            if file.sha256.is_empty() || !file.sha256.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                return wrong("sha256", "is not a hash");
            }
        }
        if self.root.as_ref().is_some_and(|root| root.directories.is_empty() && root.image.is_none()) {
            return Err(InvalidValue::new("root", "has no directory"));
        }
        for capability in self.capabilities.iter().flatten() {
            if u32::from(*capability) >= u64::BITS {
                return Err(InvalidValue::new(
                    "capabilities",
                    "names a capability that linux/capability.h does not have",
                ));
            }
        }
        Ok(())
    }
}

/// A file of a host, which programs can read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostFile {
    /// Where the host has it: an absolute path.
    pub target: String,
    /// Its name in the scenario.
    pub source: String,
    /// The SHA-256 of its contents, in hexadecimal digits.
    pub sha256: String,
    /// Whether it is a program.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub executable: bool,
}
