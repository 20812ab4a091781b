//! The Internet checksum (RFC 1071), and its update (RFC 1624).
#![forbid(unsafe_code)]

/// The one's complement sum of 16-bit words, not folded.
pub fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<2>();
    let words: u64 = words.iter().map(|&word| u64::from(u16::from_be_bytes(word))).sum();
    words + rest.first().map_or(0, |&last| u64::from(last) << 8)
}

/// The one's complement sum of what has this [`sum`].
pub fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// The checksum of what has this [`sum`].
pub fn checksum(sum: u64) -> u16 {
    !fold(sum)
}

/// The [`sum`] of the pseudo-header of an upper-layer packet of `bytes`, of IPv4 (RFC 9293, section 3.1) or IPv6 (RFC
/// 8200, section 8.1); `addresses` are those of source and destination, one after the other.
pub fn pseudo_header(addresses: &[u8], protocol: u8, bytes: usize) -> u64 {
    sum(addresses) + u64::from(protocol) + bytes as u64
}

/// A checksum after `before` was replaced by `after`, both of one even length (RFC 1624, equation 3).
pub fn updated(old: u16, before: &[u8], after: &[u8]) -> u16 {
    // The complement of each word, of which there are as many as `before` has.
    let complements = (before.len() as u64 / 2) * 0xffff - sum(before);
    checksum(u64::from(!old) + complements + sum(after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_updated_checksum_is_the_one_that_is_computed_anew() {
        let (before, after) = ([10, 0, 0, 1, 192, 168, 7, 9], [10, 77, 255, 3, 10, 0, 200, 1]);
        let rest: Vec<u8> = (0..41).map(|n| (n * 37) as u8).collect();
        let old = checksum(sum(&before) + sum(&rest));
        assert_eq!(updated(old, &before, &after), checksum(sum(&after) + sum(&rest)));
    }

    #[test]
    fn the_sum_of_rfc_1071_is_its_example() {
        // Section 3: the bytes 00 01 f2 03 f4 f5 f6 f7 have the sum ddf2.
        assert_eq!(fold(sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7])), 0xddf2);
    }
}
