here=@HERE@
[ -n "${LONGHAUL_HOST-}" ] || fail "works only inside a run; from outside: longhaul exec $host"
case $host in */* | .*) fail "\"$host\" is not a name of a host" ;; esac
[ -r "$here/host.$host" ] || fail "there is no host \"$host\" in this run; see $here/../hostfile"
while read -r line; do
  # In another PID namespace, @HOLDER@ is the number of another process.
  case $line in pid=?*) fail "$LONGHAUL_HOST has its own PID namespace and cannot start commands on other hosts" ;; esac
done <"$here/host.$LONGHAUL_HOST"
elsewhere= pid=
. "$here/host.$host"
export LONGHAUL_HOST="$host" HOSTNAME="$hostname"
if [ $# -eq 0 ]; then
  set -- "exec ${SHELL:-/bin/sh}"
fi
[ -z "$elsewhere" ] || launch "$host" "$PWD" "$*"
exec @NSENTER@ --net="/proc/@HOLDER@/fd/$net" --uts="/proc/@HOLDER@/fd/$uts" --ipc="/proc/@HOLDER@/fd/$ipc" \
  --mount="/proc/@HOLDER@/fd/$mnt" ${pid:+"--pid=/proc/@HOLDER@/fd/$pid"} $user -- /bin/sh -c 'cd "$0" 2>/dev/null; eval "$1"' "$PWD" "$*"
