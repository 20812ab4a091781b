//! Captures of connections that are made up, packet by packet.

use longhaul_capture::{Findings, Reader};
use std::collections::{BTreeMap, BTreeSet};

pub const MSS: u32 = 1000;
pub const FIRST: u32 = u32::MAX - 5_000;
const SENDER: [u8; 6] = [10, 0, 0, 1, 0x90, 0];
const RECEIVER: [u8; 6] = [10, 0, 0, 2, 0x13, 0x88];

/// A TCP header's worth.
#[derive(Clone, Default)]
pub struct Tcp {
    pub from_receiver: bool,
    pub sequence: u32,
    pub acknowledgement: u32,
    pub flags: u8,
    pub payload: u32,
    pub stamps: Option<(u32, u32)>,
    pub blocks: Vec<(u32, u32)>,
    pub mss: Option<u16>,
    pub shift: Option<u8>,
    pub ident: u16,
}

impl Tcp {
    pub fn options(&self) -> Vec<u8> {
        let mut options = Vec::new();
        if let Some(mss) = self.mss {
            options.extend([2, 4]);
            options.extend(mss.to_be_bytes());
        }
        if let Some(shift) = self.shift {
            options.extend([1, 3, 3, shift]);
        }
        if let Some((value, echo)) = self.stamps {
            options.extend([1, 1, 8, 10]);
            options.extend(value.to_be_bytes());
            options.extend(echo.to_be_bytes());
        }
        if !self.blocks.is_empty() {
            options.extend([1, 1, 5, 2 + 8 * self.blocks.len() as u8]);
            for (start, end) in &self.blocks {
                options.extend(start.to_be_bytes());
                options.extend(end.to_be_bytes());
            }
        }
        options
    }

    /// From the TCP header on, without the data.
    pub fn header(&self) -> Vec<u8> {
        let (source, destination) = if self.from_receiver { (RECEIVER, SENDER) } else { (SENDER, RECEIVER) };
        let options = self.options();
        let mut bytes = Vec::new();
        bytes.extend(&source[4..]);
        bytes.extend(&destination[4..]);
        bytes.extend(self.sequence.to_be_bytes());
        bytes.extend(self.acknowledgement.to_be_bytes());
        bytes.extend([((20 + options.len()) / 4 * 16) as u8, self.flags, 0xff, 0xff, 0, 0, 0, 0]);
        bytes.extend(options);
        bytes
    }

    /// From the IPv4 header on, without the data.
    pub fn ipv4(&self) -> Vec<u8> {
        let (source, destination) = if self.from_receiver { (RECEIVER, SENDER) } else { (SENDER, RECEIVER) };
        let header = self.header();
        let total = (20 + header.len() as u32 + self.payload) as u16;
        let mut bytes = vec![0x45, 0];
        bytes.extend(total.to_be_bytes());
        bytes.extend(self.ident.to_be_bytes());
        bytes.extend([0x40, 0, 64, 6, 0, 0]);
        bytes.extend(&source[..4]);
        bytes.extend(&destination[..4]);
        bytes.extend(header);
        bytes
    }
}

/// A file of raw IP packets with nanoseconds.
pub fn pcap(packets: &[(u64, Tcp)]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_3c4d_u32, 2 | 4 << 16, 0, 0, 65_535, 101] {
        file.extend(word.to_le_bytes());
    }
    for (at_ns, tcp) in packets {
        let bytes = tcp.ipv4();
        let (seconds, rest) = (at_ns / 1_000_000_000, at_ns % 1_000_000_000);
        for word in [seconds as u32, rest as u32, bytes.len() as u32, bytes.len() as u32 + tcp.payload] {
            file.extend(word.to_le_bytes());
        }
        file.extend(bytes);
    }
    file
}

pub fn read(file: &[u8]) -> Findings {
    let mut reader = Reader::new(file).unwrap();
    while reader.advance(1_000).unwrap() {}
    reader.finish()
}

