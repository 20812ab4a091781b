//! Many simulations in one call, without the interpreter's lock: what sweeps are made of.

use longhaul_plan::Plan;
use longhaul_sim::{Records, Simulation};
use longhaul_units::{InvalidValue, Time};
use pyo3::prelude::*;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use thiserror::Error;

/// Between two looks at the flag: some 20 ms.
const EVENTS_AT_ONCE: u64 = 200_000;

/// A flag that ends simulations in other threads.
#[pyclass(frozen)]
pub struct Stop(Arc<AtomicBool>);

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Self {
        Stop(Arc::default())
    }

    /// Every simulation that has the flag ends within milliseconds, for good.
    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What the run counted as JSON, and its echo requests as CSV; or what is wrong.
type Outcome = (Option<String>, Option<String>, Option<String>);

/// Simulates plans in JSON one after another: (result, echo requests, error) of each.
///
/// Fewer than there are plans if `stop` was set.
#[pyfunction]
#[pyo3(signature = (plans, *, stop = None))]
pub fn simulate_many(py: Python<'_>, plans: Vec<String>, stop: Option<&Stop>) -> Vec<Outcome> {
    let stop = stop.map(|stop| Arc::clone(&stop.0)).unwrap_or_default();
    py.detach(|| {
        plans
            .iter()
            .map_while(|plan| {
                // A defect ends the point that meets it, and no other.
                catch_unwind(AssertUnwindSafe(|| simulate(plan, &stop)))
                    .unwrap_or_else(|panic| Some(Err(Failure::Panic(words(&*panic).to_owned()))))
            })
            .map(|outcome| match outcome {
                Ok((result, pings)) => (Some(result), pings, None),
                Err(error) => (None, None, Some(error.to_string())),
            })
            .collect()
    })
}

/// Why a simulation has no result.
#[derive(Debug, Error)]
enum Failure {
    #[error("{0}")]
    Plan(#[from] InvalidValue),
    #[error("cannot write the records: {0}")]
    Records(#[from] io::Error),
    #[error("internal error: {0}")]
    Panic(String),
}

/// One run; `None` if it was stopped.
fn simulate(plan: &str, stop: &AtomicBool) -> Option<Result<(String, Option<String>), Failure>> {
    let plan = match Plan::from_json(plan.as_bytes()) {
        Ok(plan) => plan,
        Err(invalid) => return Some(Err(invalid.into())),
    };
    let pings = Kept::default();
    let asks = plan.flows.iter().any(|flow| matches!(flow.traffic, longhaul_plan::Traffic::Ping { .. }));
    let records = if asks {
        Records::new(&plan, |name| {
            Ok(if name == "pings.csv" { Box::new(pings.clone()) } else { Box::new(io::sink()) })
        })
    } else {
        Ok(Records::none())
    };
    let made = records.map_err(Failure::from).and_then(|records| Ok(Simulation::new(plan, records)?));
    let mut simulation = match made {
        Ok(simulation) => simulation,
        Err(error) => return Some(Err(error)),
    };
    while !simulation.advance(Time::NEVER, EVENTS_AT_ONCE) {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
    }
    let result = simulation.finish().map_err(Failure::from);
    Some(result.map(|result| (result.to_string(), asks.then(|| pings.text()))))
}

fn words(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a simulation gave up")
}

/// Text that a simulation writes and its owner reads.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Kept {
    fn text(&self) -> String {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
