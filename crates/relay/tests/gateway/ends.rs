//! What a gateway that runs for weeks must not get wrong.

use crate::common::*;
use nix::sys::socket::{MsgFlags, send};
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::time::Duration;

#[test]
fn what_follows_an_urgent_byte_comes_through() {
    let relay = start(settings(law(20_000, None), law(0, None), vec![forward(echo())]));
    let mut stream = relay.client();
    stream.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
    // All of it waits in the kernel while the connection opens.
    stream.write_all(b"abc").unwrap();
    send(stream.as_raw_fd(), b"d", MsgFlags::MSG_OOB).unwrap();
    stream.write_all(b"efg").unwrap();
    let mut back = [0; 7];
    stream.read_exact(&mut back).unwrap();
    assert_eq!(&back, b"abcdefg");
    relay.stop();
}