/// What becomes of the transmissions of a connection.
pub struct World<'a> {
    pub segments: u64,
    /// Between two new segments.
    pub spacing_ns: u64,
    /// One way.
    pub delay_ns: u64,
    pub stamps: bool,
    /// Whether this transmission is lost; retransmissions count.
    pub lost: &'a dyn Fn(u64) -> bool,
    /// What the first transmission of this segment takes longer than `delay_ns`.
    pub extra_ns: &'a dyn Fn(u64) -> u64,
    /// Whether this segment is sent a second time for no reason, half a round trip after it was acknowledged
    /// (`true`), or just after it was sent.
    pub needless: &'a dyn Fn(u64) -> Option<bool>,
}

/// A capture at either end, and what was lost.
pub struct Played {
    pub at_sender: Vec<u8>,
    pub at_receiver: Vec<u8>,
    /// Numbers of lost transmissions.
    pub lost: Vec<u64>,
    /// Segments whose first transmission was lost, and behind which another segment arrived before they did.
    pub missed: Vec<u64>,
}

enum Event {
    Send { segment: u64, fresh: bool },
    Arrive(u64),
    Acknowledge { below: u64, blocks: Vec<(u64, u64)> },
    Timer,
}

const BEGIN_NS: u64 = 1_000_000_000;

/// Plays a sender that repeats what three later segments, or a timer, prove lost.
#[expect(clippy::too_many_lines, reason = "one loop over all events of a connection")]
pub fn play(world: &World<'_>) -> Played {
    let rtt_ns = 2 * world.delay_ns;
    let mut events = BTreeMap::new();
    let mut serial = 0_u64;
    let mut plan = |events: &mut BTreeMap<(u64, u64), Event>, at_ns: u64, event: Event| {
        serial += 1;
        events.insert((at_ns, serial), event);
    };
    for segment in 0..world.segments {
        let at_ns = BEGIN_NS + rtt_ns + segment * world.spacing_ns;
        plan(&mut events, at_ns, Event::Send { segment, fresh: true });
        if let Some(late) = (world.needless)(segment) {
            let after_ns = if late { rtt_ns * 3 / 2 } else { world.spacing_ns / 2 };
            plan(&mut events, at_ns + after_ns, Event::Send { segment, fresh: true });
        }
    }
    plan(&mut events, BEGIN_NS + 4 * rtt_ns, Event::Timer);
    let [mut at_sender, mut at_receiver] = handshake(world);
    let mut sent_at = BTreeMap::new();
    let (mut transmissions, mut lost, mut missed) = (0, Vec::new(), Vec::new());
    let (mut received, mut below, mut acked) = (BTreeSet::new(), 0, BTreeSet::new());
    let mut echo = 0;
    let (mut known_below, mut progress_ns) = (0, 0);
    let mut first_lost = BTreeSet::new();
    let wire = |segment: u64| FIRST.wrapping_add(1).wrapping_add(segment as u32 * MSS);
    while let Some(((now_ns, _), event)) = events.pop_first() {
        match event {
            Event::Send { segment, fresh } => {
                let just = sent_at.get(&segment).is_some_and(|&(_, at_ns)| at_ns == now_ns);
                if !fresh && (segment < known_below || acked.contains(&segment) || just) {
                    continue;
                }
                let number = transmissions;
                transmissions += 1;
                let tcp = Tcp {
                    sequence: wire(segment),
                    flags: 16,
                    payload: MSS,
                    stamps: world.stamps.then_some((stamp(now_ns), 1)),
                    ident: number as u16,
                    ..Tcp::default()
                };
                at_sender.push((now_ns, tcp));
                let times = sent_at.get(&segment).map_or(0, |&(times, _): &(u32, u64)| times);
                sent_at.insert(segment, (times + 1, now_ns));
                if (world.lost)(number) {
                    lost.push(number);
                    if times == 0 {
                        first_lost.insert(segment);
                    }
                } else {
                    let at_ns =
                        now_ns + world.delay_ns + if times == 0 { (world.extra_ns)(segment) } else { 0 };
                    let mut tcp = at_sender.last().unwrap().1.clone();
                    tcp.ident = number as u16;
                    at_receiver.push((at_ns, tcp));
                    plan(&mut events, at_ns, Event::Arrive(segment | u64::from(stamp(now_ns)) << 32));
                }
            }
            Event::Arrive(both) => {
                let (segment, value) = (both & 0xffff_ffff, (both >> 32) as u32);
                let again = segment < below || received.contains(&segment);
                if segment <= below {
                    echo = value;
                }
                missed.extend((below..segment).filter(|hole| {
                    first_lost.contains(hole)
                        && !received.contains(hole)
                        && received.range(hole..).next().is_none()
                }));
                if segment >= below {
                    received.insert(segment);
                }
                while received.remove(&below) {
                    below += 1;
                }
                let mut blocks = Vec::new();
                if again {
                    blocks.push((segment, segment + 1));
                }
                if segment > below || !received.is_empty() {
                    let around =
                        if segment > below { segment } else { *received.iter().next_back().unwrap() };
                    blocks.extend(runs(&received, around).into_iter().take(3 - blocks.len()));
                }
                let tcp = Tcp {
                    from_receiver: true,
                    sequence: 1,
                    acknowledgement: wire(below),
                    flags: 16,
                    stamps: world.stamps.then_some((stamp(now_ns), echo)),
                    blocks: blocks.iter().map(|&(start, end)| (wire(start), wire(end))).collect(),
                    ..Tcp::default()
                };
                at_receiver.push((now_ns, tcp.clone()));
                at_sender.push((now_ns + world.delay_ns, tcp));
                plan(&mut events, now_ns + world.delay_ns, Event::Acknowledge { below, blocks });
            }
            Event::Acknowledge { below, blocks } => {
                known_below = known_below.max(below);
                progress_ns = now_ns;
                acked.extend(
                    blocks.iter().filter(|block| block.1 > below).flat_map(|&(start, end)| start..end),
                );
                acked.retain(|&segment| segment >= known_below);
                let Some(&top) = acked.iter().nth_back(2) else { continue };
                for segment in (known_below..top).filter(|segment| !acked.contains(segment)) {
                    // A repetition takes a round trip to prove itself.
                    let (times, at_ns) = sent_at[&segment];
                    if times == 1 || at_ns + rtt_ns * 5 / 4 < now_ns {
                        plan(&mut events, now_ns, Event::Send { segment, fresh: false });
                    }
                }
            }
            Event::Timer => {
                if known_below == world.segments {
                    continue;
                }
                let sent_ns = sent_at.get(&known_below).map_or(u64::MAX / 2, |&(_, at_ns)| at_ns);
                if progress_ns.max(sent_ns) + 2 * rtt_ns < now_ns {
                    plan(&mut events, now_ns, Event::Send { segment: known_below, fresh: false });
                }
                plan(&mut events, now_ns + 2 * rtt_ns, Event::Timer);
            }
        }
    }
    at_receiver.sort_by_key(|&(at_ns, _)| at_ns);
    at_sender.sort_by_key(|&(at_ns, _)| at_ns);
    missed.sort_unstable();
    missed.dedup();
    Played { at_sender: pcap(&at_sender), at_receiver: pcap(&at_receiver), lost, missed }
}

