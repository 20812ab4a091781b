//! An algorithm's core as a program of this machine.

use longhaul_transport::cc_trace::{Entry, Event};
use longhaul_units::Span;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;

const FRACTION: f64 = 4_294_967_296.0;

pub struct Native {
    program: PathBuf,
}

impl Native {
    /// Compiles the core of the algorithm of this name, unless that was done before.
    pub fn of(name: &str) -> Self {
        static COMPILING: Mutex<()> = Mutex::new(());
        let _one = COMPILING.lock().unwrap();
        let program =
            PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        if !program.exists() {
            let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/bpf/native.c");
            let status = Command::new("cc")
                .args(["-O2", "-Wall", "-Werror", "-Wno-unknown-pragmas", "-fsanitize=undefined,bounds"])
                .args(["-fno-sanitize-recover=all", "-Wno-unused-function"])
                .arg(format!("-DALGORITHM=\"core/{name}.h\""))
                .arg(sources)
                .arg("-o")
                .arg(&program)
                .status()
                .expect("cc");
            assert!(status.success());
        }
        Native { program }
    }

    /// Its window after each event, in segments.
    pub fn windows(&self, parameters: &[u64], initial: u64, entries: &[Entry]) -> Vec<f64> {
        let mut told = String::new();
        for parameter in parameters {
            write!(told, "{parameter} ").unwrap();
        }
        writeln!(told, "\n{}", initial << 32).unwrap();
        for entry in entries {
            line(&mut told, &entry.event);
        }
        let mut child = Command::new(&self.program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the compiled core runs");
        let mut input = child.stdin.take().unwrap();
        let writer = std::thread::spawn(move || input.write_all(told.as_bytes()));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap().unwrap();
        assert!(output.status.success());
        let first = |line: &str| line.split(' ').next().unwrap().parse::<u64>().unwrap() as f64 / FRACTION;
        String::from_utf8(output.stdout).unwrap().lines().map(first).collect()
    }
}

fn line(told: &mut String, event: &Event) {
    match event {
        Event::Ack(ack) => writeln!(
            told,
            "A {} {} {} {} {} {} {} {} {}",
            ack.now.ns(),
            ack.acked,
            ack.delivered,
            ack.rtt.map_or(0, Span::ns),
            ack.min_rtt.ns(),
            ack.first_unacked,
            ack.next_sequence,
            u8::from(ack.window_limited),
            u8::from(ack.recovering)
        ),
        Event::Congestion(congestion) => {
            writeln!(told, "C {} {}", congestion.now.ns(), congestion.in_flight)
        }
        Event::Timeout(now, in_flight) => writeln!(told, "T {} {in_flight}", now.ns()),
        Event::Lost(now, chance) => writeln!(told, "L {} {}", now.ns(), (chance * FRACTION) as u64),
        Event::Recovered(now) => writeln!(told, "R {}", now.ns()),
        Event::Spurious(now) => writeln!(told, "S {}", now.ns()),
    }
    .unwrap();
}
