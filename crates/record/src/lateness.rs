use crate::Table;
use crate::rows::way;
use std::io::{self, Write};

/// Upper ends of the classes of lateness, in nanoseconds; one more class has what is later.
pub const LATENESS_BOUNDS_NS: [u64; 13] = [
    500,
    1_000,
    2_000,
    5_000,
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    10_000_000,
    100_000_000,
];

/// Columns of a table of [`LatenessRow`]s.
pub fn lateness_columns() -> Vec<String> {
    let first = ["t_ns", "link", "way", "packets", "sum_ns"].map(str::to_owned);
    first.into_iter().chain(LATENESS_BOUNDS_NS.iter().map(|bound| format!("le_{bound}_ns"))).collect()
}

/// How late packets were, in classes: counted at every packet, and cheap to count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Classes {
    /// Packets no later than each bound that were later than the one before; the last has the rest.
    counts: [u64; LATENESS_BOUNDS_NS.len() + 1],
    sum_ns: u64,
}

impl Classes {
    /// Counts `packets` that were `ns` late.
    #[inline]
    pub fn add(&mut self, ns: u64, packets: u64) {
        let class = LATENESS_BOUNDS_NS.iter().position(|&bound| ns <= bound);
        self.counts[class.unwrap_or(LATENESS_BOUNDS_NS.len())] += packets;
        self.sum_ns += ns * packets;
    }

    /// Packets that were counted.
    pub fn packets(&self) -> u64 {
        self.counts.iter().sum()
    }
}

/// How late the packets of one direction of a link were, from the start until one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatenessRow {
    /// When, since the start of the run.
    pub t_ns: u64,
    /// Position of the link in the plan.
    pub link: u32,
    /// Whether this is the direction from the second endpoint to the first.
    pub reverse: bool,
    /// What was counted.
    pub classes: Classes,
}

impl LatenessRow {
    /// Writes the row, each class with all that were less late; `link` is the link's name.
    ///
    /// # Errors
    /// If the table cannot be written.
    pub fn write(&self, link: &str, table: &mut Table<impl Write>) -> io::Result<()> {
        let Classes { counts, sum_ns } = self.classes;
        let below = counts[..LATENESS_BOUNDS_NS.len()].iter().scan(0, |below, count| {
            *below += count;
            Some(*below)
        });
        let row = table.row().field(self.t_ns).field(link).field(way(self.reverse));
        row.field(self.classes.packets()).field(sum_ns).fields(below).end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::lines;

    #[test]
    fn a_class_counts_all_that_are_no_later() {
        let mut classes = Classes::default();
        classes.add(500, 3);
        classes.add(501, 1);
        classes.add(200_000_000, 1);
        let row = LatenessRow { t_ns: 9, link: 0, reverse: false, classes };
        let written = lines(&lateness_columns(), |table| row.write("a-b", table));
        assert_eq!(written[1], "9,a-b,forward,5,200002001,3,4,4,4,4,4,4,4,4,4,4,4,4");
    }
}
