# Two machines, a and b, each in a network namespace, and a gateway between that redirects to port 15001.
# Needs no privilege: run by unshare --user --map-root-user --net --mount --pid --fork --mount-proc.
set -e
mount -t tmpfs tmpfs /run
ip link set lo up
for number in 1 2; do
  name=$(printf %c "$(echo ab | cut -c $number)")
  ip netns add "$name"
  ip link add "v$name" type veth peer name eth0 netns "$name"
  ip addr add "10.$number.0.254/24" dev "v$name"
  ip link set "v$name" up
  ip -n "$name" link set lo up
  ip -n "$name" addr add "10.$number.0.1/24" dev eth0
  ip -n "$name" link set eth0 up
  ip -n "$name" route add default via "10.$number.0.254"
done
# The kernel may take a second until it tells that a carrier is there, and UCX takes no device before that.
for name in a b; do
  for _ in $(seq 250); do ip -n "$name" link show eth0 | grep -q "state UP" && break; sleep 0.02; done
  ip -n "$name" addr show eth0 >&2
done
nft add table ip relay
nft 'add chain ip relay before { type nat hook prerouting priority -100 ; }'
nft 'add rule ip relay before iif "va" ip daddr 10.2.0.1 tcp dport 1-65535 redirect to :15001'
nft 'add rule ip relay before iif "vb" ip daddr 10.1.0.1 tcp dport 1-65535 redirect to :15001'
