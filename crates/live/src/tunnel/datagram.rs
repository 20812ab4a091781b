//! Datagrams between machines: a header, packets or times, and an authentication tag.
//!
//! Those of other machines are authenticated by ChaCha20-Poly1305 (RFC 8439) with a key of the run's own; on request they are encrypted as well. A
//! number is used once by a sender, so that no nonce comes twice and a repeated datagram is recognised.

use chacha20poly1305::aead::{AeadInOut, KeyInit};
use chacha20poly1305::{ChaCha20Poly1305, Key, Nonce, Tag};

/// Changes with every change of the format.
const VERSION: u8 = 2;
/// Version, kind, sender, number.
pub const HEADER: usize = 1 + 1 + 4 + 8;
const TAG: usize = 16;
/// Numbers behind the latest of which it is known whether they were received.
const REMEMBERED: u64 = 1_024;

/// What a datagram carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Packets.
    Packets,
    /// A request for the time.
    TimeRequest,
    /// Its reply.
    TimeReply,
    /// Nothing more: how many packets the sender has sent in all.
    End,
}

const KINDS: [Kind; 4] = [Kind::Packets, Kind::TimeRequest, Kind::TimeReply, Kind::End];

/// Writes and reads datagrams.
pub struct Seal {
    /// Shards of one process need none.
    cipher: Option<ChaCha20Poly1305>,
    encrypts: bool,
    own: u32,
    next_number: u64,
}

/// A datagram that was read.
#[derive(Debug, PartialEq, Eq)]
pub struct Opened<'a> {
    pub kind: Kind,
    pub sender: u32,
    pub number: u64,
    pub content: &'a [u8],
}

impl Seal {
    /// Of machine `own`.
    pub fn new(key: &[u8; 32], encrypts: bool, own: u32) -> Self {
        Seal { cipher: Some(ChaCha20Poly1305::new(&Key::from(*key))), encrypts, own, next_number: 0 }
    }

    /// Of shard `own` of one process, whose datagrams nobody else sees.
    pub fn none(own: u32) -> Self {
        Seal { cipher: None, encrypts: false, own, next_number: 0 }
    }

    /// An empty datagram, to which content is appended.
    pub fn begin(&mut self, kind: Kind, datagram: &mut Vec<u8>) {
        datagram.clear();
        datagram
            .extend_from_slice(&[VERSION, KINDS.iter().position(|each| *each == kind).unwrap_or(0) as u8]);
        datagram.extend_from_slice(&self.own.to_le_bytes());
        datagram.extend_from_slice(&self.next_number.to_le_bytes());
        self.next_number += 1;
    }

    /// Completes a datagram.
    pub fn finish(&self, datagram: &mut Vec<u8>) {
        let Some(cipher) = &self.cipher else { return };
        let nonce = nonce(datagram);
        let (head, content) = datagram.split_at_mut(HEADER);
        let sealed = if self.encrypts {
            cipher.encrypt_inout_detached(&nonce, head, content.into())
        } else {
            cipher.encrypt_inout_detached(&nonce, datagram, (&mut [][..]).into())
        };
        // It fails for 256 GiB alone.
        if let Ok(tag) = sealed {
            datagram.extend_from_slice(&tag);
        }
    }

    /// Reads a datagram, in place; `None` if it is not of this run.
    pub fn open<'a>(&self, datagram: &'a mut [u8]) -> Option<Opened<'a>> {
        let Some(cipher) = &self.cipher else { return opened(datagram) };
        let end = datagram.len().checked_sub(TAG).filter(|&end| end >= HEADER)?;
        let (signed, tag) = datagram.split_at_mut(end);
        let tag = Tag::try_from(&*tag).ok()?;
        let nonce = nonce(signed);
        if self.encrypts {
            let (head, content) = signed.split_at_mut(HEADER);
            cipher.decrypt_inout_detached(&nonce, head, content.into(), &tag).ok()?;
        } else {
            cipher.decrypt_inout_detached(&nonce, signed, (&mut [][..]).into(), &tag).ok()?;
        }
        opened(signed)
    }
}

