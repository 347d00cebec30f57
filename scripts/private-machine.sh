#!/bin/sh
# Runs a program on a machine of its own: new network, mount and process namespaces, in which a local Kubernetes node can be set up
# without touching the host. When the program ends, or this script is killed, the kernel ends every process and every mount of it.
#
#   scripts/private-machine.sh PROGRAM [ARGUMENT ...]
#
# INT, TERM and HUP are handed on to the program; its exit code is the script's.
set -eu

fail() {
  echo "private-machine: $1" >&2
  exit 1
}

hand_on() {
  if [ -n "$child" ]; then kill -"$1" "$child" 2>/dev/null || :; else early="$early $1"; fi
}

# Runs a program as a child that gets the signals this shell gets, and ends as it ends.
supervise() {
  child='' early=''
  # Set before there is a program to end: the first process of a machine never gets a signal that it has no trap for.
  # Ctrl-C in a terminal reaches the program by itself; a second one would mean "at once".
  if [ -t 0 ]; then trap : INT; else trap 'hand_on INT' INT; fi
  trap 'hand_on TERM' TERM
  trap 'hand_on HUP' HUP
  # A shell gives what it starts in the background an empty input and has it ignore Ctrl-C: both are given back.
  exec 3<&0
  env --default-signal=INT,QUIT "$@" <&3 3<&- &
  child=$!
  exec 3<&-
  for signal in $early; do hand_on "$signal"; done
  # A signal interrupts the wait: only when the child is gone does its code count.
  while :; do
    code=0
    wait "$child" || code=$?
    kill -0 "$child" 2>/dev/null || exit "$code"
  done
}

case ${FIREBOLT_SANDBOX:-} in
  1) exec "$@" ;;
  '')
    [ "$(id -u)" = 0 ] || fail "a Kubernetes node needs root: run this as root, e.g. with sudo"
    for tool in unshare setpriv mount ip; do
      command -v "$tool" >/dev/null 2>&1 || fail "'$tool' is missing; on Debian or Ubuntu: apt-get install util-linux iproute2"
    done
    # What is started next is the first process of the new process namespace, so that its end is the end of all of them.
    FIREBOLT_SANDBOX=outside exec unshare --net --mount --pid -- sh "$0" "$@"
    ;;
  outside)
    # Should this shell be killed, the first process goes with it.
    FIREBOLT_SANDBOX=inside supervise setpriv --pdeathsig KILL sh "$0" "$@"
    ;;
  inside)
    # Told to end before the program runs, the machine ends.
    trap 'exit 130' INT
    trap 'exit 143' TERM
    trap 'exit 129' HUP
    mount -t proc proc /proc
    # Kernel settings belong to the host, except those of the network, which this machine has of its own.
    mount --bind /proc/sys /proc/sys
    mount -o remount,bind,ro /proc/sys
    mount --bind /proc/sys/net /proc/sys/net
    mount -o remount,bind,rw /proc/sys/net
    # Kubelets and container runtimes keep sockets, locks and links in these folders whatever they are told: here they write into
    # memory, and read through to the host's.
    mount -t tmpfs -o mode=755,nosuid,nodev tmpfs /run
    for place in /var/lib /var/log; do
      mkdir -p "/run/machine/host$place" "/run/machine/upper$place" "/run/machine/work$place"
      mount --rbind "$place" "/run/machine/host$place"
      mount -t overlay -o "lowerdir=$place,upperdir=/run/machine/upper$place,workdir=/run/machine/work$place" overlay "$place" ||
        echo "private-machine: $place cannot be overlaid on this system: empty folders may be left in it" >&2
    done
    # Should the user's own files be there, they stay the real ones: doors and caches are shared with the host.
    for place in "${HOME:-}" "${XDG_CACHE_HOME:-}" "${TMPDIR:-}" "$PWD"; do
      case $place in /var/lib/* | /var/log/*) mount --rbind "/run/machine/host$place" "$place" ;; esac
    done
    cd "$PWD"
    ip link set lo up
    # As in private-network.sh, whose place this takes: simulated pods get their addresses from here.
    ip route add local 10.64.0.0/16 dev lo
    export FIREBOLT_SANDBOX=1 FIREBOLT_SANDBOX_NETWORK=1
    # This shell stays as the first process: it collects what others leave behind, and the signals of the host reach it.
    supervise "$@"
    ;;
  *) fail "FIREBOLT_SANDBOX=$FIREBOLT_SANDBOX means nothing here: unset it" ;;
esac
