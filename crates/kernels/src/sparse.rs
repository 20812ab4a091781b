//! A sparse matrix by rows, times a vector (NAS-91-002, 3.3).

/// `product = A x`, where the entries of row `i` are those from `starts[i]` up to `starts[i + 1]`.
///
/// # Panics
/// If `starts` has not one entry more than `product`, or an entry lies outside of the matrix.
pub fn multiply(starts: &[i32], columns: &[i32], values: &[f64], x: &[f64], product: &mut [f64]) {
    assert_eq!(starts.len(), product.len() + 1);
    for (out, ends) in product.iter_mut().zip(starts.windows(2)) {
        let row = ends[0] as usize..ends[1] as usize;
        let mut sum = 0.0;
        for (&column, value) in columns[row.clone()].iter().zip(&values[row]) {
            sum += value * x[column as usize];
        }
        *out = sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_multiplied_with_a_vector() {
        // 1 2 0 / 0 0 0 / 0 3 4
        let mut product = [9.0; 3];
        multiply(&[0, 2, 2, 4], &[0, 1, 1, 2], &[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0], &mut product);
        assert_eq!(product, [17.0, 0.0, 46.0]);
    }
}
