"""Labs of other tools, written for these tests from the tools' documented formats."""

CONTAINERLAB = """\
name: wan
topology:
  defaults:
    kind: linux
  kinds:
    linux:
      image: debian:12
  groups:
    edge:
      env: {ROLE: edge}
  nodes:
    core: {kind: nokia_srlinux, image: ghcr.io/nokia/srlinux, type: ixrd2}
    switch: {kind: bridge}
    client:
      group: edge
      exec:
        - ip address add 10.0.0.1/24 dev eth1
        - ping -c 3 server
      binds: [./data:/data]
    server:
      cmd: python3 -m http.server 80
      ports: ["8080:80"]
    alone: {}
  links:
    - endpoints: ["client:eth1", "core:e1-1"]
      mtu: 1400
    - endpoints: ["core:e1-2", "switch:p1"]
    - type: veth
      endpoints:
        - {node: server, interface: eth1}
        - {node: switch, interface: p2}
    - endpoints: ["core:e1-9", "host:ens3"]
"""
NETEM = """\
#!/bin/sh
containerlab tools netem set -n clab-wan-client -i eth1 --delay 20ms --jitter 2ms --loss 0.5
containerlab tools netem set --node core --interface=e1-1 --delay 30ms --rate 10000
containerlab tools netem set -n nobody -i eth1 --delay 5ms
"""
KOLLAPS = """\
<?xml version="1.0" encoding="UTF-8"?>
<experiment boot="kollaps:2.0">
  <services>
    <service name="dashboard" image="kollaps/dashboard:1.0" supervisor="true" port="8088"/>
    <service name="client" image="iperf" command="['server', '0']" replicas="2"/>
    <service name="server" image="iperf"/>
  </services>
  <bridges><bridge name="s1"/><bridge name="s2"/></bridges>
  <links>
    <link origin="client" dest="s1" latency="10" upload="10Mbps" download="20Mbps" network="kollaps"/>
    <link origin="s1" dest="s2" latency="20" jitter="1.5" drop="0.01" upload="100Mbps" download="100Mbps"
      network="k"/>
    <link origin="s2" dest="server" latency="5" upload="50Mbps" network="kollaps"/>
    <link origin="server" dest="s2" latency="6" upload="40Mbps" network="kollaps"/>
  </links>
  <dynamic>
    <schedule origin="s1" dest="s2" time="2" latency="40" upload="100Mbps" download="100Mbps"/>
    <schedule name="client" time="3" action="leave" amount="1"/>
    <schedule name="client" time="4" action="join" amount="1"/>
    <schedule origin="s2" dest="server" time="5" action="leave"/>
    <schedule origin="s2" dest="server" time="6" action="join"/>
  </dynamic>
</experiment>
"""
COMPOSE = """\
services:
  web:
    image: nginx:1.27
    command: ["python3", "-m", "http.server", "8000"]
    environment:
      - MODE=${MODE:-fast}
      - TOKEN=$SECRET
    ports: ["8080:8000"]
    networks: [front, back]
    depends_on: [db]
  db:
    image: postgres:16
    volumes: [data:/var/lib/postgresql]
    networks: [back]
    deploy: {resources: {limits: {cpus: "0.5", memory: 128M}}}
  client:
    image: curlimages/curl
    networks: [front]
networks:
  front: {}
  back: {driver: bridge}
volumes: {data: {}}
"""
NETLAB = """\
name: campus
defaults.device: eos
module: [ospf]
nodes:
  r1: {}
  r2: {}
  h1: {device: linux}
  h2: {}
groups:
  hosts: {members: [h2], device: linux}
links:
- r1-r2
- r1: {}
  h1: {ipv4: 10.0.0.1/24}
  bandwidth: 100000
  tc: {delay: 15, jitter: 1ms, loss: 0.5, rate: 50000, reorder: 3}
- {r2: {}, h2: {}, mtu: 1400}
- [r1, r2, h1]
- r1: {}
"""
TOPO = """\
from mininet.topo import Topo
from mininet.net import Mininet
from mininet.node import OVSController
from mininet.link import TCLink


class TwoSites(Topo):
    def build(self, n=2, delay="10ms"):
        left, right = self.addSwitch("s1"), self.addSwitch("s2")
        self.addLink(left, right, cls=TCLink, bw=10, delay=delay, loss=1, max_queue_size=100)
        for number in range(n):
            host = self.addHost("h%d" % (number + 1), ip="10.0.0.%d/24" % (number + 1))
            self.addLink(host, left if number % 2 == 0 else right)


topos = {"two": TwoSites}

if __name__ == "__main__":
    Mininet(topo=TwoSites(), controller=OVSController).start()
"""
