//! The inner loops of the workloads on NumPy's arrays, which are seen through the buffer protocol.

use longhaul_kernels::multigrid::{self, Shape};
use longhaul_kernels::relaxation::{self, Sweep};
use longhaul_kernels::{sorting, sparse};
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

type Sizes = (usize, usize, usize);

fn shape(sizes: Sizes) -> PyResult<Shape> {
    if sizes.0 < 3 || sizes.1 < 3 || sizes.2 < 3 {
        return Err(PyValueError::new_err("a block has an inner point and its ghosts along each axis"));
    }
    Ok(Shape { planes: sizes.0, rows: sizes.1, columns: sizes.2 })
}

fn refuse_unless(holds: bool, what: &'static str) -> PyResult<()> {
    if holds { Ok(()) } else { Err(PyValueError::new_err(what)) }
}

fn checked<T: Element>(buffer: &PyBuffer<T>) -> PyResult<()> {
    refuse_unless(buffer.is_c_contiguous(), "an array is not contiguous")
}

/// What is read. The caller holds the interpreter's lock, and lends no overlapping array to [`write`].
fn read<T: Element>(buffer: &PyBuffer<T>) -> PyResult<&[T]> {
    checked(buffer)?;
    if buffer.item_count() == 0 {
        return Ok(&[]);
    }
    #[expect(unsafe_code, reason = "an array of Python is borrowed without a copy")]
    // SAFETY: the buffer has `item_count` contiguous elements of `T` and lives as long as `buffer`. The caller holds the
    // interpreter's lock and lends no overlapping array to `write`.
    Ok(unsafe { std::slice::from_raw_parts(buffer.buf_ptr().cast::<T>(), buffer.item_count()) })
}

/// What is written; `others` are the arrays of the same call, which must lie elsewhere.
fn write<'a, T: Element>(buffer: &'a mut PyBuffer<T>, others: &[(usize, usize)]) -> PyResult<&'a mut [T]> {
    checked(buffer)?;
    refuse_unless(!buffer.readonly(), "an array to write to is read-only")?;
    let (begin, end) = place(buffer);
    refuse_unless(
        others.iter().all(|&(other_begin, other_end)| end <= other_begin || other_end <= begin),
        "an array to write to overlaps another",
    )?;
    if buffer.item_count() == 0 {
        return Ok(&mut []);
    }
    #[expect(unsafe_code, reason = "an array of Python is borrowed without a copy")]
    // SAFETY: as in `read`; the buffer is writable, and no array in `others` overlaps it.
    Ok(unsafe { std::slice::from_raw_parts_mut(buffer.buf_ptr().cast::<T>(), buffer.item_count()) })
}

fn place<T: Element>(buffer: &PyBuffer<T>) -> (usize, usize) {
    let begin = buffer.buf_ptr() as usize;
    (begin, begin + buffer.len_bytes())
}

/// output += stencil(input) at inner points.
#[pyfunction]
pub fn add_stencil(
    sizes: Sizes,
    input: PyBuffer<f64>,
    weights: [f64; 4],
    mut output: PyBuffer<f64>,
) -> PyResult<()> {
    let shape = shape(sizes)?;
    let from = read(&input)?;
    let to = write(&mut output, &[place(&input)])?;
    refuse_unless(from.len() == shape.points() && to.len() == shape.points(), "sizes differ")?;
    multigrid::add_stencil(shape, from, weights, to);
    Ok(())
}

/// The coarse grid below a fine one.
#[pyfunction]
pub fn restrict(
    fine: Sizes,
    input: PyBuffer<f64>,
    coarse: Sizes,
    offset: [usize; 3],
    mut output: PyBuffer<f64>,
) -> PyResult<()> {
    let (fine, coarse) = (shape(fine)?, shape(coarse)?);
    let from = read(&input)?;
    let to = write(&mut output, &[place(&input)])?;
    let fits = |fine: usize, coarse: usize, offset: usize| 2 * (coarse - 2) - 1 + offset < fine - 1;
    let all = fits(fine.planes, coarse.planes, offset[0])
        && fits(fine.rows, coarse.rows, offset[1])
        && fits(fine.columns, coarse.columns, offset[2]);
    refuse_unless(all && from.len() == fine.points() && to.len() == coarse.points(), "sizes differ")?;
    multigrid::restrict(fine, from, coarse, offset, to);
    Ok(())
}

/// fine += interpolated(coarse).
#[pyfunction]
pub fn interpolate(
    coarse: Sizes,
    input: PyBuffer<f64>,
    fine: Sizes,
    mut output: PyBuffer<f64>,
) -> PyResult<()> {
    let (coarse, fine) = (shape(coarse)?, shape(fine)?);
    let from = read(&input)?;
    let to = write(&mut output, &[place(&input)])?;
    let twice = |coarse: usize, fine: usize| fine == 2 * (coarse - 2) + 2;
    let all = twice(coarse.planes, fine.planes)
        && twice(coarse.rows, fine.rows)
        && twice(coarse.columns, fine.columns);
    refuse_unless(all && from.len() == coarse.points() && to.len() == fine.points(), "sizes differ")?;
    multigrid::interpolate(coarse, from, fine, to);
    Ok(())
}

/// product = A x. An entry outside of the matrix raises `PanicException`.
#[pyfunction]
pub fn multiply_sparse(
    starts: PyBuffer<i32>,
    columns: PyBuffer<i32>,
    values: PyBuffer<f64>,
    x: PyBuffer<f64>,
    mut product: PyBuffer<f64>,
) -> PyResult<()> {
    let others = [place(&starts), place(&columns), place(&values), place(&x)];
    let to = write(&mut product, &others)?;
    refuse_unless(starts.item_count() == to.len() + 1, "sizes differ")?;
    sparse::multiply(read(&starts)?, read(&columns)?, read(&values)?, read(&x)?, to);
    Ok(())
}

/// counts[(key - lowest) >> shift] += 1 for each key. A key without a count raises `PanicException`.
#[pyfunction]
pub fn count_keys(keys: PyBuffer<i32>, lowest: i32, shift: u32, mut counts: PyBuffer<i32>) -> PyResult<()> {
    let from = read(&keys)?;
    sorting::count(from, lowest, shift, write(&mut counts, &[place(&keys)])?);
    Ok(())
}

/// Keys by bucket; `next` is where each bucket's next key goes. A key without a place raises `PanicException`.
#[pyfunction]
pub fn distribute_keys(
    keys: PyBuffer<i32>,
    shift: u32,
    mut next: PyBuffer<i32>,
    mut output: PyBuffer<i32>,
) -> PyResult<()> {
    let (keys_place, next_place) = (place(&keys), place(&next));
    let next = write(&mut next, &[keys_place])?;
    let to = write(&mut output, &[keys_place, next_place])?;
    sorting::distribute(read(&keys)?, shift, next, to);
    Ok(())
}

/// One colour's points of a block of rows; the largest change.
#[pyfunction]
pub fn relax(mut grid: PyBuffer<f64>, columns: usize, parity: usize, omega: f64) -> PyResult<f64> {
    let grid = write(&mut grid, &[])?;
    refuse_unless(columns > 0 && grid.len() % columns == 0, "the grid is not a whole number of rows")?;
    Ok(relaxation::relax(grid, Sweep { columns, parity, omega }))
}
