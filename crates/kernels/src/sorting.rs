//! Counting and distributing integer keys (NAS-91-002, 3.5).

/// Adds to `counts[(key - lowest) >> shift]` for each key.
///
/// # Panics
/// If a key has no count.
pub fn count(keys: &[i32], lowest: i32, shift: u32, counts: &mut [i32]) {
    for &key in keys {
        counts[((key - lowest) >> shift) as usize] += 1;
    }
}

/// Writes each key to `output[next[key >> shift]]` and moves that place on by one: a stable bucket sort.
///
/// # Panics
/// If a key has no bucket, or a bucket no place.
pub fn distribute(keys: &[i32], shift: u32, next: &mut [i32], output: &mut [i32]) {
    for &key in keys {
        let place = &mut next[(key >> shift) as usize];
        output[*place as usize] = key;
        *place += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_go_to_their_buckets_in_the_order_they_came() {
        let keys = [7, 1, 0, 6, 2, 3, 1];
        let mut counts = [0; 4];
        count(&keys, 0, 1, &mut counts);
        assert_eq!(counts, [3, 2, 0, 2]);
        let mut next = [0, 3, 5, 5];
        let mut sorted = [0; 7];
        distribute(&keys, 1, &mut next, &mut sorted);
        assert_eq!(sorted, [1, 0, 1, 2, 3, 7, 6]);
        assert_eq!(next, [3, 5, 5, 7]);
    }
}
