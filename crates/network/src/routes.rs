//! Shortest paths by one-way delay; then fewer hops; then the lower link, or by a hash of the flow.
//!
//! With multipath, a router that has several next hops of equal delay and hops chooses by hash-threshold (RFC 2992): the
//! hash of the flow, mixed with the router's own seed, is a point of a range that the next hops divide equally. All
//! packets of a flow take one path, and routers behind one another divide flows independently.
//!
//! A host with a single link is not part of the search: it is reached through the node that it
//! hangs on. So a thousand hosts on ten routers cost ten searches over ten nodes.
//!
//! A host that forwards is passed through like a router: all of its interfaces are one node of the search.
//!
//! A host takes packets for any of its addresses at each of its interfaces (the weak end system model of RFC 1122,
//! section 3.3.4.2, as Linux). So where no path leads to an interface, that to the first other one of its host holds.

use crate::packet::{DirectionId, NodeId};
use crate::topology::Topology;
use longhaul_plan::Way;
use longhaul_random::mix;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::OnceLock;

const NONE: u32 = u32::MAX;
/// Entries of a table from here on are not directions: `NONE`, or this plus the position of a set of equal next hops.
const SETS: u32 = 1 << 31;
/// Up to so many nodes every route is in one table (1 MB).
const SMALL: usize = 512;

/// Where packets go next. Methods panic for nodes that the topology does not have.
#[derive(Debug)]
pub struct Routes {
    /// Of each node with a single link that is a host: the node beyond, the way there, the way back.
    leaves: Vec<Option<Leaf>>,
    graph: Graph,
    /// For each core destination, for each core node: the direction to take, or `NONE`. Searched for when first needed.
    tables: Vec<OnceLock<Table>>,
    overrides: BTreeMap<(u32, u32), u32>,
    /// The node that each direction leads to.
    far: Vec<u32>,
    /// Nodes at which paths end: hosts that do not forward.
    is_host: Vec<bool>,
    /// The host of each interface; any other node itself.
    hosts: Vec<u32>,
    /// All interfaces of each host that has several, by the host.
    interfaces: BTreeMap<u32, Vec<u32>>,
    /// Of small networks, the answer to every question: node by node, each by destination.
    all: Table,
    /// With multipath, what each node mixes into the hashes of flows; else empty.
    hash_seeds: Vec<u64>,
}

/// Directions, or positions of sets of equal ones.
#[derive(Debug, Default)]
struct Table {
    next: Vec<u32>,
    sets: Vec<Vec<u32>>,
}

/// The next hops of a packet; there is at least one.
#[derive(Clone, Copy, Debug)]
enum NextHops<'a> {
    One(u32),
    Several(&'a [u32]),
}

#[derive(Clone, Copy, Debug)]
struct Leaf {
    attached_to: u32,
    out: u32,
    back: u32,
}

/// The nodes that are searched: all but the leaves.
#[derive(Debug)]
struct Graph {
    /// Position of each node among the members, or `NONE`.
    core: Vec<u32>,
    members: Vec<Member>,
}

#[derive(Debug)]
struct Member {
    is_host: bool,
    incoming: Vec<Incoming>,
}

#[derive(Debug)]
struct Incoming {
    /// Position among the members.
    from: u32,
    cost_ns: u64,
    direction: u32,
}

impl Routes {
    /// The routes of `topology`, whose indices have been checked. Each destination is searched for when a path to it is
    /// first needed.
    pub fn new(topology: &Topology) -> Self {
        let is_host: Vec<bool> = topology
            .nodes
            .iter()
            .zip(&topology.forwarding)
            .map(|(kind, forwards)| kind.is_end() && !forwards)
            .collect();
        let far: Vec<u32> = topology
            .links
            .iter()
            .flat_map(|link| [link.endpoints[1] as u32, link.endpoints[0] as u32])
            .collect();
        let leaves = leaves(topology, &is_host, &far);
        let at = |node: usize| if topology.forwarding[node] { topology.hosts[node] } else { node } as u32;
        let overrides = topology
            .overrides
            .iter()
            .filter(|route| topology.links[route.link].present)
            .map(|route| {
                let reverse = topology.links[route.link].endpoints[0] != route.node;
                let way = if reverse { Way::Reverse } else { Way::Forward };
                ((at(route.node), route.destination as u32), DirectionId::new(route.link, way).0)
            })
            .collect();
        let graph = Graph::new(topology, &leaves, &is_host);
        let tables = graph.members.iter().map(|_| OnceLock::new()).collect();
        let hosts: Vec<u32> = topology.hosts.iter().map(|&host| host as u32).collect();
        let mut interfaces: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (node, &host) in (0..).zip(&hosts).filter(|&(node, &host)| node != host) {
            interfaces.entry(host).or_insert_with(|| vec![host]).push(node);
        }
        let (all, hash_seeds) = (Table::default(), topology.hash_seeds.clone());
        Routes { leaves, graph, tables, overrides, far, is_host, hosts, interfaces, all, hash_seeds }
    }

