#![expect(clippy::print_stderr, reason = "a test that is left out says so")]

use super::*;
use longhaul_bpf_cc::NAMES;

fn available() -> Vec<String> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap();
    text.split_whitespace().map(ToOwned::to_owned).collect()
}

/// Whether this process may load algorithms: root's may, from Linux 6.4 on. Says so if it may not.
fn may_load() -> bool {
    let release = nix::sys::utsname::uname().unwrap().release().to_string_lossy().into_owned();
    let parts: Vec<u32> = release.split(['.', '-']).map_while(|part| part.parse().ok()).take(2).collect();
    let forbidden = try_loading("scalable").is_err_and(|error| error.to_string().contains("only root"));
    let may = !forbidden && parts >= vec![6, 4] && Loader::new().is_ok();
    if !may {
        eprintln!(
            "SKIPPED: algorithms are loaded by root, on Linux 6.4 or later with BTF; this is {release}"
        );
    }
    may
}

#[test]
fn an_algorithm_is_registered_while_its_link_is_held() {
    if !may_load() {
        return;
    }
    let loader = Loader::new().unwrap();
    for (place, name) in NAMES.iter().enumerate() {
        let kernel_name = format!("lt{place}_{}", std::process::id());
        let algorithm = loader.load(&AlgorithmSettings::named(name).unwrap(), &kernel_name).unwrap();
        assert!(available().contains(&kernel_name), "{name}");
        let again = loader.load(&AlgorithmSettings::named(name).unwrap(), &kernel_name).unwrap_err();
        assert!(again.to_string().contains("has a congestion control of this name"), "{again}");
        drop(algorithm);
        // Another test may fork at this moment, and its child holds what is open until it becomes a program.
        let gone = (0..100).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            !available().contains(&kernel_name)
        });
        assert!(gone, "{name}");
    }
}

#[test]
fn a_name_that_is_too_long_and_an_unknown_algorithm_are_refused() {
    let Ok(loader) = Loader::new() else {
        eprintln!("SKIPPED: no {KERNEL_TYPES}");
        return;
    };
    let settings = AlgorithmSettings::named("bic").unwrap();
    let error = loader.load(&settings, "sixteen_letters_").unwrap_err();
    assert!(error.to_string().contains("1 to 15 bytes"), "{error}");
    let error = loader.load(&AlgorithmSettings::named("vegas").unwrap(), "vegas_1").unwrap_err();
    assert!(error.to_string().contains("choose one of scalable"), "{error}");
}
