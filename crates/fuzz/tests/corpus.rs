//! Every input of the committed corpus, pieces of it, and random bytes.

use longhaul_fuzz::TARGETS;
use proptest::prelude::*;
use std::fs;
use std::path::Path;

fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut inputs: Vec<_> = fs::read_dir(&place)
        .unwrap_or_else(|error| panic!("{}: {error}", place.display()))
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap()))
        .collect();
    inputs.sort();
    inputs
}

#[test]
fn each_target_has_a_binary_for_cargo_fuzz() {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let manifest = fs::read_to_string(place.join("Cargo.toml")).unwrap();
    for (name, _) in TARGETS {
        assert!(manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\"")), "{name}");
        let binary = fs::read_to_string(place.join(format!("fuzz_targets/{name}.rs"))).unwrap();
        assert!(binary.contains(&format!("longhaul_fuzz::{name}(bytes)")), "{name}");
    }
    assert_eq!(manifest.matches("[[bin]]").count(), TARGETS.len());
}

#[test]
fn no_input_of_the_corpus_is_inconsistent() {
    for (name, target) in TARGETS {
        let inputs = corpus(name);
        assert!(!inputs.is_empty(), "{name} has a corpus");
        for (input, bytes) in inputs {
            let done = std::panic::catch_unwind(|| target(&bytes));
            assert!(done.is_ok(), "fuzz/corpus/{name}/{input}; what it says is above");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_changed_input_is_not_inconsistent(
        which in any::<prop::sample::Index>(),
        input in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        end in any::<prop::sample::Index>(),
    ) {
        let (name, target) = which.get(TARGETS);
        let inputs = corpus(name);
        let mut bytes = input.get(&inputs).1.clone();
        for (place, byte) in changes {
            if !bytes.is_empty() {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
        }
        if end.index(4) == 0 {
            bytes.truncate(end.index(bytes.len() + 1));
        }
        target(&bytes);
    }
}