    /// The same routes, with one table of all answers if the network is small.
    #[must_use]
    pub fn tabulate(mut self) -> Self {
        let count = self.is_host.len();
        if count <= SMALL {
            let mut all = Table::default();
            let mut known: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
            for node in 0..count as u32 {
                for destination in 0..count as u32 {
                    all.next.push(match self.search_next(node, destination) {
                        None => NONE,
                        Some(NextHops::One(direction)) => direction,
                        Some(NextHops::Several(set)) => *known.entry(set.to_vec()).or_insert_with(|| {
                            all.sets.push(set.to_vec());
                            SETS + all.sets.len() as u32 - 1
                        }),
                    });
                }
            }
            self.all = all;
        }
        self
    }

    /// Does every search now, for an engine whose packets must not wait for one.
    pub fn complete(&self) {
        for target in 0..self.tables.len() {
            self.table(target);
        }
    }

    /// The direction that a packet at `node` for `destination` takes; of several equal ones, the first.
    #[inline]
    pub fn next(&self, node: NodeId, destination: NodeId) -> Option<DirectionId> {
        self.next_hops(node, destination).map(|hops| match hops {
            NextHops::One(direction) => DirectionId(direction),
            NextHops::Several(set) => DirectionId(set[0]),
        })
    }

    /// The direction that a packet of the flow with this hash takes at `node` for `destination`.
    #[inline]
    pub fn next_of(&self, node: NodeId, destination: NodeId, flow: u32) -> Option<DirectionId> {
        self.next_hops(node, destination).map(|hops| match hops {
            NextHops::One(direction) => DirectionId(direction),
            NextHops::Several(set) => DirectionId(self.choose(node, set, flow)),
        })
    }

    /// The directions that packets may take at `node` for `destination`, in ascending order: several only with multipath.
    pub fn equal_next(&self, node: NodeId, destination: NodeId) -> Vec<DirectionId> {
        match self.next_hops(node, destination) {
            None => Vec::new(),
            Some(NextHops::One(direction)) => vec![DirectionId(direction)],
            Some(NextHops::Several(set)) => set.iter().copied().map(DirectionId).collect(),
        }
    }

    /// The directions that a packet takes, or `None` if no path leads there; of equal paths, the first. No path leads
    /// through a host that does not forward.
    pub fn path(&self, from: NodeId, to: NodeId) -> Option<Vec<DirectionId>> {
        self.walk(from, to, |node| self.next(node, to))
    }

    /// The directions that packets of the flow with this hash take, or `None` if no path leads there.
    pub fn path_of(&self, from: NodeId, to: NodeId, flow: u32) -> Option<Vec<DirectionId>> {
        self.walk(from, to, |node| self.next_of(node, to, flow))
    }

    fn walk(
        &self,
        from: NodeId,
        to: NodeId,
        next: impl Fn(NodeId) -> Option<DirectionId>,
    ) -> Option<Vec<DirectionId>> {
        let mut path = Vec::new();
        let mut node = from;
        while !self.is_same_host(node, to) {
            if path.len() > self.is_host.len() || (node != from && self.is_host[node.0 as usize]) {
                return None;
            }
            let direction = next(node)?;
            path.push(direction);
            node = self.far(direction);
        }
        Some(path)
    }

    /// Every direction that packets from `sources` to `destination` may take, in ascending order.
    pub fn used(&self, sources: &[NodeId], destination: NodeId) -> Vec<DirectionId> {
        let mut used: Vec<DirectionId> = Vec::new();
        let mut seen = vec![false; self.is_host.len()];
        let mut open: Vec<NodeId> = sources.to_vec();
        while let Some(node) = open.pop() {
            if self.is_same_host(node, destination) || std::mem::replace(&mut seen[node.0 as usize], true) {
                continue;
            }
            for direction in self.equal_next(node, destination) {
                used.push(direction);
                let far = self.far(direction);
                if !self.is_host[far.0 as usize] {
                    open.push(far);
                }
            }
        }
        used.sort_unstable();
        used
    }

    /// Whether all packets between two nodes take the same path.
    pub fn is_single_path(&self, from: NodeId, to: NodeId) -> bool {
        self.path(from, to).is_none_or(|path| path.len() == self.used(&[from], to).len())
    }

