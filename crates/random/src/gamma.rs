//! The gamma distribution of scale 1.

/// The value that a gamma variable of this shape stays below with probability `p`, 0 < p < 1; the
/// relative error is below 1e-9.
///
/// Halley's method on P(shape, x) = p, from the approximation of Wilson and Hilferty (PNAS 17, 1931)
/// or, for small shapes, from the first term of the series.
pub(crate) fn quantile(shape: f64, p: f64) -> f64 {
    let ln_gamma = libm::lgamma(shape);
    let z = crate::normal::quantile(p);
    let a = 1.0 / (9.0 * shape);
    let cube = 1.0 - a + z * libm::sqrt(a);
    let mut x = shape * cube * cube * cube;
    if shape < 1.0 || x <= 0.0 || !x.is_finite() {
        // P(a, x) is about x^a / (a Gamma(a)) for small x.
        let small = libm::exp((libm::log(p) + libm::log(shape) + ln_gamma) / shape);
        x = if small < 0.3 * shape + 0.1 || x <= 0.0 { small } else { x.max(small) };
    }
    x = x.max(f64::MIN_POSITIVE);
    for _ in 0..60 {
        let error = lower(shape, x, ln_gamma) - p;
        let density = libm::exp((shape - 1.0) * libm::log(x) - x - ln_gamma);
        if density == 0.0 || !density.is_finite() {
            break;
        }
        let newton = error / density;
        let bend = ((shape - 1.0) / x - 1.0) * newton / 2.0;
        let step = newton / (1.0 - bend.clamp(-0.5, 0.5));
        // Never past zero, nor more than twofold up.
        let next = (x - step).max(x / 10.0).min(x * 2.0 + 1.0);
        if (next - x).abs() <= 1e-12 * x {
            return next;
        }
        x = next;
    }
    x
}

/// The regularised lower incomplete gamma function P(a, x): by its series below a + 1, else by the
/// continued fraction of the upper one (Abramowitz and Stegun 6.5.29 and 6.5.31).
#[expect(clippy::many_single_char_names, reason = "the names of the formulas")]
pub(crate) fn lower(a: f64, x: f64, ln_gamma: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let front = libm::exp(a * libm::log(x) - x - ln_gamma);
    if x < a + 1.0 {
        let (mut term, mut sum, mut n) = (1.0 / a, 1.0 / a, a);
        for _ in 0..1000 {
            n += 1.0;
            term *= x / n;
            sum += term;
            if term < sum * 1e-16 {
                break;
            }
        }
        return front * sum;
    }
    // Lentz's method.
    let tiny = 1e-300;
    let mut b = x + 1.0 - a;
    let mut c = 1.0 / tiny;
    let mut d = 1.0 / b;
    let mut h = d;
    for n in 1..1000 {
        let n = f64::from(n);
        let an = -n * (n - a);
        b += 2.0;
        d = an * d + b;
        d = 1.0 / if d.abs() < tiny { tiny } else { d };
        c = b + an / c;
        if c.abs() < tiny {
            c = tiny;
        }
        let delta = d * c;
        h *= delta;
        if (delta - 1.0).abs() < 1e-16 {
            break;
        }
    }
    1.0 - front * h
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_of_one_is_the_exponential() {
        for k in 1..100 {
            let p = f64::from(k) / 100.0;
            let expected = -libm::log1p(-p);
            assert!((quantile(1.0, p) / expected - 1.0).abs() < 1e-9, "{p}");
        }
    }

    #[test]
    fn a_shape_of_two_has_a_closed_form() {
        // P(2, x) = 1 - (1 + x) exp(-x).
        for p in [1e-6, 0.01, 0.3, 0.5, 0.9, 0.999, 1.0 - 1e-9] {
            let x = quantile(2.0, p);
            let back = -libm::expm1(-x) - x * libm::exp(-x);
            assert!((back - p).abs() < 1e-9 * p.max(1e-3), "{p}: {x} gives {back}");
        }
    }

    #[test]
    fn quantiles_are_undone_by_the_distribution_function() {
        for shape in [0.05, 0.3, 0.9, 1.5, 5.0, 40.0, 1000.0] {
            for p in [1e-5, 0.01, 0.2, 0.5, 0.8, 0.99, 0.99999] {
                let x = quantile(shape, p);
                let back = lower(shape, x, libm::lgamma(shape));
                // Tiny values of tiny shapes underflow to the least number there is.
                let tolerance = if x <= f64::MIN_POSITIVE { 1.0 } else { 1e-9 };
                assert!((back - p).abs() < tolerance, "shape {shape}, p {p}: {x} gives {back}");
            }
        }
    }
}
