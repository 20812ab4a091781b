//! The routes of a network that need not have a plan yet.

use crate::error;
use longhaul_network::{DirectionId, Edge, NodeId, Topology};
use longhaul_plan::{NodeKind, RouteOverride};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Where packets go next. Nodes and links are positions; a direction is twice its link's, plus one for reverse.
#[pyclass(frozen)]
pub struct Routes(longhaul_network::Routes);

#[pymethods]
impl Routes {
    #[new]
    #[pyo3(signature = (*, kinds, hosts, links, overrides, flow_hash=None))]
    fn new(
        kinds: Vec<bool>,
        hosts: Vec<usize>,
        links: Vec<(usize, usize, u64, u64, bool)>,
        overrides: Vec<(usize, usize, usize)>,
        flow_hash: Option<(u64, Vec<String>)>,
    ) -> PyResult<Self> {
        let kind = |is_host| if is_host { NodeKind::Host } else { NodeKind::Router };
        let edge = |(a, b, forward_ns, reverse_ns, present)| Edge {
            endpoints: [a, b],
            forward_ns,
            reverse_ns,
            present,
        };
        let route = |(node, destination, link)| RouteOverride { node, destination, link };
        let topology = Topology {
            nodes: kinds.into_iter().map(kind).collect(),
            hosts,
            links: links.into_iter().map(edge).collect(),
            overrides: overrides.into_iter().map(route).collect(),
            hash_seeds: flow_hash.map_or_else(Vec::new, |(seed, names)| {
                longhaul_network::hash_seeds(seed, names.iter().map(String::as_str))
            }),
        };
        topology.check().map_err(error::invalid)?;
        Ok(Routes(longhaul_network::Routes::new(&topology)))
    }

    fn next(&self, node: u32, destination: u32) -> PyResult<Option<u32>> {
        let next = self.0.next(self.node(node)?, self.node(destination)?);
        Ok(next.map(number))
    }

    fn path(&self, source: u32, destination: u32) -> PyResult<Option<Vec<u32>>> {
        let path = self.0.path(self.node(source)?, self.node(destination)?);
        Ok(path.map(|path| path.into_iter().map(number).collect()))
    }

    fn path_of(&self, source: u32, destination: u32, flow: u32) -> PyResult<Option<Vec<u32>>> {
        let path = self.0.path_of(self.node(source)?, self.node(destination)?, flow);
        Ok(path.map(|path| path.into_iter().map(number).collect()))
    }

    fn equal_next(&self, node: u32, destination: u32) -> PyResult<Vec<u32>> {
        let next = self.0.equal_next(self.node(node)?, self.node(destination)?);
        Ok(next.into_iter().map(number).collect())
    }

    fn used(&self, sources: Vec<u32>, destination: u32) -> PyResult<Vec<u32>> {
        let sources = sources.into_iter().map(|node| self.node(node)).collect::<PyResult<Vec<NodeId>>>()?;
        let used = self.0.used(&sources, self.node(destination)?);
        Ok(used.into_iter().map(number).collect())
    }

    fn tree(&self, sources: Vec<u32>, destination: u32) -> PyResult<Vec<(u32, u32)>> {
        let sources = sources.into_iter().map(|node| self.node(node)).collect::<PyResult<Vec<NodeId>>>()?;
        let tree = self.0.tree(&sources, self.node(destination)?);
        Ok(tree.into_iter().map(|(node, direction)| (node.0, number(direction))).collect())
    }

    fn attachment(&self, node: u32) -> PyResult<Option<(u32, usize)>> {
        let attachment = self.0.attachment(self.node(node)?);
        Ok(attachment.map(|(hub, link)| (hub.0, link)))
    }
}

impl Routes {
    fn node(&self, index: u32) -> PyResult<NodeId> {
        let nodes = self.0.node_count();
        if (index as usize) < nodes {
            return Ok(NodeId(index));
        }
        Err(PyValueError::new_err(format!("there are {nodes} nodes")))
    }
}

fn number(direction: DirectionId) -> u32 {
    direction.0
}
