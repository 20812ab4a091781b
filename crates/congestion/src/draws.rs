use longhaul_random::{Seed, Stream};

/// Draws that an algorithm makes of its own accord, long after the connection's stream was lent to it.
#[derive(Clone, Debug)]
pub(crate) struct Draws {
    /// The name of the algorithm, and of its streams.
    name: &'static str,
    seed: u64,
    made: u64,
}

impl Draws {
    /// Draws that are alike on all connections, until a connection's stream gives a seed.
    pub(crate) fn new(name: &'static str) -> Self {
        Draws { name, seed: 0, made: 0 }
    }

    /// Begins anew with a seed of the connection.
    pub(crate) fn seed_from(&mut self, chance: &mut Stream) {
        (self.seed, self.made) = (chance.bits(), 0);
    }

    /// A stream for the next decision.
    pub(crate) fn next(&mut self) -> Stream {
        self.made += 1;
        Seed::new(self.seed).stream(&format!("{}/{}", self.name, self.made))
    }
}

#[cfg(test)]
mod tests {
    use super::Draws;
    use longhaul_random::Seed;

    #[test]
    fn each_decision_has_a_stream_of_its_own_and_equal_connections_decide_alike() {
        let draws = |seed| {
            let mut draws = Draws::new("cdg");
            draws.seed_from(&mut Seed::new(seed).stream("connection"));
            [draws.next().bits(), draws.next().bits()]
        };
        assert_eq!(draws(1), draws(1));
        assert!(draws(1)[0] != draws(1)[1] && draws(1) != draws(2));
    }
}
