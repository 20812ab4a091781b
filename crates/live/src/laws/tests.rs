use super::*;
use longhaul_kernel_laws::NAMES;

fn available() -> Vec<String> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap();
    text.split_whitespace().map(ToOwned::to_owned).collect()
}

/// Whether this process may load laws; says so if it may not.
fn may_load() -> bool {
    let settings = Settings::named("scalable").unwrap();
    let found = Teacher::new().and_then(|teacher| teacher.load(&settings, "longhaul_try_me").map(drop));
    if let Err(error) = &found {
        eprintln!("SKIPPED: {error}");
    }
    found.is_ok()
}

#[test]
fn the_kernel_knows_each_law_while_it_is_held_and_no_longer() {
    if !may_load() {
        return;
    }
    let teacher = Teacher::new().unwrap();
    for (place, name) in NAMES.iter().enumerate() {
        let kernel_name = format!("lt{place}_{}", std::process::id());
        let law = teacher.load(&Settings::named(name).unwrap(), &kernel_name).unwrap();
        assert!(available().contains(&kernel_name), "{name}");
        let again = teacher.load(&Settings::named(name).unwrap(), &kernel_name).unwrap_err();
        assert!(again.to_string().contains("has a congestion control of this name"), "{again}");
        drop(law);
        assert!(!available().contains(&kernel_name), "{name}");
    }
}

#[test]
fn a_name_that_is_too_long_and_a_law_that_kernels_do_not_have_are_refused() {
    let Ok(teacher) = Teacher::new() else {
        eprintln!("SKIPPED: no {KERNEL_TYPES}");
        return;
    };
    let settings = Settings::named("bic").unwrap();
    let error = teacher.load(&settings, "sixteen_letters_").unwrap_err();
    assert!(error.to_string().contains("1 to 15 bytes"), "{error}");
    let error = teacher.load(&Settings::named("vegas").unwrap(), "vegas_1").unwrap_err();
    assert!(error.to_string().contains("take one of scalable"), "{error}");
}
