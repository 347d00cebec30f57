#!/bin/sh
# Runs a program in a new network namespace with loopback. 10.64.0.0/10 is local there, so that simulated pods have addresses that the API
# server's pods/proxy accepts (it rejects 127.0.0.0/8). Nothing that a test sends leaves the namespace.
#
#   dev/sandbox/network.sh PROGRAM [ARGUMENT ...]
set -eu

if [ "${FIREBOLT_SANDBOX_NETWORK:-}" = "1" ]; then
  exec "$@"
fi
for tool in unshare ip; do
  command -v "$tool" >/dev/null 2>&1 || {
    echo "sandbox: '$tool' is missing; on Debian or Ubuntu: apt-get install util-linux iproute2" >&2
    exit 1
  }
done
if [ "$(id -u)" = 0 ]; then mapping=; else mapping=--map-root-user; fi
export FIREBOLT_SANDBOX_NETWORK=1
# shellcheck disable=SC2016,SC2086 # the inner shell expands; the mapping is one word or none
exec unshare $mapping --net -- sh -c 'ip link set lo up && ip route add local 10.64.0.0/10 dev lo && exec "$@"' network "$@"