    /// Hash-threshold (RFC 2992, section 2): equal parts of the range of the hash.
    #[inline]
    fn choose(&self, node: NodeId, set: &[u32], flow: u32) -> u32 {
        let seed = self.hash_seeds.get(node.0 as usize).copied().unwrap_or(0);
        let point = mix(seed ^ u64::from(flow)) >> 32;
        set[((point * set.len() as u64) >> 32) as usize]
    }

    #[inline]
    fn next_hops(&self, node: NodeId, destination: NodeId) -> Option<NextHops<'_>> {
        if self.all.next.is_empty() {
            return self.search_next(node.0, destination.0);
        }
        self.all.at(node.0 as usize * self.is_host.len() + destination.0 as usize)
    }

    /// The union of the paths from `sources` to `destination`: its nodes, each with the direction that it takes.
    ///
    /// A node comes after the one that its direction leads to. Sources without a path are left out.
    pub fn tree(&self, sources: &[NodeId], destination: NodeId) -> Vec<(NodeId, DirectionId)> {
        let mut arrives: Vec<Option<bool>> = vec![None; self.is_host.len()];
        arrives[destination.0 as usize] = Some(true);
        for &interface in self.interfaces.get(&self.hosts[destination.0 as usize]).into_iter().flatten() {
            arrives[interface as usize] = Some(true);
        }
        let mut tree = Vec::new();
        let mut walked: Vec<(NodeId, DirectionId)> = Vec::new();
        for &source in sources {
            let mut node = source;
            let mut through_host = false;
            while arrives[node.0 as usize].is_none() && !through_host {
                let Some(direction) = self.next(node, destination) else { break };
                // Until more is known, so that a circle ends here.
                arrives[node.0 as usize] = Some(false);
                walked.push((node, direction));
                node = self.far(direction);
                through_host = !self.is_same_host(node, destination) && self.is_host[node.0 as usize];
            }
            let good = !through_host && arrives[node.0 as usize] == Some(true);
            for step in walked.drain(..).rev() {
                arrives[step.0.0 as usize] = Some(good);
                if good {
                    tree.push(step);
                }
            }
        }
        tree
    }

    /// Of a host with a single link: the node that it hangs on, and the link's position; `None` for other nodes.
    pub fn attachment(&self, node: NodeId) -> Option<(NodeId, usize)> {
        let leaf = self.leaves[node.0 as usize]?;
        Some((NodeId(leaf.attached_to), DirectionId(leaf.out).link()))
    }

    /// Nodes of the topology.
    pub fn node_count(&self) -> usize {
        self.is_host.len()
    }

    /// Whether what is for `destination` has arrived at `node`: it is that node, or an interface of the same host.
    #[inline]
    pub fn is_same_host(&self, node: NodeId, destination: NodeId) -> bool {
        node == destination || self.hosts[node.0 as usize] == self.hosts[destination.0 as usize]
    }

    fn far(&self, direction: DirectionId) -> NodeId {
        NodeId(self.far[direction.0 as usize])
    }

    fn search_next(&self, node: u32, destination: u32) -> Option<NextHops<'_>> {
        let own = self.search_own(node, destination);
        if own.is_some() || self.interfaces.is_empty() {
            return own;
        }
        let others = self.interfaces.get(&self.hosts[destination as usize])?;
        others.iter().find_map(|&each| self.search_own(node, each))
    }

    /// The node that decides on next hops at `node`: all interfaces of a host that forwards are one.
    fn chooses_at(&self, node: u32) -> u32 {
        if self.is_host[node as usize] { node } else { self.hosts[node as usize] }
    }

    /// The direction to that interface itself.
    fn search_own(&self, node: u32, destination: u32) -> Option<NextHops<'_>> {
        if !self.overrides.is_empty()
            && let Some(&direction) = self.overrides.get(&(self.chooses_at(node), destination))
        {
            return Some(NextHops::One(direction));
        }
        let mut target = destination;
        if let Some(leaf) = self.leaves[destination as usize] {
            if self.chooses_at(leaf.attached_to) == self.chooses_at(node) {
                return Some(NextHops::One(leaf.back));
            }
            target = leaf.attached_to;
        }
        if let Some(leaf) = self.leaves[node as usize] {
            return Some(NextHops::One(leaf.out));
        }
        let (target, node) = (self.graph.core[target as usize], self.graph.core[node as usize]);
        if target == NONE {
            return None;
        }
        if node == NONE {
            return None;
        }
        self.table(target as usize).at(node as usize)
    }

    #[inline]
    fn table(&self, target: usize) -> &Table {
        self.tables[target].get_or_init(|| self.graph.search(target, !self.hash_seeds.is_empty()))
    }
}

