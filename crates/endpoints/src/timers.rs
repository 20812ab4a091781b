use longhaul_network::{Calendar, NodeId};
use longhaul_units::Time;

/// When each agent next acts: a calendar for each host, and one of the hosts.
///
/// Ties go to the host, then to the agent, that came first.
pub struct Timers {
    /// Where each agent's timer stands: its host's place, and its own there.
    places: Vec<(u32, u32)>,
    hosts: Vec<Host>,
    calendar: Calendar,
}

struct Host {
    agents: Vec<u32>,
    calendar: Calendar,
}

impl Timers {
    /// For agents at these nodes, of so many; nobody acts yet.
    pub fn new(nodes: usize, homes: impl Iterator<Item = NodeId>) -> Self {
        let mut hosts: Vec<Host> = Vec::new();
        let mut of_node = vec![None; nodes];
        let mut places = Vec::new();
        for (agent, home) in (0u32..).zip(homes) {
            let host = *of_node[home.0 as usize].get_or_insert_with(|| {
                hosts.push(Host { agents: Vec::new(), calendar: Calendar::new(0) });
                hosts.len() as u32 - 1
            });
            let agents = &mut hosts[host as usize].agents;
            places.push((host, agents.len() as u32));
            agents.push(agent);
        }
        places.shrink_to_fit();
        for host in &mut hosts {
            host.agents.shrink_to_fit();
            host.calendar = Calendar::new(host.agents.len());
        }
        Timers { places, calendar: Calendar::new(hosts.len()), hosts }
    }

    /// The earliest time and whose it is.
    #[inline]
    pub fn first(&self) -> Option<(Time, u32)> {
        let (time, host) = self.calendar.first()?;
        let (_, place) = self.hosts[host as usize].calendar.first()?;
        Some((time, self.hosts[host as usize].agents[place as usize]))
    }

    /// `agent` acts at `time` next; [`Time::NEVER`]: not by itself.
    #[inline]
    pub fn set(&mut self, agent: u32, time: Time) {
        let (host, place) = self.places[agent as usize];
        let calendar = &mut self.hosts[host as usize].calendar;
        calendar.set(place, time);
        let first = calendar.first().map_or(Time::NEVER, |(time, _)| time);
        self.calendar.set(host, first);
    }
}
