//! The objects are what the sources say.

use std::fs;
use std::path::Path;
use std::process::Command;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/bpf");
/// The compiler whose output they are; others write other instructions.
const COMPILER: &str = "clang version 14.";

#[test]
fn the_objects_were_made_from_these_sources() {
    let checked = Command::new("sha256sum")
        .args(["--check", "--strict", "--quiet", "objects/made-from"])
        .current_dir(FOLDER)
        .status()
        .expect("sha256sum");
    assert!(checked.success(), "run crates/bpf-cc/bpf/build, and commit the objects");
    let named = fs::read_to_string(format!("{FOLDER}/objects/made-from")).unwrap();
    for entry in fs::read_dir(format!("{FOLDER}/core")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(named.contains(&name), "{name}: run crates/bpf-cc/bpf/build");
    }
}

#[test]
fn the_compiler_makes_the_same_objects_again() {
    let version = Command::new("clang").arg("--version").output().map(|said| said.stdout).unwrap_or_default();
    if !String::from_utf8_lossy(&version).contains(COMPILER) {
        eprintln!("SKIPPED: no {COMPILER} here (tools/setup --tests installs it)");
        return;
    }
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("objects-{}", std::process::id()));
    fs::create_dir_all(&out).unwrap();
    let status = Command::new(format!("{FOLDER}/build")).arg(&out).status().unwrap();
    assert!(status.success());
    for entry in fs::read_dir(&out).unwrap() {
        let made = entry.unwrap();
        let committed = Path::new(FOLDER).join("objects").join(made.file_name());
        assert!(fs::read(made.path()).unwrap() == fs::read(committed).unwrap(), "{:?}", made.file_name());
    }
    fs::remove_dir_all(&out).unwrap();
}