/// What a datagram says whose seal has been checked.
fn opened(datagram: &[u8]) -> Option<Opened<'_>> {
    let (head, content) = datagram.split_at_checked(HEADER)?;
    let kind = *KINDS.get(usize::from(head[1])).filter(|_| head[0] == VERSION)?;
    let mut reader = Reader(&head[2..]);
    Some(Opened { kind, sender: reader.u32()?, number: reader.u64()?, content })
}

/// Sender and number, which no two datagrams of a run have in common.
fn nonce(datagram: &[u8]) -> Nonce {
    let mut nonce = [0; 12];
    nonce.copy_from_slice(&datagram[2..HEADER]);
    nonce.into()
}

/// Which numbers of a sender were received.
#[derive(Debug, Default)]
pub struct Numbers {
    /// Those below are not known any more.
    latest: u64,
    seen: [u64; REMEMBERED as usize / 64],
}

impl Numbers {
    /// Whether a number is received for the first time; one that is long past counts as repeated.
    pub fn is_new(&mut self, number: u64) -> bool {
        // Numbers begin at zero.
        let number = number + 1;
        if number + REMEMBERED <= self.latest {
            return false;
        }
        if number > self.latest {
            for passed in (self.latest + 1..=number).rev().take(REMEMBERED as usize) {
                self.seen[(passed % REMEMBERED / 64) as usize] &= !(1 << (passed % 64));
            }
            self.latest = number;
        }
        let (word, bit) = ((number % REMEMBERED / 64) as usize, 1 << (number % 64));
        let is_new = self.seen[word] & bit == 0;
        self.seen[word] |= bit;
        is_new
    }
}

/// Reads little-endian numbers and bytes from the front.
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    pub fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sealed(seal: &mut Seal, content: &[u8]) -> Vec<u8> {
        let mut datagram = Vec::new();
        seal.begin(Kind::Packets, &mut datagram);
        datagram.extend_from_slice(content);
        seal.finish(&mut datagram);
        datagram
    }

    #[test]
    fn a_datagram_comes_back_and_only_an_encrypted_one_hides_its_content() {
        for encrypts in [false, true] {
            let mut seal = Seal::new(&[3; 32], encrypts, 2);
            sealed(&mut seal, b"");
            let mut datagram = sealed(&mut seal, b"plain words");
            assert_eq!(datagram.windows(11).any(|part| part == b"plain words"), !encrypts);
            let opened = seal.open(&mut datagram).unwrap();
            assert_eq!(opened, Opened { kind: Kind::Packets, sender: 2, number: 1, content: b"plain words" });
        }
    }

    proptest! {
        #[test]
        fn nothing_is_read_of_a_datagram_that_was_changed_cut_or_made_with_another_key(
            encrypts: bool, place in 0usize..64, bit in 0u8..8, length in 0usize..64
        ) {
            let mut seal = Seal::new(&[3; 32], encrypts, 2);
            let datagram = sealed(&mut seal, &[5; 34]);
            prop_assert_eq!(datagram.len(), 64);
            let mut changed = datagram.clone();
            changed[place] ^= 1 << bit;
            prop_assert!(seal.open(&mut changed).is_none());
            prop_assert!(seal.open(&mut datagram[..length].to_vec()).is_none());
            prop_assert!(Seal::new(&[4; 32], encrypts, 2).open(&mut datagram.clone()).is_none());
            prop_assert!(Seal::new(&[3; 32], !encrypts, 2).open(&mut datagram.clone()).is_none());
        }

        #[test]
        fn each_number_is_new_once(numbers in prop::collection::vec(0u64..3_000, 0..400)) {
            let mut known = Numbers::default();
            let mut seen = std::collections::BTreeSet::new();
            let mut latest = 0;
            for number in numbers {
                latest = latest.max(number);
                let expected = number + REMEMBERED > latest && !seen.contains(&number);
                prop_assert_eq!(known.is_new(number), expected);
                seen.insert(number);
            }
        }
    }
}
