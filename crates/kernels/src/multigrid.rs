//! Stencils on a block of a cubic grid with one layer of ghost points around it (NAS-91-002, 3.2).

/// How many points a block has along each axis, ghosts included; columns lie next to one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Points along z.
    pub planes: usize,
    /// Points along y.
    pub rows: usize,
    /// Points along x.
    pub columns: usize,
}

impl Shape {
    /// All points, ghosts included.
    #[must_use]
    pub fn points(self) -> usize {
        self.planes * self.rows * self.columns
    }

    fn row(self, plane: usize, row: usize) -> std::ops::Range<usize> {
        let begin = (plane * self.rows + row) * self.columns;
        begin..begin + self.columns
    }
}

/// Weights of a 27-point stencil: the centre, 6 faces, 12 edges, 8 corners.
pub type Weights = [f64; 4];

/// For one row: the sums of the four rows beside it, and of the four rows across from it.
struct Around {
    beside: Vec<f64>,
    across: Vec<f64>,
}

impl Around {
    fn new(columns: usize) -> Self {
        Self { beside: vec![0.0; columns], across: vec![0.0; columns] }
    }

    fn sum(&mut self, shape: Shape, grid: &[f64], plane: usize, row: usize) {
        let line = |plane, row| &grid[shape.row(plane, row)];
        let (up, down) = (line(plane - 1, row), line(plane + 1, row));
        let (left, right) = (line(plane, row - 1), line(plane, row + 1));
        for ((((sum, a), b), c), d) in self.beside.iter_mut().zip(up).zip(down).zip(left).zip(right) {
            *sum = (a + b) + (c + d);
        }
        let (up, down) = (line(plane - 1, row - 1), line(plane + 1, row - 1));
        let (left, right) = (line(plane - 1, row + 1), line(plane + 1, row + 1));
        for ((((sum, a), b), c), d) in self.across.iter_mut().zip(up).zip(down).zip(left).zip(right) {
            *sum = (a + b) + (c + d);
        }
    }
}

/// Adds the stencil of `input` to each inner point of `output`; ghosts of `input` must be up to date.
///
/// # Panics
/// If a slice is not of the shape's size, or the shape has no inner point.
pub fn add_stencil(shape: Shape, input: &[f64], weights: Weights, output: &mut [f64]) {
    assert_eq!((input.len(), output.len()), (shape.points(), shape.points()));
    let [centre, face, edge, corner] = weights;
    let mut around = Around::new(shape.columns);
    let inner = shape.columns - 2;
    for plane in 1..shape.planes - 1 {
        for row in 1..shape.rows - 1 {
            around.sum(shape, input, plane, row);
            let line = &input[shape.row(plane, row)];
            let out = &mut output[shape.row(plane, row)][1..=inner];
            let (beside, across) = (&around.beside, &around.across);
            let before = line[..inner].iter().zip(&beside[..inner]).zip(&across[..inner]);
            let here = line[1..=inner].iter().zip(&beside[1..=inner]).zip(&across[1..=inner]);
            let after = line[2..].iter().zip(&beside[2..]).zip(&across[2..]);
            for (((out, ((l0, b0), a0)), ((l1, b1), a1)), ((l2, b2), a2)) in
                out.iter_mut().zip(before).zip(here).zip(after)
            {
                *out += centre * l1 + face * (l0 + l2 + b1) + edge * (a1 + b0 + b2) + corner * (a0 + a2);
            }
        }
    }
}

/// A coarse grid's points are every other point of the fine one: (1/2, 1/4, 1/8, 1/16) around each of them.
///
/// Inner point `i` of the coarse block lies at inner point `2 i + offset` of the fine one, for each of the
/// axes z, y, x; an offset is 1, or 0 for a fine block that is one point wide.
///
/// # Panics
/// If a slice is not of its shape's size, or the coarse block does not fit.
pub fn restrict(fine: Shape, input: &[f64], coarse: Shape, offset: [usize; 3], output: &mut [f64]) {
    assert_eq!((input.len(), output.len()), (fine.points(), coarse.points()));
    let mut around = Around::new(fine.columns);
    for plane in 1..coarse.planes - 1 {
        for row in 1..coarse.rows - 1 {
            let (z, y) = (2 * plane - 1 + offset[0], 2 * row - 1 + offset[1]);
            around.sum(fine, input, z, y);
            let line = &input[fine.row(z, y)];
            let out = &mut output[coarse.row(plane, row)];
            let inner = out.len() - 1;
            for (column, out) in out[..inner].iter_mut().enumerate().skip(1) {
                let x = 2 * column - 1 + offset[2];
                *out = 0.5 * line[x]
                    + 0.25 * (line[x - 1] + line[x + 1] + around.beside[x])
                    + 0.125 * (around.across[x] + around.beside[x - 1] + around.beside[x + 1])
                    + 0.0625 * (around.across[x - 1] + around.across[x + 1]);
            }
        }
    }
}

