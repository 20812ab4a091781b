"""The latency and rate that a collector reports of a known link, by arithmetic."""


def stream_s(
    size: int,
    *,
    rtt_s: float,
    bits_per_s: float = float("inf"),
    window: int = 32 * 1024,
    initial_segments: int = 10,
    growth: float = 1.0,
    segment: int = 1448,
    header: int = 52,
) -> float:
    """Time of a TCP stream of ``size`` bytes, from the first write to the receiver's close, in seconds.

    Slow start from ``initial_segments`` (RFC 6928), ``growth`` segments more for each that is acknowledged
    (1 by RFC 5681, section 3.1; 1/2 where every second is acknowledged and each acknowledgement counts once),
    up to ``window`` bytes; ``header`` bytes around each segment. Nothing is lost: the queue has room.
    """
    count = -(-size // segment)
    most = max(1, window // segment)
    ends_s: list[float] = []
    free_s = 0.0
    acknowledged = 0
    for number in range(count):
        while number - acknowledged >= min(int(initial_segments + growth * acknowledged), most):
            acknowledged += 1
        ready_s = ends_s[acknowledged - 1] + rtt_s if acknowledged else 0.0
        payload = min(segment, size - number * segment)
        free_s = max(free_s, ready_s) + (payload + header) * 8 / bits_per_s
        ends_s.append(free_s)
    return free_s + rtt_s


def message_s(
    size: int, *, rtt_s: float, bits_per_s: float = float("inf"), segment: int = 1448, header: int = 52
) -> float:
    """Time of one message until its answer, on a connection whose window holds all of it, in seconds."""
    return rtt_s + (size + -(-size // segment) * header) * 8 / bits_per_s


def without_latency(bits_per_s: float, *, size: int, rtt_s: float) -> float | None:
    """The rate of a message of ``size`` bytes whose time held one latency; ``None`` if that was all of it."""
    sending_s = size * 8 / bits_per_s - rtt_s
    return size * 8 / sending_s if sending_s > 0 else None
