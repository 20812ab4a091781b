//! What MPI needs to find the hosts of a run, as environment and host files.
//!
//! Open MPI reads `OMPI_MCA_*` (its library, and all of version 4) and `PRTE_MCA_*` (the launcher of
//! version 5); MPICH reads `HYDRA_*` (launcher), `UCX_*` and `FI_*` (transports).

use longhaul_plan::Ranks;
use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::path::Path;

/// Where the two kinds of host files are.
pub struct HostFiles<'a> {
    /// Lines like `a1 slots=2`.
    pub openmpi: &'a Path,
    /// Lines like `a1:2`.
    pub mpich: &'a Path,
}

/// The host file of Open MPI. Slots are always written: without them version 4 takes the machine's cores.
pub fn openmpi_hosts(hosts: &[&str], slots: u32) -> String {
    lines(hosts, format_args!(" slots={slots}"))
}

/// The host file of MPICH, whose order of lines is the order of ranks.
pub fn mpich_hosts(hosts: &[&str], slots: u32, ranks: Ranks) -> String {
    match ranks {
        Ranks::ByCluster => lines(hosts, format_args!(":{slots}")),
        Ranks::RoundRobin => lines(hosts, format_args!(":1")).repeat(slots as usize),
    }
}

/// One line for each host, its name with `suffix`.
fn lines(hosts: &[&str], suffix: fmt::Arguments<'_>) -> String {
    let mut text = String::new();
    for host in hosts {
        let _ = writeln!(text, "{host}{suffix}");
    }
    text
}

/// Variables that lead both to the hosts in `files`.
pub fn placement(files: &HostFiles<'_>, ranks: Ranks) -> BTreeMap<String, String> {
    let openmpi = files.openmpi.display().to_string();
    // Open MPI fills by slots by default. Every host would bind its first rank to the first
    // core, and all hosts have the same cores: so nothing is bound.
    let policy = if ranks == Ranks::RoundRobin { "node" } else { "slot" };
    owned(&[
        ("PRTE_MCA_prte_default_hostfile", &openmpi),
        ("OMPI_MCA_orte_default_hostfile", &openmpi),
        ("PRTE_MCA_rmaps_default_mapping_policy", policy),
        ("OMPI_MCA_rmaps_base_mapping_policy", policy),
        ("HYDRA_HOST_FILE", &files.mpich.display().to_string()),
    ])
}

/// Variables that are the same for all programs of a run whose launch agent is `agent`.
pub fn environment(agent: &Path, interface: &str) -> BTreeMap<String, String> {
    let agent = agent.display().to_string();
    owned(&[
        ("OMPI_MCA_plm_rsh_agent", &agent),
        ("PRTE_MCA_plm_ssh_agent", &agent),
        ("HYDRA_LAUNCHER", "rsh"),
        ("HYDRA_LAUNCHER_EXEC", &agent),
        ("OMPI_MCA_btl_tcp_if_include", interface),
        ("OMPI_MCA_oob_tcp_if_include", interface),
        ("PRTE_MCA_prte_if_include", interface),
        ("HYDRA_IFACE", interface),
        ("UCX_NET_DEVICES", interface),
        ("FI_TCP_IFACE", interface),
        // TCP between hosts; shared memory within one, as a cluster's node has it.
        ("OMPI_MCA_pml", "ob1"),
        ("UCX_TLS", "tcp,self,sm"),
        ("FI_PROVIDER", "tcp"),
        // Ranks share few cores: one that waits must let the others work.
        ("OMPI_MCA_mpi_yield_when_idle", "1"),
        ("OMPI_MCA_hwloc_base_binding_policy", "none"),
        ("PRTE_MCA_hwloc_default_binding_policy", "none"),
        // Programs are root of their run, which is a user namespace or a machine that root chose.
        ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ("PRTE_ALLOW_RUN_AS_ROOT", "1"),
        ("PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ])
}

fn owned(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_by_cluster_fill_a_host_before_the_next() {
        assert_eq!(mpich_hosts(&["a", "b"], 2, Ranks::ByCluster), "a:2\nb:2\n");
        assert_eq!(openmpi_hosts(&["a", "b"], 2), "a slots=2\nb slots=2\n");
    }

    #[test]
    fn ranks_round_robin_visit_every_host_before_the_first_again() {
        assert_eq!(mpich_hosts(&["a", "b"], 2, Ranks::RoundRobin), "a:1\nb:1\na:1\nb:1\n");
    }
}
