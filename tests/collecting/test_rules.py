"""The rules of collecting that need no network: time-outs, cliques, pings, lines, arithmetic."""

import random
import struct

import pytest

from longhaul.analysis.probes import message_s, stream_s, without_latency
from longhaul.errors import LonghaulError
from longhaul.traces.collect.clique import Clique, Token
from longhaul.traces.collect.connections import Endpoint
from longhaul.traces.collect.probe_styles import EventSpace, Nws, make_style, settings
from longhaul.traces.collect.retransmission_timeout import FIRST_S, LEAST_S, MOST_S, RetransmissionTimeout
from longhaul.traces.collect.tcp_info import parse
from longhaul.traces.collect.udp_echo import Outstanding, checksum
from longhaul.traces.collect.wire import (
    WrongLineError,
    read_greeting,
    read_request,
    write_greeting,
    write_request,
)

MS = 10**6
S = 10**9


def test_a_time_out_is_the_mean_and_four_deviations_and_doubles() -> None:
    rto = RetransmissionTimeout()
    assert rto.seconds() == FIRST_S
    rto.add_sample(2.0)
    # RFC 6298, section 2.2: mean 2, deviation 1.
    assert rto.seconds() == 6.0
    rto.add_sample(4.0)
    # Section 2.3: deviation 3/4 + 2/4 = 5/4; mean 2 + 2/8 = 9/4.
    assert rto.seconds() == 2.25 + 4 * 1.25
    rto.back_off()
    assert rto.seconds() == 2 * 7.25
    for _ in range(20):
        rto.back_off()
    assert rto.seconds() == MOST_S
    for _ in range(200):
        rto.add_sample(0.001)
    assert rto.seconds() == LEAST_S


def test_a_stream_takes_the_rounds_of_slow_start_and_the_close() -> None:
    # 46 segments of 1448 bytes. From 10: 10, 20, then the window's 22. Each round takes a round trip, and so
    # does the last until the close is seen.
    assert stream_s(65_536, rtt_s=1) == 3
    # From 2 (RFC 2581): 2, 4, 8, 16, and the rest; 1.5 times a round: 2, 3, 4, 6, 9, 13, and the rest.
    assert stream_s(65_536, rtt_s=1, initial_segments=2) == 5
    assert stream_s(65_536, rtt_s=1, initial_segments=2, growth=0.5) == 7
    # One segment at 1500 bit/s: 1500 bytes take 8 s.
    assert stream_s(1448, rtt_s=1, bits_per_s=1500) == 9
    # Without slow start a window of all: serialised once.
    assert stream_s(14_480, rtt_s=1, bits_per_s=15_000, window=10**6) == 8 + 1


def test_a_message_takes_a_round_trip_and_its_bits() -> None:
    assert message_s(1448, rtt_s=1, bits_per_s=1500) == 9
    rate = 1448 * 8 / message_s(1448, rtt_s=1, bits_per_s=1500)
    assert without_latency(rate, size=1448, rtt_s=1) == pytest.approx(1448 * 8 / 8)
    assert without_latency(rate, size=1448, rtt_s=9.1) is None


def test_echoes_settle_in_order_and_late_ones_are_gaps() -> None:
    pings = Outstanding()
    for number in (1, 2, 3):
        pings.sent(number, number * 10 * MS)
    pings.answered(2, 25 * MS)
    pings.answered(3, 40 * MS)
    assert pings.settled(50 * MS) == []
    pings.answered(2, 60 * MS)
    first, second, third = pings.settled(10 * MS + round(FIRST_S * S))
    assert (first.rtt_ns, first.failure) == (None, "no answer in time")
    assert (second.at_ns, second.rtt_ns, third.rtt_ns) == (20 * MS, 5 * MS, 10 * MS)
    pings.answered(1, 11 * S)
    assert pings.settled(12 * S) == []
    assert pings.complete()


def test_icmp_checksums_add_up_to_all_ones() -> None:
    # RFC 1071, section 3: 0001 f203 f4f5 f6f7 add up to ddf2.
    assert checksum(bytes.fromhex("0001f203f4f5f6f7")) == 0xFFFF - 0xDDF2
    assert checksum(b"\x01") == 0xFEFF


def test_requests_are_good_with_the_token_only() -> None:
    greeting = read_greeting(write_greeting(bytes(16), wants_token=True).strip())
    line = write_request({"do": "hello"}, greeting, b"secret").strip()
    assert b"secret" not in line
    assert read_request(line, greeting.nonce, b"secret") == {"do": "hello"}
    assert read_request(line, greeting.nonce, b"other") is None
    assert read_request(line, "1" + greeting.nonce[1:], b"secret") is None
    assert read_request(line.replace(b"hello", b"drain"), greeting.nonce, b"secret") is None
    assert read_request(b'- {"do": "hello"}', greeting.nonce, b"secret") is None


@pytest.mark.parametrize("line", [b"SSH-2.0-OpenSSH_9.2", b"", b"\xff\xfe", b"longhaul-trace 1 00 open"])
def test_other_servers_are_no_trace_servers(line: bytes) -> None:
    with pytest.raises(WrongLineError, match="not a trace server"):
        read_greeting(line)


def test_another_version_is_named() -> None:
    line = write_greeting(bytes(16), wants_token=False).strip().replace(b" 1 ", b" 2 ")
    with pytest.raises(WrongLineError, match="its protocol is version 2, ours is 1"):
        read_greeting(line)


