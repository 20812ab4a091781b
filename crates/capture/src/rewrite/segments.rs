//! TCP packets that a network adapter was to split, or has joined, as the segments that are on a wire.

use super::ip::Ip;

const TCP: u8 = 6;
const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const RST: u8 = 0x04;
const PSH: u8 = 0x08;
const CWR: u8 = 0x80;

/// The segments of `ip`, each of at most `mtu` bytes, as segmentation offload makes them: FIN and PSH belong to the
/// last, CWR to the first, and identifications count up. `None` if it is not a TCP packet with data.
pub fn split(ip: &Ip, mtu: usize) -> Option<Vec<Vec<u8>>> {
    let bytes = ip.bytes();
    if ip.protocol != TCP || ip.is_fragment() {
        return None;
    }
    let transport = ip.transport;
    let headers = transport + usize::from(bytes.get(transport + 12)? >> 4) * 4;
    let flags = bytes[transport + 13];
    let payload = bytes.get(headers..)?;
    let most = mtu.checked_sub(headers).filter(|&most| most > 0)?;
    if headers < transport + 20 || payload.len() <= most || flags & (SYN | RST) != 0 {
        return None;
    }
    let word = [bytes[transport + 4], bytes[transport + 5], bytes[transport + 6], bytes[transport + 7]];
    let sequence = u32::from_be_bytes(word);
    let last = payload.len().div_ceil(most) - 1;
    let segments = payload.chunks(most).enumerate().map(|(number, part)| {
        let mut segment = [&bytes[..headers], part].concat();
        if ip.is_v6 {
            segment[4..6].copy_from_slice(&((headers - 40 + part.len()) as u16).to_be_bytes());
        } else {
            segment[2..4].copy_from_slice(&((headers + part.len()) as u16).to_be_bytes());
            let ident = u16::from_be_bytes([bytes[4], bytes[5]]).wrapping_add(number as u16);
            segment[4..6].copy_from_slice(&ident.to_be_bytes());
        }
        let here = sequence.wrapping_add((number * most) as u32);
        segment[transport + 4..transport + 8].copy_from_slice(&here.to_be_bytes());
        if number != last {
            segment[transport + 13] &= !(FIN | PSH);
        }
        if number != 0 {
            segment[transport + 13] &= !CWR;
        }
        let mut segment = ip.with_bytes(segment);
        segment.fix_checksums();
        segment.into_bytes()
    });
    Some(segments.collect())
}
