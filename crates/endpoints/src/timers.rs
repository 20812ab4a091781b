use longhaul_network::{Calendar, NodeId};
use longhaul_units::Time;

/// When each agent next acts: a calendar for each host, and one of the hosts.
///
/// Ties go to the host, then to the agent, that came first.
pub struct Timers {
    /// Where each agent's timer stands: its host's place, and its own there.
    places: Vec<(u32, u32)>,
    hosts: Vec<Host>,
    /// Of the hosts; out of date while each goes by its own clock.
    calendar: Calendar,
    lookahead: bool,
}

struct Host {
    node: NodeId,
    agents: Vec<u32>,
    calendar: Calendar,
}

impl Timers {
    /// For agents at these nodes, of so many, or at none; nobody acts yet.
    pub fn new(nodes: usize, homes: impl Iterator<Item = Option<NodeId>>) -> Self {
        let mut hosts: Vec<Host> = Vec::new();
        let mut of_node = vec![None; nodes];
        let mut places = Vec::new();
        for (agent, home) in (0u32..).zip(homes) {
            let Some(home) = home else {
                places.push((u32::MAX, 0));
                continue;
            };
            let host = *of_node[home.0 as usize].get_or_insert_with(|| {
                hosts.push(Host { node: home, agents: Vec::new(), calendar: Calendar::new(0) });
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
        Timers { places, calendar: Calendar::new(hosts.len()), hosts, lookahead: false }
    }

    /// The earliest time; [`Time::NEVER`]: nobody acts by itself.
    #[inline]
    pub fn earliest(&self) -> Time {
        self.calendar.earliest()
    }

    /// The earliest time and whose it is.
    #[inline]
    pub fn first(&self) -> Option<(Time, u32)> {
        let (time, host) = self.calendar.first()?;
        let (_, place) = self.hosts[host as usize].calendar.first()?;
        Some((time, self.hosts[host as usize].agents[place as usize]))
    }

    /// `agent` acts at `time` next. What is set to an earlier time stays there: most timers are put off
    /// again and again, and it is cheaper to find that out in the end.
    #[inline]
    pub fn set_no_later_than(&mut self, agent: u32, time: Time) {
        let (host, place) = self.places[agent as usize];
        if time < self.hosts[host as usize].calendar.time(place) {
            self.set(agent, time);
        }
    }

    /// `agent` acts at `time` next; [`Time::NEVER`]: not by itself.
    #[inline]
    pub fn set(&mut self, agent: u32, time: Time) {
        let (host, place) = self.places[agent as usize];
        let calendar = &mut self.hosts[host as usize].calendar;
        calendar.set(place, time);
        if self.lookahead {
            return;
        }
        let first = calendar.earliest();
        self.calendar.set(host, first);
    }

    /// How many hosts have agents.
    pub fn hosts(&self) -> u32 {
        self.hosts.len() as u32
    }

    /// The node of the host at `place`.
    #[inline]
    pub fn host(&self, place: u32) -> NodeId {
        self.hosts[place as usize].node
    }

    /// Of the host at `place`: the earliest time; [`Time::NEVER`]: nobody there acts by itself.
    #[inline]
    pub fn earliest_of(&self, place: u32) -> Time {
        self.hosts[place as usize].calendar.earliest()
    }

    /// Whose that is.
    pub fn first_of(&self, place: u32) -> Option<u32> {
        let host = &self.hosts[place as usize];
        let (_, first) = host.calendar.first()?;
        Some(host.agents[first as usize])
    }

    /// From now on only [`earliest_of`](Self::earliest_of) holds, or [`first`](Self::first) again.
    pub fn set_lookahead(&mut self, lookahead: bool) {
        self.lookahead = lookahead;
        if !lookahead {
            for (place, host) in (0u32..).zip(&self.hosts) {
                self.calendar.set(place, host.calendar.earliest());
            }
        }
    }
}
