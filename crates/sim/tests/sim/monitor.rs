//! Monitored links: exact bytes in every bin, and no influence on anything.

use crate::common::*;
use longhaul_plan::*;
use longhaul_sim::{Records, Simulation};
use longhaul_units::{Span, Time};
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

#[derive(Clone, Default)]
struct File(Arc<Mutex<Vec<u8>>>);

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The rows of `monitor.csv` as numbers; the names of link and way count as 0.
fn bins(plan: &Plan) -> (Vec<Vec<u64>>, Simulation) {
    let file = File::default();
    let records = Records::new(plan, |name| match name {
        "monitor.csv" => Ok(Box::new(file.clone())),
        _ => Ok(Box::new(io::sink())),
    });
    let mut simulation = Simulation::new(plan.clone(), records.unwrap()).unwrap();
    assert!(simulation.advance(Time::NEVER, u64::MAX));
    simulation.finish().unwrap();
    let bytes = file.0.lock().unwrap().clone();
    let rows = String::from_utf8(bytes).unwrap();
    let number = |field: &str| field.parse().unwrap_or(0);
    (rows.lines().skip(1).map(|line| line.split(',').map(number).collect()).collect(), simulation)
}

#[test]
fn datagrams_at_an_even_rate_fill_every_bin_alike() {
    // 1,222 bytes of payload are 1,250 of IP and 1,288 on the wire; one each ms, on its way for 0.1 ms
    // (at 103.04 Mbit/s) and 10 ms.
    let mut forward = direction(10 * MS, Some(103_040_000));
    forward.framing = Framing { overhead_bytes: 38, ..Framing::default() };
    let plan = with(pipe(1500, forward), vec![flow("even", [0, 1], even(9_776_000, 1_222, None))]);
    let monitor = Monitor { every_ns: 5 * MS, links: vec![0], flows: false };
    let measure = Measure { monitor: Some(monitor), ..plan.measure.clone() };
    let (rows, _) = bins(&Plan { duration_ns: Some(SECOND), measure, ..plan });
    assert_eq!(rows.len(), 200);
    for (number, row) in (0..).zip(&rows) {
        let came = [5, 5 * 1_250, 5 * 1_288];
        let due = if number < 2 { [0, 0, 0] } else { came };
        assert_eq!(row[..3], [number * 5 * MS, 0, 0]);
        assert_eq!((&row[3..6], &row[6..9], &row[9..]), (&came[..], &due[..], &[0; 7][..]), "bin {number}");
    }
}

#[test]
fn bins_add_up_to_the_counters_of_the_link_and_move_nothing() {
    let lossy = LossModel::GilbertElliott { mean: 0.01, burst: 3.0 };
    for discipline in ["fifo", "codel"] {
        let mut forward = Direction { loss: lossy.clone(), ..queued(5 * MS, 20_000_000, 40) };
        if discipline == "codel" {
            forward.queue.discipline = QueueDiscipline::Codel(CodelParameters {
                target: Span::from_ns(5 * MS),
                interval: Span::from_ns(100 * MS),
                ecn: false,
            });
        }
        forward.duplicate = probability(0.01);
        let plan = one(1500, forward, named("cubic"), Tcp::default());
        let plan = Plan { duration_ns: Some(5 * SECOND), ..plan };
        let (_, all) = Run::whole(&plan);
        let monitor = Monitor { every_ns: MS, links: vec![0], flows: true };
        let measure = Measure { monitor: Some(monitor), every_ns: 70 * MS, ..plan.measure.clone() };
        let (rows, watched) = bins(&Plan { measure, ..plan.clone() });
        assert_eq!(format!("{:016x}", watched.digest()), all["digest"], "{discipline}");
        let both = |field: &str| {
            ["forward", "reverse"]
                .map(|way| all["links"][0][way][field].as_u64().unwrap())
                .iter()
                .sum::<u64>()
        };
        let fields = [
            (3, "offered_packets"),
            (4, "offered_bytes"),
            (6, "delivered_packets"),
            (7, "delivered_bytes"),
            (9, "lost_packets"),
            (10, "overflowed_packets"),
            (11, "dropped_packets"),
        ];
        for (column, field) in fields {
            let sum: u64 = rows.iter().map(|row| row[column]).sum();
            assert_eq!(sum, both(field), "{field} with {discipline}");
        }
        assert!(both("lost_packets") > 0 && rows.iter().any(|row| row[14] > 0));
    }
}
