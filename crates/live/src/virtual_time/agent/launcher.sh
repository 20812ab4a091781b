#!/bin/sh
# Runs a command in another host of the same run: longhaul-agent [options of ssh] [user@]HOST [COMMAND...]
here=/run/longhaul
fail() { echo "longhaul-agent: $*" >&2; exit 255; }
while :; do
  case ${1-} in
    --) shift; break ;;
    -[BbcDEeFIiJLlmOopQRSWw]) shift 2 || fail "option $1 lacks its value" ;;
    -*) shift ;;
    *) break ;;
  esac
done
[ $# -gt 1 ] || fail "name a host and a command: longhaul-agent HOST COMMAND"
host=${1##*@}
shift
mkfifo "$here/reply.$$" || fail "cannot be answered"
trap 'rm -f "$here/reply.$$"' EXIT
printf '%s\n%s\n%s\n' "$host" "$PWD" "$*" >"$here/request.$$"
echo "$$" >"$here/launch"
read -r code <"$here/reply.$$"
exit "${code:-255}"
