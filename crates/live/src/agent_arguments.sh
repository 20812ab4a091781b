#!/bin/sh
# Runs a command in another host of the same run: longhaul-agent [options of ssh] [user@]HOST [COMMAND...]
fail() { echo "longhaul-agent: $*" >&2; exit 255; }
while :; do
  case ${1-} in
    --) shift; break ;;
    -n) exec </dev/null; shift ;;
    -[BbcDEeFIiJLlmOopQRSWw]) shift 2 || fail "option $1 lacks its value" ;;
    -*) shift ;;
    *) break ;;
  esac
done
[ $# -gt 0 ] || fail "name a host: longhaul-agent HOST COMMAND"
host=${1##*@}
shift
