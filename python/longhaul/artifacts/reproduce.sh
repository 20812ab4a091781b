#!/bin/sh
# Repeats the runs of this artifact and compares them with the published ones: longhaul reproduce.
# Options are passed on to it; ./reproduce --help lists them. With a wheel of Longhaul in wheels/, it is
# installed into .venv first, which needs Python 3.11 with venv, and the network.
# Exit codes: 0 reproduced; 1 a result is beyond its tolerance; 2 damaged artifact or wrong usage;
# 3 this machine cannot; 130 interrupted.
set -eu
cd "$(dirname "$0")"
began=$(date +%s)
set -- reproduce . "$@"
for wheel in wheels/*.whl; do
    [ -e "$wheel" ] || continue
    if [ ! -x .venv/bin/longhaul ]; then
        echo "reproduce: installing Longhaul into .venv" >&2
        if ! python3 -m venv .venv; then
            echo "reproduce: Python has no venv; on Debian: apt install python3-venv" >&2
            exit 3
        fi
        .venv/bin/pip install --quiet --requirement requirements.txt || exit 3
        .venv/bin/pip install --quiet --no-deps "$wheel" || exit 3
    fi
    PATH="$PWD/.venv/bin:$PATH"
done
if ! command -v longhaul >/dev/null; then
    echo "reproduce: longhaul is not on the PATH, and wheels/ has no wheel of it; README.md says how to install it" >&2
    exit 3
fi
exec longhaul "$@" --set-up-s $(($(date +%s) - began))
