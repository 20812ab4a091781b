//! The results that both algorithms of a relay have in common, as JSON.

use crate::settings::Settings;
use crate::wan::Wan;
use longhaul_units::Histogram;
use serde_json::{Value, json};

/// Counters of each direction of each link.
pub fn links(settings: &Settings, wan: &Wan) -> Vec<Value> {
    wan.counts()
        .into_iter()
        .map(|(link, reverse, counts)| {
            json!({
                "name": settings.links[link].name,
                "way": if reverse { "reverse" } else { "forward" },
                "offered_pieces": counts.offered.0,
                "offered_bytes": counts.offered.1,
                "delivered_pieces": counts.delivered.0,
                "delivered_bytes": counts.delivered.1,
                "lost_pieces": counts.lost,
                "overflowed_pieces": counts.overflowed,
                "dropped_pieces": counts.dropped,
                "down_pieces": counts.down,
                "corrupted_pieces": counts.corrupted,
                "copied_pieces": counts.copied,
                "held_pieces": counts.held,
            })
        })
        .collect()
}

/// How late pieces were written, in ns.
pub fn lateness(histogram: &Histogram) -> Value {
    let quantile = |share| histogram.quantile(share).ns();
    json!({
        "p50": quantile(0.5), "p90": quantile(0.9), "p99": quantile(0.99), "p999": quantile(0.999),
        "max": histogram.longest().ns(),
    })
}
