//! What was lost is what is found.

use crate::wire::{MSS, Played, World, play, read};
use longhaul_capture::{Findings, Flow, Place, View};
use proptest::prelude::*;

const MS: u64 = 1_000_000;

fn world() -> World<'static> {
    World {
        segments: 300,
        spacing_ns: MS / 10,
        delay_ns: 10 * MS,
        stamps: true,
        lost: &|_| false,
        extra_ns: &|_| 0,
        needless: &|_| None,
    }
}

fn only(findings: Findings) -> Flow {
    let [flow] = <[Flow; 1]>::try_from(findings.flows).expect("one direction sends data");
    flow
}

fn numbers(flow: &Flow) -> Vec<u64> {
    flow.losses.iter().map(|loss| loss.packet).collect()
}

#[test]
fn a_loss_has_the_time_and_the_number_of_the_lost_packet() {
    let flow = only(read(&play(&World { lost: &|number| number == 100, ..world() }).at_sender));
    let [loss] = flow.losses[..] else { panic!("{:?}", flow.losses) };
    // The handshake takes a round trip of 20 ms; three later packets and a round trip prove the loss.
    assert_eq!(loss.at_ns, 1_020 * MS + 100 * MS / 10);
    assert_eq!((loss.packet, loss.packet_of_all, loss.position), (100, 100, 100 * u64::from(MSS)));
    assert_eq!((loss.bytes, loss.transmission, loss.place), (MSS, 1, Place::Beyond));
    assert_eq!(loss.repaired_at_ns - loss.at_ns, 20 * MS + 3 * MS / 10);
    assert_eq!((flow.packets, flow.retransmissions, flow.spurious, flow.unseen), (301, 1, 0, 0));
    assert_eq!(flow.view, View::Sender);
    assert_eq!((flow.sender_ns, flow.receiver_ns), (Some(0), Some(20 * MS)));
    assert_eq!((flow.rtts.min_ns, flow.rtts.max_ns), (20 * MS, 20 * MS));
}

#[test]
fn a_hole_at_the_receiver_is_a_loss_at_the_next_packet() {
    let flow = only(read(&play(&World { lost: &|number| number == 100, ..world() }).at_receiver));
    let [loss] = flow.losses[..] else { panic!("{:?}", flow.losses) };
    assert_eq!(loss.at_ns, 1_020 * MS + 101 * MS / 10 + 10 * MS);
    assert_eq!((loss.packet, loss.position, loss.place), (100, 100 * u64::from(MSS), Place::Before));
    assert_eq!((flow.packets, flow.retransmissions, flow.reordered), (300, 1, 0));
    assert_eq!(flow.view, View::Receiver);
}

#[test]
fn a_retransmission_that_is_lost_too_is_two_losses() {
    let flow =
        only(read(&play(&World { lost: &|number| number == 10 || number == 214, ..world() }).at_sender));
    let found: Vec<_> = flow.losses.iter().map(|loss| (loss.packet, loss.transmission)).collect();
    // The proof comes with segment 13, after a round trip in which 200 others leave.
    assert_eq!(found, [(10, 1), (214, 2)]);
    assert_eq!(flow.losses[0].position, flow.losses[1].position);
}

#[test]
fn counted_packets_tell_late_ones_where_time_stamps_are_too_coarse() {
    // A round trip of 20 us, in which no clock of milliseconds moves; 18 us are too late to be judged by time.
    let late = |segment: u64| if segment % 50 == 30 { 18_000 } else { 0 };
    let lan = World { spacing_ns: 1_000, delay_ns: 10_000, extra_ns: &late, ..world() };
    let flow = only(read(&play(&lan).at_receiver));
    assert_eq!((flow.reordered, numbers(&flow)), (6, vec![]));
    let lost = World { lost: &|number| number == 100, extra_ns: &|_| 0, ..lan };
    assert_eq!(numbers(&only(read(&play(&lost).at_receiver))), [100]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_pattern_of_losses_is_found_at_the_sender(lost in prop::collection::btree_set(0..600_u64, 0..90), stamps: bool) {
        let Played { at_sender, lost, .. } = play(&World { lost: &|number| lost.contains(&number), stamps, ..world() });
        let flow = only(read(&at_sender));
        prop_assert_eq!(numbers(&flow), lost);
        prop_assert_eq!(flow.spurious, 0);
    }

    #[test]
    fn any_pattern_of_first_losses_is_found_at_the_receiver(
        lost in prop::collection::btree_set(0..250_u64, 0..60),
        stamps: bool,
    ) {
        let played = play(&World { lost: &|number| lost.contains(&number), stamps, ..world() });
        let flow = only(read(&played.at_receiver));
        let positions: Vec<u64> = flow.losses.iter().map(|loss| loss.position / u64::from(MSS)).collect();
        prop_assert_eq!(positions, played.missed);
        prop_assert!(flow.losses.iter().all(|loss| loss.place == Place::Before));
        prop_assert_eq!(flow.reordered, 0);
    }

    #[test]
    fn what_the_receiver_had_already_is_no_loss(
        needless in prop::collection::btree_map(0..300_u64, any::<bool>(), 0..40),
        lost in prop::collection::btree_set(0..300_u64, 0..10),
        stamps: bool,
    ) {
        // Segments are spaced by 0.1 ms, so a needless repetition is the next transmission but few.
        let needless = |segment: u64| needless.get(&segment).copied();
        let quiet = |segment: u64| (segment.saturating_sub(2)..segment + 2).all(|near| needless(near).is_none());
        let all = play(&World { needless: &needless, stamps, ..world() });
        let flow = only(read(&all.at_sender));
        prop_assert_eq!(numbers(&flow), Vec::<u64>::new());
        prop_assert_eq!(flow.spurious, flow.retransmissions);
        // With losses among them, of segments that are sent once: their number is right.
        let lost: Vec<u64> = lost.into_iter().filter(|&segment| quiet(segment) && segment < 150).collect();
        let early = |segment: u64| needless(segment).filter(|_| segment > 170);
        let both = play(&World { needless: &early, lost: &|number| lost.contains(&number), stamps, ..world() });
        prop_assert_eq!(numbers(&only(read(&both.at_sender))), both.lost);
    }

    #[test]
    fn late_packets_are_reordered_and_not_lost(
        late in prop::collection::btree_map(0..300_u64, 1..40_u64, 1..30),
        stamps: bool,
    ) {
        let extra = |number: u64| late.get(&number).map_or(0, |tenths| tenths * MS / 10 + MS / 20);
        let flow = only(read(&play(&World { extra_ns: &extra, stamps, ..world() }).at_receiver));
        prop_assert_eq!(numbers(&flow), Vec::<u64>::new());
        // A packet is late by RFC 4737 if one sent after it came before it.
        let arrival = |number: u64| number * MS / 10 + extra(number);
        let behind = |number: u64| (number + 1..300).filter(|&other| arrival(other) < arrival(number)).count();
        let reordered = (0..300).filter(|&number| behind(number) > 0).count() as u64;
        prop_assert_eq!(flow.reordered, reordered);
        // Their sender took three later packets for a proof, and was wrong.
        prop_assert_eq!(flow.retransmissions, flow.spurious);
    }
}
