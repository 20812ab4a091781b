//! Which links' packets are captured, and how much of each packet.

use longhaul_plan::Plan;

/// What a capture adds to each packet in its file, in bytes: the block around it.
const BLOCK_BYTES: u64 = 32;

/// The links of a network that are captured now.
pub struct CapturedLinks(Vec<Option<Settings>>);

#[derive(Clone, Copy, Debug)]
struct Settings {
    snaplen: usize,
    /// Bytes that the files of the link may still grow by; `None`: as many as there are.
    left_bytes: Option<u64>,
    /// Whether the scenario asked for it: then it lasts as long as the run.
    is_planned: bool,
}

impl CapturedLinks {
    /// Those that the scenario captures.
    pub fn of(plan: &Plan) -> Self {
        let planned = Settings { snaplen: plan.measure.snaplen as usize, left_bytes: None, is_planned: true };
        let captured = |link| plan.measure.captures.contains(&link).then_some(planned);
        CapturedLinks((0..plan.links.len()).map(captured).collect())
    }

    /// Captures a link from now on, until its files have grown by `limit_bytes`. Returns false if it is captured already.
    pub fn begin(&mut self, link: usize, snaplen: u32, limit_bytes: u64) -> bool {
        let is_new = self.0[link].is_none();
        let requested =
            Settings { snaplen: snaplen as usize, left_bytes: Some(limit_bytes), is_planned: false };
        self.0[link].get_or_insert(requested);
        is_new
    }

    /// Ends a capture that began while the run was running; those of the scenario continue. Returns whether it ended.
    pub fn end(&mut self, link: usize) -> bool {
        let ends = self.0[link].is_some_and(|there| !there.is_planned);
        if ends {
            self.0[link] = None;
        }
        ends
    }

    /// The links that are captured, in order.
    pub fn captured(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().filter_map(|(link, there)| there.is_some().then_some(link))
    }

    /// How many bytes of each packet of the link are kept; `None` if it is not captured.
    #[inline]
    pub fn snaplen(&self, link: usize) -> Option<usize> {
        self.0[link].as_ref().map(|there| there.snaplen)
    }

    /// Counts a packet of which `bytes` are kept. Returns whether the capture ended with it, at its limit.
    pub fn count(&mut self, link: usize, bytes: usize) -> bool {
        let Some(left_bytes) = self.0[link].as_mut().and_then(|there| there.left_bytes.as_mut()) else {
            return false;
        };
        *left_bytes = left_bytes.saturating_sub(bytes as u64 + BLOCK_BYTES);
        if *left_bytes > 0 {
            return false;
        }
        self.0[link] = None;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_planned_of_two() -> CapturedLinks {
        let planned = Settings { snaplen: 96, left_bytes: None, is_planned: true };
        CapturedLinks(vec![Some(planned), None])
    }

    #[test]
    fn a_capture_of_the_scenario_keeps_its_snaplen_and_does_not_end() {
        let mut links = one_planned_of_two();
        assert!(!links.begin(0, 1_500, 1_000));
        assert!(!links.count(0, 1_000_000));
        assert!(!links.end(0));
        assert_eq!(links.snaplen(0), Some(96));
    }

    #[test]
    fn a_capture_ends_at_its_limit() {
        let mut links = one_planned_of_two();
        assert!(links.begin(1, 64, 2 * (64 + BLOCK_BYTES)));
        assert!(!links.count(1, 64));
        assert!(links.captured().eq([0, 1]));
        assert!(links.count(1, 64));
        assert!(links.captured().eq([0]));
        assert_eq!(links.snaplen(1), None);
        assert!(!links.end(1));
    }
}