fn stamp(now_ns: u64) -> u32 {
    (now_ns / 1_000_000) as u32
}

fn runs(received: &BTreeSet<u64>, around: u64) -> Vec<(u64, u64)> {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for &segment in received {
        match runs.last_mut() {
            Some(last) if last.1 == segment => last.1 += 1,
            _ => runs.push((segment, segment + 1)),
        }
    }
    runs.sort_by_key(|&(start, end)| if (start..end).contains(&around) { 0 } else { u64::MAX - end });
    runs
}

fn handshake(world: &World<'_>) -> [Vec<(u64, Tcp)>; 2] {
    let syn = Tcp { sequence: FIRST, flags: 2, mss: Some(1460), ..Tcp::default() };
    let answer = Tcp {
        from_receiver: true,
        acknowledgement: FIRST.wrapping_add(1),
        flags: 18,
        mss: Some(1460),
        ..Tcp::default()
    };
    let last = Tcp { sequence: FIRST.wrapping_add(1), acknowledgement: 1, flags: 16, ..Tcp::default() };
    let delay_ns = world.delay_ns;
    let all = [(syn, 0, delay_ns), (answer, 2 * delay_ns, delay_ns), (last, 2 * delay_ns, 3 * delay_ns)];
    let sender = all.iter().map(|(tcp, at, _)| (BEGIN_NS + at, tcp.clone())).collect();
    let receiver = all.iter().map(|(tcp, _, at)| (BEGIN_NS + at, tcp.clone())).collect();
    [sender, receiver]
}
