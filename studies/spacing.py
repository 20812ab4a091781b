"""Rate limiting by a token bucket and by pacing, side by side: eWAN's figures 5 and 6.

One stream, sent in bursts as hosts send, goes live through both. The token bucket lets a burst pass
at the speed of the line; the pacer spreads it over the byte clock of the rate.
"""

import numpy as np
import pyarrow.csv as pacsv
from study import ROOT, Study

import longhaul
from longhaul.report.plotting import figure, paper

RATE, LINE = 100e6, 1e9
BIN_NS, FROM_NS, SPAN_NS = 100_000, 2_000_000_000, 20_000_000
LABELS = {"bucket": "token bucket, 15,400 bytes deep", "paced": "paced"}


def main() -> None:
    study = Study("spacing", "What does a limit of 100 Mbit/s do to the spacing of packets?")
    result = longhaul.run_live(ROOT / "studies/spacing.yaml", runs=study.directory / "runs", report=False)
    study.say(f"run: {result.verdict}")
    packets = pacsv.read_csv(result.directory / "raw/packets.csv")
    column = {name: packets.column(name).to_numpy(zero_copy_only=False) for name in packets.column_names}
    rows = []
    with paper():
        made = figure(5.6, width_in=9)
        axes = made.subplots(2, 2, sharey="row")
        for number, (link, label) in enumerate(LABELS.items()):
            mine = (column["link"] == link) & (column["way"] == "forward") & (column["bytes"] == 1500)
            offered, due = column["offered_ns"][mine], np.sort(column["due_ns"][mine].astype(float))
            gaps = np.diff(due) / 1e3
            ideal_us = 1500 * 8e6 / RATE
            shown = (due >= FROM_NS) & (due < FROM_NS + SPAN_NS)
            bins = np.bincount(((due[shown] - FROM_NS) // BIN_NS).astype(int), minlength=SPAN_NS // BIN_NS)
            rates = bins * 1500 * 8 / (BIN_NS / 1e9) / 1e6
            colour = f"C{number}"
            axes[0][number].step(np.arange(len(rates)) * BIN_NS / 1e6, rates, where="post", color=colour)
            axes[0][number].axhline(RATE / 1e6, color="0.5", linewidth=0.8, linestyle="--")
            axes[0][number].set(xlabel="time [ms]", title=label)
            few = (due >= FROM_NS) & (due < FROM_NS + 4_000_000)
            sent = np.sort(offered[(offered >= FROM_NS - 1_000_000) & (offered < FROM_NS + 4_000_000)])
            axes[1][number].plot(
                (sent - FROM_NS) / 1e6, np.full(len(sent), 2), "|", color="0.4", markersize=14
            )
            axes[1][number].plot(
                (due[few] - FROM_NS) / 1e6, np.full(few.sum(), 1), "|", color=colour, markersize=14
            )
            axes[1][number].set(xlabel="time [ms]", ylim=(0.5, 2.5), xlim=(-1, 4))
            axes[1][number].set_yticks([1, 2], ["leave", "arrive"])
            spacing = result.link(link)["spacing"]
            rows.append(
                {
                    "limit": link,
                    "packets": len(due),
                    "gap_p1_us": round(float(np.quantile(gaps, 0.01)), 3),
                    "gap_p50_us": round(float(np.quantile(gaps, 0.5)), 3),
                    "busiest_100us_mbit": float(rates.max()),
                    "live_off_p50_us": spacing["p50_ns"] / 1e3,
                    "live_off_p99_us": spacing["p99_ns"] / 1e3,
                }
            )
            study.say(
                f"{label}: gaps {rows[-1]['gap_p1_us']} us (p1), {rows[-1]['gap_p50_us']} us (p50), "
                f"the fullest 100 us carry {rates.max():.0f} Mbit/s; "
                f"live they are off by {spacing['p50_ns'] / 1e3:.2f} us (p50), "
                f"{spacing['p99_ns'] / 1e3:.1f} us (p99)"
            )
            if link == "paced":
                study.claim(
                    f"no two paced packets are closer than {ideal_us:g} us, to the nanosecond",
                    bool(gaps.min() >= ideal_us - 0.0011),
                )
            else:
                line_us = 1500 * 8e6 / LINE
                study.claim(
                    f"the bucket lets packets pass {line_us:g} us apart, the spacing of the line",
                    bool(np.quantile(gaps, 0.25) <= line_us * 1.01),
                )
        axes[0][0].set_ylabel("rate in 100 us [Mbit/s]")
        study.figure(made, "spacing")
    study.table("spacing", rows)
    study.finish()


if __name__ == "__main__":
    main()
