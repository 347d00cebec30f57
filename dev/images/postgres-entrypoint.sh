#!/bin/bash
# Starts PostgreSQL in a pod. On an empty volume it first makes the database cluster, with POSTGRES_USER as its owner (password
# POSTGRES_PASSWORD) and the database POSTGRES_DB, under another name: an interrupted first start leaves nothing that looks whole.
set -o errexit -o nounset -o pipefail

: "${PGDATA:?names the folder of the database cluster}"
user=${POSTGRES_USER:-postgres}
database=${POSTGRES_DB:-${user}}

if [[ ! -s ${PGDATA}/PG_VERSION ]]; then
  : "${POSTGRES_PASSWORD:?is needed on the first start}"
  draft=${PGDATA}.new
  rm -rf "${draft}"
  # Not flushed to the disk: if the machine fails now, the local cluster is gone with its volumes.
  initdb --no-sync --pgdata="${draft}" --username="${user}" --pwfile=<(printf '%s\n' "${POSTGRES_PASSWORD}") \
    --encoding=UTF8 --locale=C --auth-local=trust --auth-host=scram-sha-256
  printf 'host all all all scram-sha-256\n' >> "${draft}/pg_hba.conf"
  if [[ ${database} != postgres ]]; then
    printf 'CREATE DATABASE "%s";\n' "${database//\"/\"\"}" | postgres --single -c fsync=off -c exit_on_error=on -D "${draft}" postgres
  fi
  mv "${draft}" "${PGDATA}"
fi

# A volume with a group is opened to that group whenever it is mounted; the server refuses a folder that others can write.
chmod 0700 "${PGDATA}"
unset POSTGRES_PASSWORD
# The server must be process 1 to receive the signal that stops it. Without fsync for the same reason as above: on a machine whose disk is
# busy, the first start took 20 s instead of 3.
exec postgres -D "${PGDATA}" -c listen_addresses='*' -c fsync=off "$@"
