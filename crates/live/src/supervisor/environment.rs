//! Environment variables and host files of the programs of a run.

use crate::cgroup::Groups;
use crate::error::{Error, Result};
use crate::host::INTERFACE;
use crate::mpi::{self, HostFiles};
use longhaul_plan::{NodeKind, Placement, Plan, Program, Ranks};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Variables of every program of the run, and of every command that enters it.
pub fn environment(plan: &Plan, directory: &Path, agent: &Path) -> Result<BTreeMap<String, String>> {
    let mut env = mpi::environment(agent, INTERFACE);
    env.extend(place(&host_names(plan), 1, Ranks::ByCluster, &directory.join("raw/hosts.d/all"))?);
    env.extend(of_the_run(plan, directory)?);
    env.insert("LONGHAUL_AGENT".into(), agent.display().to_string());
    Ok(env)
}

/// Those that tell where the run is, and which hosts it has.
fn of_the_run(plan: &Plan, directory: &Path) -> Result<BTreeMap<String, String>> {
    let all = directory.join("raw/hostfile");
    write(&all, host_names(plan).join("\n") + "\n")?;
    Ok(BTreeMap::from([
        ("LONGHAUL_HOSTFILE".into(), all.display().to_string()),
        ("LONGHAUL_RUN".into(), directory.display().to_string()),
    ]))
}

fn host_names(plan: &Plan) -> Vec<&str> {
    plan.nodes.iter().filter(|node| node.kind == NodeKind::Host).map(|node| node.name.as_str()).collect()
}

/// Variables of a program that spans hosts: these hosts, and no others.
pub fn parallel_environment(
    plan: &Plan,
    program: &Program,
    files: &Path,
) -> Result<BTreeMap<String, String>> {
    let Some(Placement { hosts, slots, ranks }) = &program.span else { return Ok(BTreeMap::new()) };
    let names: Vec<&str> = hosts.iter().map(|&host| plan.nodes[host].name.as_str()).collect();
    let mut env = place(&names, *slots, *ranks, &files.join(format!("program.{}", program.name)))?;
    env.insert("LONGHAUL_HOSTS".into(), names.join(","));
    env.insert("LONGHAUL_SLOTS".into(), slots.to_string());
    Ok(env)
}

fn place(names: &[&str], slots: u32, ranks: Ranks, stem: &Path) -> Result<BTreeMap<String, String>> {
    let [openmpi, mpich] = ["openmpi", "mpich"].map(|kind| {
        let mut name = stem.as_os_str().to_owned();
        name.push(format!(".{kind}"));
        PathBuf::from(name)
    });
    write(&openmpi, mpi::openmpi_hosts(names, slots))?;
    write(&mpich, mpi::mpich_hosts(names, slots, ranks))?;
    Ok(mpi::placement(&HostFiles { openmpi: &openmpi, mpich: &mpich }, ranks))
}

fn write(path: &Path, text: String) -> Result<()> {
    fs::write(path, text).map_err(|error| Error::wrap(format!("write {}", path.display()), error))
}

/// Directories that programs of hosts may write although they lie inside read-only ones.
pub(super) fn writable_paths(cwd: &Path, directory: &Path, groups: &Groups) -> Vec<PathBuf> {
    let temporary = std::env::var_os("TMPDIR").map(PathBuf::from);
    let groups = groups.roots().into_iter().map(Path::to_owned);
    let places = [cwd.to_owned(), directory.to_owned()].into_iter().chain(groups).chain(temporary);
    places.filter_map(|place| fs::canonicalize(place).ok()).collect()
}