def test_noise_is_no_request() -> None:
    noise = random.Random(7)
    for _ in range(500):
        line = noise.randbytes(noise.randrange(200))
        with pytest.raises(WrongLineError):
            read_request(line, "0" * 32, None)
    for line in (b"- 5", b"- [1]", b"- {", b"- " + b"[" * 4000):
        with pytest.raises(WrongLineError):
            read_request(line, "0" * 32, None)


def test_tcp_info_is_read_where_the_kernel_puts_it() -> None:
    content = bytearray(232)
    struct.pack_into("=I", content, 68, 20_500)
    struct.pack_into("=Q", content, 120, 7_000)
    struct.pack_into("=Q", content, 160, 1_250_000)
    found = parse(bytes(content))
    assert (found.rtt_ns, found.acked_bytes, found.delivery_bits_per_s) == (20_500_000, 7_000, 10_000_000)
    assert parse(bytes(104)).delivery_bits_per_s == 0


def test_styles_are_those_of_their_tools_and_bounded() -> None:
    nws = make_style("nws", {})
    assert isinstance(nws, Nws)
    assert (nws.latency_bytes, nws.messages * nws.message_bytes, nws.buffer_bytes) == (4, 65_536, 32_768)
    assert make_style("eventspace", settings(EventSpace(nodelay=False))) == EventSpace(nodelay=False)
    for name, given, words in (
        ("nsw", {}, "no style"),
        ("nws", {"nodelay": True}, "nws has no nodelay"),
        ("nws", {"buffer_bytes": 100}, "write 32768 to"),
        ("nws", {"messages": True}, "wrong kind"),
        ("ping", {"over": "sctp"}, "write udp, tcp, icmp"),
        ("ping", {"latency_bytes": 4}, "write 24 to 1400"),
    ):
        with pytest.raises(LonghaulError, match=words):
            make_style(name, given)


@pytest.mark.parametrize("text", ["host", "host:", ":7000", "host:70000", "::1:7000", "host:port"])
def test_what_is_no_endpoint_is_refused(text: str) -> None:
    with pytest.raises(LonghaulError, match="is not HOST:PORT"):
        Endpoint.parse(text)


def test_endpoints_are_written_as_they_are_read() -> None:
    for text in ("gw.example.org:7000", "[2001:db8::1]:7000"):
        assert str(Endpoint.parse(text)) == text


def clique(me: int, now_ns: int = 0) -> Clique:
    return Clique(me, 3, S, now_ns)


def test_a_token_goes_round_once_a_period() -> None:
    members = [clique(place) for place in range(3)]
    members[0].lead(0)
    now_ns, holder, begun = 0, 0, [[], [], []]
    for _ in range(12):
        member = members[holder]
        now_ns = max(now_ns, member.due_ns())
        assert [each.held is not None for each in members] == [place == holder for place in range(3)]
        assert member.may_begin(now_ns)
        begun[holder].append(now_ns)
        now_ns += 100 * MS
        token = member.next_token()
        assert token is not None
        following = member.successors()[0]
        assert members[following].offer(token, now_ns)
        member.passed(token, now_ns)
        holder = following
    assert begun == [
        [0, S, 2 * S, 3 * S],
        *([100 * place * MS + n * S for n in range(4)] for place in (1, 2)),
    ]


def test_an_old_token_is_refused() -> None:
    member = clique(1)
    assert member.offer(Token(3, 2, 7), 0)
    for old in (Token(3, 2, 7), Token(3, 2, 6), Token(2, 2, 99), Token(3, 1, 99)):
        assert not member.offer(old, 1)
    assert member.offer(Token(4, 0, 0), 2)


def test_a_missed_token_makes_the_lowest_lead_with_a_new_generation() -> None:
    members = [clique(place) for place in range(3)]
    for member in members:
        assert not member.expired(2_500 * MS)
        assert member.expired(2_501 * MS)
    # Member 0 has died. Member 2 hears that 1 is alive and waits; 1 hears nobody.
    assert list(members[2].lower()) == [0, 1]
    members[2].defer(2_501 * MS)
    assert not members[2].expired(4 * S)
    members[1].lead(2_501 * MS)
    assert members[1].held == Token(1, 1)
    # Who was thought dead comes back with what it held.
    assert not members[1].offer(Token(1, 0, 50), 3 * S)
    # A lower member that never leads is not waited for without end.
    members[2].defer(5 * S)
    assert list(members[2].lower()) == []


def test_who_slept_with_the_token_has_lost_it() -> None:
    member = clique(0)
    member.lead(0)
    assert not member.may_begin(2_501 * MS)
    assert member.next_token() is None
    assert member.expired(2_502 * MS)


def test_hearing_of_a_newer_generation_ends_an_old_token() -> None:
    member = clique(0)
    member.lead(0)
    member.heard_of(1)
    assert member.next_token() is not None
    member.heard_of(2)
    assert member.next_token() is None


def test_the_time_out_follows_the_cycle_with_gain_015() -> None:
    member = clique(0)
    member.lead(0)
    token = Token(1, 2)
    now_ns = 0
    for step, cycle_s in enumerate((2, 3), start=1):
        now_ns += cycle_s * S
        assert member.offer(Token(1, token.rank, 3 * step), now_ns)
    # 2 s, then 2 + 0.15 (3 - 2).
    assert member.timeout_ns == round(2.5 * 2.15 * S)
