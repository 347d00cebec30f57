#!/bin/sh
# Takes apart what a local cluster's container runtime leaves on the machine: its containers, their shims, the mounts below the
# cluster's folder and its control groups. It fails while anything is still mounted there, so that the folder is not removed.
#
#   dev/cluster/dismantle.sh FOLDER
#
# It terminates only processes that are in the control groups named after the folder, and those with containerd's socket in the folder on
# their command line, as shims have it. The folder's name is unique, so these are the cluster's own.
folder=$1
socket=$folder/containerd/containerd.sock
group=/$(basename "$folder")

groups() {
  # Version 1 has a folder for each controller, version 2 only one.
  for root in /sys/fs/cgroup /sys/fs/cgroup/*; do
    [ -d "$root$group" ] && echo "$root$group"
  done
}

members() {
  for one in $(groups); do
    find "$one" -name cgroup.procs -exec cat {} + 2>/dev/null
  done | sort -u
}

# A zero stands for a process that only another machine can see: then the cluster is in use there.
if members | grep -qx 0; then exit 1; fi

shims() {
  # The pattern comes by standard input: on grep's command line it would find itself.
  printf '%s\n' "$socket" | grep -lszxF -f - /proc/[0-9]*/cmdline | cut -d / -f 3
}

mounts() {
  awk -v folder="$folder/" 'index($5, folder) == 1 { print $5 }' /proc/self/mountinfo | sort -r
}

rounds=0
while [ "$rounds" -lt 100 ]; do
  rounds=$((rounds + 1))
  left=$(shims; members)
  [ -n "$left" ] || break
  # shellcheck disable=SC2086 # one number per word
  kill -9 $left 2>/dev/null
  sleep 0.05
done

for mount_point in $(mounts); do umount "$mount_point" 2>/dev/null || umount -l "$mount_point" 2>/dev/null; done

# A group can be removed once the kernel has buried the last of its processes.
rounds=0
while [ -n "$(groups)" ] && [ "$rounds" -lt 100 ]; do
  rounds=$((rounds + 1))
  for one in $(groups); do find "$one" -depth -type d -exec rmdir {} + 2>/dev/null; done
  [ -z "$(groups)" ] || sleep 0.05
done

[ -z "$(mounts)" ]
