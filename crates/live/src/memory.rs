//! The memory limit of a run: what its supervisor, engine and observer may use together.

use crate::run_record::Ending;
use nix::unistd::{SysconfVar, sysconf};

/// Time between two checks.
const INTERVAL_NS: u64 = 200_000_000;
const REMEDY: &str = "shorten queues, delays or the duration, or raise --memory";

/// Compares the memory of processes with a limit, a few times a second.
#[derive(Debug)]
pub struct MemoryLimit {
    limit_bytes: Option<u64>,
    next_ns: u64,
}

impl MemoryLimit {
    /// A limit on the sum over processes, in bytes; `None`: there is no limit.
    pub fn new(limit_bytes: Option<u64>) -> Self {
        MemoryLimit { limit_bytes, next_ns: 0 }
    }

    /// When [`MemoryLimit::exceeded`] checks next, on the clock of its calls, in nanoseconds; `None` without a limit.
    pub fn next_check_ns(&self) -> Option<u64> {
        self.limit_bytes.map(|_| self.next_ns)
    }

    /// The ending of a run whose processes `pids` use more than the limit, if a check is due and they do.
    pub fn exceeded(&mut self, now_ns: u64, pids: impl IntoIterator<Item = libc::pid_t>) -> Option<Ending> {
        let limit_bytes = self.limit_bytes?;
        if now_ns < self.next_ns {
            return None;
        }
        self.next_ns = now_ns + INTERVAL_NS;
        let used_bytes: u64 = pids.into_iter().map(resident_bytes).sum();
        (used_bytes > limit_bytes).then(|| {
            let reason = format!(
                "the run ended early: it used {} of memory; its limit is {}",
                bytes_text(used_bytes),
                bytes_text(limit_bytes)
            );
            Ending { remedy: Some(REMEDY.into()), has_results: true, ..Ending::new("failed", reason) }
        })
    }
}

/// The resident memory of a process without pages of files, in bytes; 0 if there is no such process.
fn resident_bytes(pid: libc::pid_t) -> u64 {
    // Fields of proc_pid_statm(5): size, resident, shared, in pages.
    let text = std::fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
    let mut pages = text.split_whitespace().skip(1).map_while(|field| field.parse::<u64>().ok());
    let (resident, shared) = (pages.next().unwrap_or(0), pages.next().unwrap_or(0));
    let page_bytes =
        sysconf(SysconfVar::PAGE_SIZE).ok().flatten().and_then(|bytes| u64::try_from(bytes).ok());
    resident.saturating_sub(shared) * page_bytes.unwrap_or(4096)
}

/// `2.34 GB`: three digits, in the largest decimal unit of which there is one.
fn bytes_text(bytes: u64) -> String {
    const UNITS: [(f64, &str); 4] = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let bytes = bytes as f64;
    // 999.7 is 1 of the next unit after rounding.
    let (factor, unit) = UNITS.into_iter().find(|(factor, _)| bytes >= 0.9995 * factor).unwrap_or((1.0, "B"));
    let value = bytes / factor;
    let decimals = if value >= 99.95 { 0 } else { 1 + usize::from(value < 9.995) };
    let text = format!("{value:.decimals$}");
    let text = if decimals > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own_pid() -> libc::pid_t {
        std::process::id().try_into().unwrap()
    }

    #[test]
    fn a_process_is_measured_by_its_own_pages() {
        let before = resident_bytes(own_pid());
        let pages = std::hint::black_box(vec![1u8; 64 << 20]);
        let grown = resident_bytes(own_pid()) - before;
        assert!(grown >= 60 << 20, "{grown}");
        drop(pages);
        assert_eq!(resident_bytes(-1), 0);
    }

    #[test]
    fn the_limit_holds_for_the_sum_and_is_checked_at_intervals() {
        let used = resident_bytes(own_pid());
        let mut limit = MemoryLimit::new(Some(used * 3 / 2));
        assert_eq!(limit.next_check_ns(), Some(0));
        assert_eq!(limit.exceeded(0, [own_pid()]), None);
        let both = [own_pid(), own_pid()];
        assert_eq!(limit.exceeded(INTERVAL_NS - 1, both), None, "no check is due");
        let ending = limit.exceeded(INTERVAL_NS, both).unwrap();
        assert!(ending.has_results && ending.status == "failed", "{ending:?}");
        assert_eq!(ending.remedy.as_deref(), Some(REMEDY));
        let mut unlimited = MemoryLimit::new(None);
        assert_eq!((unlimited.next_check_ns(), unlimited.exceeded(0, both)), (None, None));
    }

    #[test]
    fn bytes_have_three_digits() {
        let cases = [
            (40_000_000, "40 MB"),
            (2_345_678_901, "2.35 GB"),
            (999_700_000, "1 GB"),
            (123_456, "123 kB"),
            (12_340, "12.3 kB"),
            (7, "7 B"),
        ];
        for (bytes, text) in cases {
            assert_eq!(bytes_text(bytes), text);
        }
    }
}
