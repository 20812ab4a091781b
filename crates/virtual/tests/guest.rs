//! Devices of a real guest: a User-Mode Linux kernel that `LONGHAUL_UML_KERNEL` names, with both kinds of devices.
//!
//! The guest's init is a shell script on the machine's own files. Without a kernel the test is skipped.
#![expect(clippy::print_stderr, reason = "a skipped test says why")]

#[path = "guest/machine.rs"]
mod machine;
#[path = "guest/packets.rs"]
mod packets;

use std::env;

use longhaul_virtual::vhost::bits;

use machine::Machine;
use packets::{Packet, echo_request, syn_ack};

/// What the guest runs as process 1. `sleep` takes virtual time; a console is raw as long as somebody has it open.
const SCRIPT: &str = r#"
mount -t proc proc /proc; mount -t sysfs sys /sys
exec 3<>/dev/hvc0; stty raw -echo <&3
echo hello >&3
read -r line <&3
echo "read $line" >&3
ip link set lo up
ip link set eth0 arp off up
ip address add 10.0.0.1/24 dev eth0
echo "mtu $(cat /sys/class/net/eth0/mtu)" >&3
sleep 1
echo -n datagram > /dev/udp/10.0.0.2/9
for number in {1..400}; do echo -n $number > /dev/udp/10.0.0.2/10; done
yes longhaul | head -c 40000 > /dev/tcp/10.0.0.2/80
sleep 0.1
echo done >&3
sleep 0.1
echo o > /proc/sysrq-trigger
sleep 60
"#;

#[test]
fn a_guest_talks_over_its_console_and_its_network() {
    let Some(kernel) = env::var_os("LONGHAUL_UML_KERNEL") else {
        eprintln!("skipped: LONGHAUL_UML_KERNEL does not name a kernel with time-travel and virtio");
        return;
    };
    let mut guest = Machine::boot(&kernel, SCRIPT);

    guest.run_until("its first line", |guest| guest.printed.contains("hello\n"));
    guest.type_line("over the console\n");
    guest.run_until("the line again", |guest| guest.printed.contains("read over the console\n"));
    guest.run_until("the MTU", |guest| guest.printed.contains("mtu 1400\n"));
    let offloads = bits::NET_GUEST_TSO4 | bits::NET_HOST_TSO4 | bits::NET_GUEST_USO4 | bits::NET_HOST_USO;
    assert_eq!(guest.network_features() & offloads, offloads);

    guest.inject(&echo_request(b"0123456789"));
    guest.run_until("the echo", |guest| guest.sent.iter().any(Packet::is_echo_reply));
    let echo = guest.take_sent(Packet::is_echo_reply);
    assert_eq!(echo.icmp_data(), b"0123456789");

    // A packet of several receive buffers, as a super-packet is. The guest's MTU divides the reply.
    let data: Vec<u8> = (0..5000_u32).map(|at| (at % 251) as u8).collect();
    guest.inject(&echo_request(&data));
    guest.run_until("a large echo", |guest| guest.sent.iter().any(Packet::is_last_fragment));
    let fragments: Vec<_> = guest.sent.drain(..).filter(Packet::is_icmp).collect();
    let reply: Vec<_> = fragments.iter().flat_map(Packet::ip_payload).copied().collect();
    assert_eq!(reply[8..], data);

    guest.run_until("a datagram", |guest| guest.sent.iter().any(Packet::is_udp));
    let datagram = guest.take_sent(Packet::is_udp);
    assert_eq!((datagram.to_port(), datagram.payload()), (9, &b"datagram"[..]));

    // Many at one instant: more than the queue has room for.
    guest.run_until("all datagrams", |guest| {
        guest.sent.iter().filter(|packet| packet.is_udp()).count() == 400
    });
    let numbers: Vec<_> = guest.sent.drain(..).filter(Packet::is_udp).collect();
    assert!(
        numbers.iter().zip(1..).all(|(packet, number)| packet.payload() == number.to_string().as_bytes())
    );

    guest.run_until("a connection", |guest| guest.sent.iter().any(Packet::is_syn));
    let syn = guest.take_sent(Packet::is_syn);
    guest.inject(&syn_ack(&syn));
    guest.run_until("a super-packet", |guest| guest.sent.iter().any(Packet::is_super));
    let large = guest.take_sent(Packet::is_super);
    assert!(large.payload().len() > 1400, "{}", large.payload().len());
    let expected = b"longhaul\n".iter().cycle().take(large.payload().len());
    assert!(large.payload().iter().eq(expected));

    guest.run_until("the end of the script", |guest| guest.printed.contains("done\n"));
    guest.run_until_it_ends();
    let counters = guest.counters();
    assert_eq!((counters.delivered, counters.no_room), (3, 0));
}
