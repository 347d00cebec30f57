#!/bin/sh
# Runs a program in a sandbox: new network, mount and process namespaces, in which a local Kubernetes node can run without touching the
# host. When the program exits, or this script is killed, the kernel removes every process and every mount of the sandbox.
#
#   dev/sandbox/sandbox.sh PROGRAM [ARGUMENT ...]
#
# INT, TERM and HUP are forwarded to the program; its exit code is the script's.
set -eu

fail() {
  echo "sandbox: $1" >&2
  exit 1
}

forward() {
  if [ -n "$child" ]; then kill -"$1" "$child" 2>/dev/null || :; else early="$early $1"; fi
}

# Runs a program as a child, forwards signals to it, and exits with its code.
supervise() {
  child='' early=''
  # Set before the program starts: the first process of a process namespace gets no signal without a trap.
  # Ctrl-C in a terminal reaches the program by itself, and a second signal would kill it immediately.
  if [ -t 0 ]; then trap : INT; else trap 'forward INT' INT; fi
  trap 'forward TERM' TERM
  trap 'forward HUP' HUP
  # A shell gives what it starts in the background an empty input and has it ignore Ctrl-C: both are given back.
  exec 3<&0
  env --default-signal=INT,QUIT "$@" <&3 3<&- &
  child=$!
  exec 3<&-
  for signal in $early; do forward "$signal"; done
  # A signal interrupts the wait: the code counts only when the child has exited.
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
    # The next process is the first one of the new process namespace: when it exits, the kernel kills all others.
    FIREBOLT_SANDBOX=outside exec unshare --net --mount --pid -- sh "$0" "$@"
    ;;
  outside)
    # If this shell is killed, the first process is killed too.
    FIREBOLT_SANDBOX=setup supervise setpriv --pdeathsig KILL sh "$0" "$@"
    ;;
  setup)
    # A signal before the program runs ends the sandbox.
    trap 'exit 130' INT
    trap 'exit 143' TERM
    trap 'exit 129' HUP
    mount -t proc proc /proc
    # Kernel settings belong to the host, except those of the network namespace.
    mount --bind /proc/sys /proc/sys
    mount -o remount,bind,ro /proc/sys
    mount --bind /proc/sys/net /proc/sys/net
    mount -o remount,bind,rw /proc/sys/net
    # Kubelets and container runtimes keep sockets, locks and links in these folders whatever their configuration: here they write
    # to memory, and read through to the host's.
    mount -t tmpfs -o mode=755,nosuid,nodev tmpfs /run
    for folder in /var/lib /var/log; do
      mkdir -p "/run/machine/host$folder" "/run/machine/upper$folder" "/run/machine/work$folder"
      mount --rbind "$folder" "/run/machine/host$folder"
      mount -t overlay -o "lowerdir=$folder,upperdir=/run/machine/upper$folder,workdir=/run/machine/work$folder" overlay "$folder" ||
        echo "sandbox: $folder cannot be overlaid on this system: empty folders may be left in it" >&2
    done
    # The user's files below them stay the real ones: port forwards and caches are shared with the host.
    for folder in "${HOME:-}" "${XDG_CACHE_HOME:-}" "${TMPDIR:-}" "$PWD"; do
      case $folder in /var/lib/* | /var/log/*) mount --rbind "/run/machine/host$folder" "$folder" ;; esac
    done
    cd "$PWD"
    ip link set lo up
    # As in dev/sandbox/network.sh, which this replaces: addresses of simulated pods.
    ip route add local 10.64.0.0/16 dev lo
    export FIREBOLT_SANDBOX=1 FIREBOLT_SANDBOX_NETWORK=1
    # This shell stays the first process: it reaps orphaned processes and receives the host's signals.
    supervise "$@"
    ;;
  *) fail "FIREBOLT_SANDBOX=$FIREBOLT_SANDBOX is not a valid value: unset it" ;;
esac
