//! Values that follow a list of points of time.

/// Refuses a list of (time in ns, value) that is empty, does not begin at 0, does not ascend, or is
/// longer than its period.
pub(crate) fn check_points(points: &[(u64, u64)], repeat_ns: Option<u64>) -> Result<(), String> {
    let Some(&(first, _)) = points.first() else {
        return Err("points: must hold at least one".into());
    };
    if first != 0 {
        return Err("points: must begin at 0".into());
    }
    if points.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
        return Err("points: times must ascend".into());
    }
    match repeat_ns {
        Some(period) if points.last().is_some_and(|last| period <= last.0) => {
            Err("repeat_ns: must be more than the last time".into())
        }
        _ => Ok(()),
    }
}

/// Refuses a list that descends.
pub(crate) fn sorted<T: PartialOrd>(name: &str, list: &[T]) -> Result<(), String> {
    if list.is_sorted() { Ok(()) } else { Err(format!("{name}: must be in ascending order")) }
}
