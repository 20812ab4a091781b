//! Windows of connections over several paths.

use crate::fluid::{Fluid, Losses, Path, near};
use longhaul_congestion::{CongestionControl, Coupling, Subflow};

/// The subflows of one connection, each a pipe of its own.
struct Connection(Vec<Fluid>);

impl Connection {
    fn new(algorithm: &str, paths: &[(f64, f64)]) -> Self {
        let pipe = |(seed, &(rtt_s, p)): (u64, &(f64, f64))| {
            Fluid::named(algorithm, Path::constant(rtt_s), Losses::Chance(p)).with_chance(seed)
        };
        Connection((1..).zip(paths).map(pipe).collect())
    }

    /// The acknowledgement that comes first.
    fn step(&mut self) {
        let subflows: Vec<Subflow> = self
            .0
            .iter()
            .map(|pipe| Subflow {
                window: pipe.control.window(),
                srtt_s: pipe.rtt_s(),
                between_losses: pipe.control.between_losses(),
            })
            .collect();
        let times = self.0.iter().map(|pipe| pipe.now_s).enumerate();
        let Some((own, _)) = times.min_by(|a, b| a.1.total_cmp(&b.1)) else { return };
        self.0[own].control.couple(&Coupling { subflows: &subflows, own });
        self.0[own].step();
    }

    /// Mean windows, after a while, until the first path has seen `seconds`.
    fn means(mut self, seconds: f64) -> Vec<f64> {
        while self.0[0].now_s < seconds / 10.0 {
            self.step();
        }
        self.0.iter_mut().for_each(Fluid::restart);
        while self.0[0].now_s < seconds {
            self.step();
        }
        self.0.iter().map(Fluid::mean).collect()
    }
}

#[test]
fn a_connection_of_one_path_is_reno() {
    for algorithm in ["lia", "olia"] {
        let mut one = Connection::new(algorithm, &[(0.1, 1e-3)]);
        let mut reno = Fluid::named("reno", Path::constant(0.1), Losses::Chance(1e-3)).with_chance(1);
        for step in 0..100_000 {
            one.step();
            reno.step();
            let difference = one.0[0].control_window() - reno.control_window();
            assert!(difference.abs() < 1e-6 * reno.control_window(), "{algorithm}, step {step}");
        }
    }
}

#[test]
fn two_equal_paths_together_weigh_one_reno_connection() {
    // LIA: 1/(4w) up for each acknowledged, w/2 down with probability p: w = sqrt(1/2p), both sqrt(2/p).
    let p = 1e-3;
    let reno = Connection::new("reno", &[(0.1, p)]).means(8_000.0)[0];
    for algorithm in ["lia", "olia"] {
        let means = Connection::new(algorithm, &[(0.1, p), (0.1, p)]).means(8_000.0);
        near(means.iter().sum(), reno, 0.08);
    }
}

#[test]
fn uncoupled_paths_take_as_much_each_as_one_connection() {
    let reno = Connection::new("reno", &[(0.1, 1e-3)]).means(5_000.0)[0];
    for mean in Connection::new("reno", &[(0.1, 1e-3), (0.1, 1e-3)]).means(5_000.0) {
        near(mean, reno, 0.05);
    }
}

#[test]
fn olia_leaves_the_worse_path_almost_alone_and_lia_does_not() {
    // RFC 6356's windows go with 1/p, so that a path with ten times the loss keeps a tenth; OLIA's with nothing but
    // what probing takes.
    let share = |algorithm: &str| {
        let means = Connection::new(algorithm, &[(0.1, 1e-3), (0.1, 1e-2)]).means(8_000.0);
        means[1] / (means[0] + means[1])
    };
    let (lia, olia) = (share("lia"), share("olia"));
    assert!(lia > 0.08, "{lia}");
    assert!(olia < 0.75 * lia, "{olia} of {lia}");
}

#[test]
fn the_increase_of_lia_is_that_of_the_rfc() {
    // Equation 1: alpha = cwnd_total max(w/rtt^2) / (sum w/rtt)^2, with windows of 10 and 20 segments at 100 and 50 ms:
    // 30 * 8000 / 500^2 = 0.96; each acknowledged segment adds 0.96/30.
    let mut pipe = Fluid::named("lia", Path::constant(0.1), Losses::None);
    // Beyond slow start.
    pipe.control.on_timeout(longhaul_units::Time::ZERO, 20);
    while pipe.control.window() < 10.0 {
        pipe.step();
    }
    let subflows = [
        Subflow { window: 10.0, srtt_s: 0.1, between_losses: 0.0 },
        Subflow { window: 20.0, srtt_s: 0.05, between_losses: 0.0 },
    ];
    let before = pipe.control.window();
    pipe.control.couple(&Coupling { subflows: &subflows, own: 0 });
    pipe.step();
    near(pipe.control.window() - before, 0.96 / 30.0, 1e-9);
}

#[test]
fn the_shift_of_olia_is_that_of_the_draft() {
    // Two paths: the better one has the smaller window, so that it gains 1/2 over its window for each acknowledged
    // segment, and the other one loses as much.
    let srtt_s = 0.1;
    let subflows = [
        Subflow { window: 10.0, srtt_s, between_losses: 400.0 },
        Subflow { window: 20.0, srtt_s, between_losses: 100.0 },
    ];
    for (own, alpha) in [(0, 0.5), (1, -0.5)] {
        let mut pipe = Fluid::named("olia", Path::constant(srtt_s), Losses::None);
        pipe.control.on_timeout(longhaul_units::Time::ZERO, 20);
        while pipe.control.window() < 10.0 {
            pipe.step();
        }
        let before = pipe.control.window();
        pipe.control.couple(&Coupling { subflows: &subflows, own });
        pipe.step();
        let increase = subflows[own].window / 900.0;
        near(pipe.control.window() - before, increase + alpha / before, 1e-9);
    }
}