/// Adds the coarse grid to a fine one that has twice as many inner points, trilinearly, ghosts included.
///
/// Ghosts of the coarse grid must be up to date.
///
/// # Panics
/// If a slice is not of its shape's size, or the fine block is not twice the coarse one.
pub fn interpolate(coarse: Shape, input: &[f64], fine: Shape, output: &mut [f64]) {
    assert_eq!((input.len(), output.len()), (coarse.points(), fine.points()));
    let double = |points: usize| 2 * (points - 2) + 2;
    assert_eq!((fine.planes, fine.rows), (double(coarse.planes), double(coarse.rows)));
    assert_eq!(fine.columns, double(coarse.columns));
    let mut sum = vec![0.0; coarse.columns];
    for plane in 0..fine.planes {
        for row in 0..fine.rows {
            // With the ghosts counted, fine point 2 i is coarse point i, and 2 i + 1 is halfway to the next.
            let (z, y) = (plane.div_ceil(2), row.div_ceil(2));
            let (z0, y0) = (plane / 2, row / 2);
            let four = [(z0, y0), (z0, y), (z, y0), (z, y)].map(|(z, y)| &input[coarse.row(z, y)]);
            let pairs = four[0].iter().zip(four[1]).zip(four[2]).zip(four[3]);
            for (sum, (((a, b), c), d)) in sum.iter_mut().zip(pairs) {
                *sum = 0.25 * ((a + b) + (c + d));
            }
            let (pairs, _) = output[fine.row(plane, row)].as_chunks_mut::<2>();
            for (pair, near) in pairs.iter_mut().zip(sum.windows(2)) {
                pair[0] += near[0];
                pair[1] += 0.5 * (near[0] + near[1]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cube(points: usize) -> Shape {
        Shape { planes: points, rows: points, columns: points }
    }

    fn at(shape: Shape, z: usize, y: usize, x: usize) -> usize {
        shape.row(z, y).start + x
    }

    #[test]
    fn a_stencil_gives_each_of_27_neighbours_the_weight_of_its_distance() {
        let shape = Shape { planes: 5, rows: 6, columns: 7 };
        let mut point = vec![0.0; shape.points()];
        point[at(shape, 2, 3, 3)] = 1.0;
        let mut out = vec![0.0; shape.points()];
        add_stencil(shape, &point, [1.0, 2.0, 3.0, 4.0], &mut out);
        for z in 1..4usize {
            for y in 1..5usize {
                for x in 1..6usize {
                    let apart = [z.abs_diff(2), y.abs_diff(3), x.abs_diff(3)];
                    let near = apart.iter().all(|&steps| steps <= 1);
                    let expected = if near { 1.0 + apart.iter().sum::<usize>() as f64 } else { 0.0 };
                    assert_eq!(out[at(shape, z, y, x)], expected, "{z} {y} {x}");
                }
            }
        }
    }

    #[test]
    fn restriction_of_a_constant_is_four_times_it() {
        // 1/2 + 6/4 + 12/8 + 8/16
        let (fine, coarse) = (cube(6), cube(4));
        let mut out = vec![0.0; coarse.points()];
        restrict(fine, &vec![1.0; fine.points()], coarse, [1; 3], &mut out);
        assert_eq!(out.iter().filter(|&&value| value == 4.0).count(), 8);
    }

    #[test]
    fn interpolation_of_a_plane_is_the_plane() {
        let (coarse, fine) = (cube(5), cube(8));
        let mut input = vec![0.0; coarse.points()];
        for z in 0..5 {
            for y in 0..5 {
                for x in 0..5 {
                    // Inner coarse point i, counted from 0, is at 2 i + 1.
                    let place = [z, y, x].map(|point| 2.0 * f64::from(point) - 1.0);
                    input[at(coarse, z as usize, y as usize, x as usize)] =
                        place[0] + 10.0 * place[1] + 100.0 * place[2];
                }
            }
        }
        let mut out = vec![0.0; fine.points()];
        interpolate(coarse, &input, fine, &mut out);
        for z in 0..8usize {
            for y in 0..8usize {
                for x in 0..8usize {
                    let expected = z as f64 + 10.0 * y as f64 + 100.0 * x as f64 - 111.0;
                    assert_eq!(out[at(fine, z, y, x)], expected, "{z} {y} {x}");
                }
            }
        }
    }
}
