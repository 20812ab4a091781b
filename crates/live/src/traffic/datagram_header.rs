//! The header of a generated datagram: its number and its send time.

/// Length of the header; a shorter datagram carries its first bytes.
pub const HEADER_BYTES: usize = 16;
const NUMBER_BYTES: usize = 8;
/// A number farther than this from the expected one is foreign: fewer datagrams are in flight.
const MAX_NUMBER_DISTANCE: u64 = 1 << 40;

/// The header of datagram `number`, which leaves `sent_ns` after the run's zero.
pub fn encode(number: u64, sent_ns: u64) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..NUMBER_BYTES].copy_from_slice(&number.to_le_bytes());
    header[NUMBER_BYTES..].copy_from_slice(&sent_ns.to_le_bytes());
    header
}

/// Number and, if the datagram is long enough, send time of a received datagram that starts with `bytes`, where
/// `expected` is the next number. `None`: the datagram is foreign.
pub fn decode(bytes: &[u8], expected: u64) -> Option<(u64, Option<u64>)> {
    let header_bytes = bytes.len().min(NUMBER_BYTES);
    if header_bytes == 0 {
        return None;
    }
    let mut number = [0; NUMBER_BYTES];
    number[..header_bytes].copy_from_slice(&bytes[..header_bytes]);
    let number = u64::from_le_bytes(number);
    let sent_ns =
        bytes.get(NUMBER_BYTES..HEADER_BYTES).and_then(|rest| rest.try_into().ok()).map(u64::from_le_bytes);
    let number = if header_bytes == NUMBER_BYTES {
        number
    } else {
        nearest(number, 8 * header_bytes as u32, expected)
    };
    (number.abs_diff(expected) < MAX_NUMBER_DISTANCE).then_some((number, sent_ns))
}

/// The number with these last `bits` that is nearest to `expected` (as RFC 9000, appendix A.3, does it).
fn nearest(last: u64, bits: u32, expected: u64) -> u64 {
    let window = 1u64 << bits;
    let candidate = (expected & !(window - 1)) | last;
    if candidate + window / 2 <= expected {
        candidate + window
    } else if candidate > expected + window / 2 && candidate >= window {
        candidate - window
    } else {
        candidate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_decodes_to_its_number_and_time() {
        let bytes = encode(1 << 40, 123_456_789_012);
        assert_eq!(decode(&bytes, 1 << 40), Some((1 << 40, Some(123_456_789_012))));
    }

    #[test]
    fn a_short_datagram_has_the_number_that_is_nearest_to_what_is_expected() {
        // Of one byte, in a window of 256; of two, 65536 (RFC 9000 appendix A.3 has the second).
        for (number, header_bytes, expected) in [
            (300u64, 1, 299),
            (255, 1, 256),
            (256, 1, 255),
            (200, 1, 300),
            (0xa82f_9b32, 2, 0xa82f_30eb),
            (0, 1, 0),
            (3, 3, 1 << 20),
        ] {
            let header = encode(number, 7);
            let found = decode(&header[..header_bytes], expected);
            let far = number.abs_diff(expected) > 1 << (8 * header_bytes - 1);
            assert_eq!(found == Some((number, None)), !far, "{number} {header_bytes} {expected} {found:?}");
        }
    }

    #[test]
    fn a_foreign_datagram_has_no_number() {
        assert_eq!(decode(b"GET / HTTP/1.1\r\n", 5), None);
        assert_eq!(decode(&[0xff; HEADER_BYTES], 5), None);
        assert_eq!(decode(&encode(MAX_NUMBER_DISTANCE + 4, 7), 5), Some((MAX_NUMBER_DISTANCE + 4, Some(7))));
        assert_eq!(decode(&encode(MAX_NUMBER_DISTANCE + 5, 7), 5), None);
    }

    #[test]
    fn an_empty_datagram_has_no_number() {
        assert_eq!(decode(&[], 5), None);
    }
}
