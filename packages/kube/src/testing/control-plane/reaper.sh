#!/bin/sh
# Terminates what a control plane started once its owner has exited, in whatever way: standard input is a pipe that only the owner
# holds, so end of file means that the owner closed it or died. Lines are "add PID" and "forget PID"; the first argument is the
# folder to remove. It never terminates a process that does not name this folder on its command line. Further arguments are a
# program that is run with the folder as its last argument before the folder is removed; if it fails, the folder stays.
folder=$1
shift
pids=" "

while read -r word pid; do
  case $word in
    add) pids="$pids$pid " ;;
    forget) pids=$(printf '%s' "$pids" | sed "s/ $pid / /") ;;
  esac
done

# The pid may have been reused since: only our processes mention the folder.
is_ours() {
  if [ -d /proc/self ]; then
    tr '\0' ' ' 2>/dev/null <"/proc/$1/cmdline" | grep -qF "$folder"
  else
    ps -o args= -p "$1" 2>/dev/null | grep -qF "$folder"
  fi
}

for pid in $pids; do
  if is_ours "$pid"; then kill -9 "$pid" 2>/dev/null; fi
done

# A terminating process may still write into the folder.
rounds=0
for pid in $pids; do
  while is_ours "$pid" && [ "$rounds" -lt 100 ]; do
    rounds=$((rounds + 1))
    sleep 0.05
  done
done
if [ $# -gt 0 ]; then "$@" "$folder" || exit 1; fi
rm -rf "$folder"
