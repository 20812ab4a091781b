//! Red-black successive over-relaxation of a block of rows.

/// A block of rows of a grid, of which the first and last row and column stay as they are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sweep {
    /// Points of a row.
    pub columns: usize,
    /// Points (i, j) are updated where i + j + parity is even, i counted from the block's first row.
    pub parity: usize,
    /// The factor of over-relaxation, between 0 and 2.
    pub omega: f64,
}

/// u += omega (mean of four neighbours - u) at one colour's inner points; returns the largest |change|.
///
/// A point's neighbours have the other colour, so that no order of updates changes a bit.
///
/// # Panics
/// If the grid is not a whole number of rows.
pub fn relax(grid: &mut [f64], sweep: Sweep) -> f64 {
    let columns = sweep.columns;
    assert_eq!(grid.len() % columns, 0);
    let rows = grid.len() / columns;
    let mut largest = 0.0_f64;
    for row in 1..rows.saturating_sub(1) {
        let (above, rest) = grid[(row - 1) * columns..(row + 2) * columns].split_at_mut(columns);
        let (line, below) = rest.split_at_mut(columns);
        let mut column = 1 + (row + 1 + sweep.parity) % 2;
        while column + 1 < columns {
            let sum = (above[column] + below[column]) + (line[column - 1] + line[column + 1]);
            let change = sweep.omega * (0.25 * sum - line[column]);
            line[column] += change;
            if change.abs() > largest {
                largest = change.abs();
            }
            column += 2;
        }
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colour_is_updated_from_the_other_alone() {
        // One inner row of three points; the outer ones are 4.
        let mut grid = vec![4.0; 15];
        grid[6..9].copy_from_slice(&[0.0; 3]);
        let change = relax(&mut grid, Sweep { columns: 5, parity: 0, omega: 1.0 });
        assert_eq!((change, &grid[6..9]), (3.0, &[3.0, 0.0, 3.0][..]));
        let change = relax(&mut grid, Sweep { columns: 5, parity: 1, omega: 1.0 });
        assert_eq!((change, &grid[6..9]), (3.5, &[3.0, 3.5, 3.0][..]));
    }
}
