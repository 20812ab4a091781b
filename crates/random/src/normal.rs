/// Bound of the absolute value of a standard normal draw: the quantile of 2^-53 is -8.21.
pub const MAX_DEVIATE: f64 = 8.3;

/// The value that a standard normal variable stays below with probability `p`, for 0 < p < 1.
///
/// One draw gives one value, the map is increasing, and the relative error is about 1e-16:
/// M. J. Wichura, "Algorithm AS 241: The Percentage Points of the Normal Distribution", Applied
/// Statistics 37 (1988) 477-484, routine PPND16.
pub(crate) fn quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180_625 - q * q;
        return q * polynomial(&CENTRE_OVER, r) / polynomial(&CENTRE_UNDER, r);
    }
    let tail = if q < 0.0 { p } else { 1.0 - p };
    let r = libm::sqrt(-libm::log(tail));
    let magnitude = if r <= 5.0 {
        polynomial(&MIDDLE_OVER, r - 1.6) / polynomial(&MIDDLE_UNDER, r - 1.6)
    } else {
        polynomial(&TAIL_OVER, r - 5.0) / polynomial(&TAIL_UNDER, r - 5.0)
    };
    if q < 0.0 { -magnitude } else { magnitude }
}

/// Horner's rule; the highest power's coefficient comes first.
fn polynomial(coefficients: &[f64; 8], r: f64) -> f64 {
    coefficients.iter().fold(0.0, |sum, coefficient| sum * r + coefficient)
}

const CENTRE_OVER: [f64; 8] = [
    2_509.080_928_730_122_7,
    33_430.575_583_588_13,
    67_265.770_927_008_7,
    45_921.953_931_549_87,
    13_731.693_765_509_46,
    1_971.590_950_306_551_3,
    133.141_667_891_784_38,
    3.387_132_872_796_366_5,
];
const CENTRE_UNDER: [f64; 8] = [
    5_226.495_278_852_854,
    28_729.085_735_721_943,
    39_307.895_800_092_71,
    21_213.794_301_586_597,
    5_394.196_021_424_751,
    687.187_007_492_057_9,
    42.313_330_701_600_91,
    1.0,
];
const MIDDLE_OVER: [f64; 8] = [
    0.000_774_545_014_278_341_4,
    0.022_723_844_989_269_184,
    0.241_780_725_177_450_6,
    1.270_458_252_452_368_4,
    3.647_848_324_763_204_5,
    5.769_497_221_460_691,
    4.630_337_846_156_546,
    1.423_437_110_749_683_5,
];
const MIDDLE_UNDER: [f64; 8] = [
    1.050_750_071_644_416_9e-9,
    0.000_547_593_808_499_534_5,
    0.015_198_666_563_616_457,
    0.148_103_976_427_480_08,
    0.689_767_334_985_1,
    1.676_384_830_183_803_8,
    2.053_191_626_637_759,
    1.0,
];
const TAIL_OVER: [f64; 8] = [
    2.010_334_399_292_288_1e-7,
    2.711_555_568_743_487_6e-5,
    0.001_242_660_947_388_078_4,
    0.026_532_189_526_576_124,
    0.296_560_571_828_504_87,
    1.784_826_539_917_291_3,
    5.463_784_911_164_114,
    6.657_904_643_501_103,
];
const TAIL_UNDER: [f64; 8] = [
    2.044_263_103_389_939_7e-15,
    1.421_511_758_316_446e-7,
    1.846_318_317_510_054_8e-5,
    0.000_786_869_131_145_613_3,
    0.014_875_361_290_850_615,
    0.136_929_880_922_735_8,
    0.599_832_206_555_888,
    1.0,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_draw_is_farther_from_zero_than_the_bound() {
        // The least and the greatest value of `Stream::open_uniform`.
        let least = 0.5 / (1u64 << 52) as f64;
        assert!((-8.3..-8.2).contains(&quantile(least)));
        assert!(quantile(1.0 - least) < MAX_DEVIATE);
    }

    #[test]
    fn quantiles_agree_with_published_tables() {
        // Abramowitz and Stegun, table 26.5 and 26.6; the last two cover the far tail.
        let table = [
            (0.5, 0.0),
            (0.75, 0.674_489_750_196_081_7),
            (0.9, 1.281_551_565_544_600_5),
            (0.975, 1.959_963_984_540_054),
            (0.999, 3.090_232_306_167_813_6),
            (1e-6, -4.753_424_308_822_899),
            (1e-12, -7.034_483_825_301_132),
        ];
        for (p, expected) in table {
            let error = (quantile(p) - expected).abs();
            assert!(error <= 2e-14 * (1.0 + expected.abs()), "{p}: off by {error}");
        }
    }

    #[test]
    fn the_three_pieces_join_and_the_two_halves_mirror_each_other() {
        for edge in [0.075, libm::exp(-25.0)] {
            let step = edge * 1e-12;
            assert!((quantile(edge - step) - quantile(edge + step)).abs() < 1e-11);
        }
        for p in [0.49, 0.3, 0.07, 1.0 / 1024.0] {
            assert!((quantile(p) + quantile(1.0 - p)).abs() < 1e-13);
        }
    }
}