impl Table {
    #[inline]
    fn at(&self, place: usize) -> Option<NextHops<'_>> {
        let entry = self.next[place];
        if entry < SETS {
            return Some(NextHops::One(entry));
        }
        (entry != NONE).then(|| NextHops::Several(&self.sets[(entry - SETS) as usize]))
    }
}

/// Hosts with a single link; `far` is the node that each direction leads to.
fn leaves(topology: &Topology, is_host: &[bool], far: &[u32]) -> Vec<Option<Leaf>> {
    let mut outgoing: Vec<Vec<u32>> = vec![Vec::new(); is_host.len()];
    for direction in 0..far.len() as u32 {
        if topology.links[direction as usize / 2].present {
            outgoing[far[direction as usize ^ 1] as usize].push(direction);
        }
    }
    let leaf = |(node, directions): (usize, &Vec<u32>)| match (is_host[node], &directions[..]) {
        (true, &[only]) => Some(Leaf { attached_to: far[only as usize], out: only, back: only ^ 1 }),
        _ => None,
    };
    outgoing.iter().enumerate().map(leaf).collect()
}

impl Graph {
    fn new(topology: &Topology, leaves: &[Option<Leaf>], is_host: &[bool]) -> Self {
        let mut core = vec![NONE; leaves.len()];
        let mut members = Vec::new();
        let joins_host = |node: usize| topology.forwarding[node] && topology.hosts[node] != node;
        for node in (0..leaves.len()).filter(|&node| leaves[node].is_none() && !joins_host(node)) {
            core[node] = members.len() as u32;
            members.push(Member { is_host: is_host[node], incoming: Vec::new() });
        }
        for node in (0..leaves.len()).filter(|&node| joins_host(node)) {
            core[node] = core[topology.hosts[node]];
        }
        for (link, edge) in topology.links.iter().enumerate() {
            let [a, b] = edge.endpoints.map(|end| core[end]);
            if a == NONE || b == NONE || !edge.present {
                continue;
            }
            let incoming =
                |from, cost_ns, way| Incoming { from, cost_ns, direction: DirectionId::new(link, way).0 };
            members[b as usize].incoming.push(incoming(a, edge.forward_ns, Way::Forward));
            members[a as usize].incoming.push(incoming(b, edge.reverse_ns, Way::Reverse));
        }
        Graph { core, members }
    }

    /// Dijkstra's search backwards from `destination`; only routers are passed through. With `multipath`, nodes keep all
    /// of their best next hops.
    #[cold]
    fn search(&self, destination: usize, multipath: bool) -> Table {
        let mut best: Vec<(u64, u32, u32)> = vec![(u64::MAX, u32::MAX, NONE); self.members.len()];
        let mut open = BinaryHeap::new();
        best[destination] = (0, 0, NONE);
        open.push(Reverse((0u64, 0u32, destination)));
        while let Some(Reverse((cost, hops, position))) = open.pop() {
            let here = best[position];
            if (cost, hops) != (here.0, here.1) {
                continue;
            }
            let member = &self.members[position];
            if position != destination && member.is_host {
                continue;
            }
            for edge in &member.incoming {
                let found = (cost.saturating_add(edge.cost_ns), hops + 1, edge.direction);
                let known = &mut best[edge.from as usize];
                if found < *known {
                    let shorter = (found.0, found.1) != (known.0, known.1);
                    *known = found;
                    if shorter {
                        open.push(Reverse((found.0, found.1, edge.from as usize)));
                    }
                }
            }
        }
        let mut table =
            Table { next: best.iter().map(|&(_, _, direction)| direction).collect(), sets: Vec::new() };
        if multipath {
            self.keep_equals(destination, &best, &mut table);
        }
        table
    }

    /// Replaces the next hop of each node that has several equal ones by a set of them.
    fn keep_equals(&self, destination: usize, best: &[(u64, u32, u32)], table: &mut Table) {
        let mut equals: Vec<Vec<u32>> = vec![Vec::new(); self.members.len()];
        for (position, member) in self.members.iter().enumerate() {
            let (cost, hops, direction) = best[position];
            if position != destination && (member.is_host || direction == NONE) {
                continue;
            }
            for edge in &member.incoming {
                let from = edge.from as usize;
                let through = (cost.saturating_add(edge.cost_ns), hops + 1);
                if from != destination && through == (best[from].0, best[from].1) {
                    equals[from].push(edge.direction);
                }
            }
        }
        for (node, mut set) in equals.into_iter().enumerate().filter(|(_, set)| set.len() > 1) {
            set.sort_unstable();
            table.next[node] = SETS + table.sets.len() as u32;
            table.sets.push(set);
        }
    }
}
