//! The inverse Gaussian distribution of a mean and a shape; its variance is mean^3 / shape.

use crate::Stream;
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// One amount: J. R. Michael, W. R. Schucany, R. W. Haas, "Generating Random Variates Using
/// Transformations with Multiple Roots", The American Statistician 30 (1976) 88-90.
///
/// Takes two draws of the stream. A squared normal gives two candidates, whose product is the square of
/// the mean; the other draw chooses between them.
pub(crate) fn draw(mean: f64, shape: f64, stream: &mut Stream) -> f64 {
    let z = stream.normal();
    let w = z * z * mean / shape;
    // The larger root in units of the mean; the smaller is its inverse, which keeps all its digits.
    let larger = 1.0 + w / 2.0 + libm::sqrt(w + w * w / 4.0);
    let smaller = 1.0 / larger;
    if stream.uniform() * (1.0 + smaller) <= 1.0 { mean * smaller } else { mean * larger }
}

/// The value that is not exceeded with probability `p`, 0 < p < 1; the relative error is below 1e-9.
///
/// Newton's method from the mode: the distribution function is convex below it and concave above it, so
/// that no step goes past the root (G. Giner, G. K. Smyth, The R Journal 8, 2016, 339).
pub(crate) fn quantile(mean: f64, shape: f64, p: f64) -> f64 {
    let reduced = shape / mean;
    let bend = 1.5 / reduced;
    let mut x = 1.0 / (libm::sqrt(1.0 + bend * bend) + bend);
    for _ in 0..300 {
        let Tails { below, above, density } = tails(reduced, x);
        let excess = if below < above { below - p } else { (1.0 - p) - above };
        let step = excess / density;
        if !step.is_finite() {
            break;
        }
        // Rounding alone could carry it below zero.
        let next = (x - step).max(x / 1e6);
        if (next - x).abs() <= 1e-13 * x {
            return mean * next;
        }
        x = next;
    }
    mean * x
}

/// What lies below and above a value, each to its own relative precision, and the density there.
struct Tails {
    below: f64,
    above: f64,
    density: f64,
}

/// At `x` for mean 1: F = Phi(a) + exp(2 shape) Phi(-b) with a, b = sqrt(shape / x) (x -+ 1). Both terms
/// have the factor exp(-a^2 / 2), since b^2 - a^2 = 4 shape, so that nothing overflows.
fn tails(shape: f64, x: f64) -> Tails {
    let root = libm::sqrt(shape / x);
    let (a, b) = (root * (x - 1.0) * FRAC_1_SQRT_2, root * (x + 1.0) * FRAC_1_SQRT_2);
    let front = libm::exp(-a * a);
    let density = root / (x * libm::sqrt(2.0 * PI)) * front;
    let second = scaled_erfc(b);
    if a < 0.0 {
        let below = front * (scaled_erfc(-a) + second) / 2.0;
        Tails { below, above: 1.0 - below, density }
    } else {
        let above = front * (scaled_erfc(a) - second) / 2.0;
        Tails { below: 1.0 - above, above, density }
    }
}

/// exp(t^2) erfc(t) for t >= 0; from 20 on by its asymptotic series (Abramowitz and Stegun 7.1.23), whose
/// first term left out is below 1e-12.
fn scaled_erfc(t: f64) -> f64 {
    if t < 20.0 {
        return libm::exp(t * t) * libm::erfc(t);
    }
    let u = 1.0 / (2.0 * t * t);
    (1.0 - u * (1.0 - 3.0 * u * (1.0 - 5.0 * u * (1.0 - 7.0 * u)))) / (t * libm::sqrt(PI))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Seed, normal};

    #[test]
    fn the_closed_form_at_the_mean_is_undone() {
        // At x = mean, a is 0: F = 1/2 + exp(2 r) Phi(-2 sqrt(r)) for r = shape / mean.
        for r in [0.01, 0.5, 1.0, 10.0, 100.0] {
            let p = 0.5 + libm::exp(2.0 * r) * libm::erfc(libm::sqrt(2.0 * r)) / 2.0;
            let x = quantile(7.0, 7.0 * r, p);
            assert!((x / 7.0 - 1.0).abs() < 1e-9, "{r}: {x}");
        }
    }

    #[test]
    fn quantiles_are_undone_by_the_distribution_function() {
        for shape in [1e-6, 0.01, 0.3, 1.0, 5.0, 300.0, 1e6, 1e12] {
            for p in [1e-15, 1e-6, 0.01, 0.3, 0.5, 0.8, 0.99, 1.0 - 1e-6, 1.0 - 1e-12] {
                let found = tails(shape, quantile(1.0, shape, p));
                assert!((found.below / p - 1.0).abs() < 1e-9, "{shape}, {p}: {}", found.below);
                assert!((found.above / (1.0 - p) - 1.0).abs() < 1e-7, "{shape}, {p}: {}", found.above);
            }
        }
    }

    #[test]
    fn without_a_bound_on_the_mean_it_is_the_distribution_of_levy() {
        // F = 2 Phi(-sqrt(shape / x)): the time until Brownian motion without drift reaches a level.
        for p in [0.001, 0.1, 0.5, 0.9] {
            let z = normal::quantile(p / 2.0);
            let expected = 3.0 / (z * z);
            assert!((quantile(1e12, 3.0, p) / expected - 1.0).abs() < 1e-5, "{p}");
        }
    }

    #[test]
    fn a_large_shape_is_normal() {
        // The skewness is 3 sqrt(mean / shape) = 3e-6.
        for p in [0.001, 0.2, 0.7, 0.999] {
            let z = (quantile(1.0, 1e12, p) - 1.0) * 1e6;
            assert!((z - normal::quantile(p)).abs() < 1e-5, "{p}: {z}");
        }
    }

    #[test]
    fn the_scaled_tail_joins_its_series() {
        let step = 20.0 * 1e-12;
        let (before, after) = (scaled_erfc(20.0 - step), scaled_erfc(20.0 + step));
        assert!((before / after - 1.0).abs() < 1e-11, "{before} and {after}");
    }

    #[test]
    fn the_share_of_draws_below_a_quantile_is_its_chance() {
        const N: usize = 200_000;
        for shape in [0.1, 2.0, 50.0] {
            let mut stream = Seed::new(8).stream("inverse gaussian");
            let draws: Vec<f64> = (0..N).map(|_| draw(3.0, 3.0 * shape, &mut stream)).collect();
            for p in [0.001, 0.1, 0.5, 0.9, 0.999] {
                let x = quantile(3.0, 3.0 * shape, p);
                let share = draws.iter().filter(|&&each| each <= x).count() as f64 / N as f64;
                let error = libm::sqrt(p * (1.0 - p) / N as f64);
                assert!((share - p).abs() < 4.5 * error, "{shape}, {p}: {share}");
            }
        }
    }
}
