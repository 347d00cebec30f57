// The script that starts the engine in its container. Kubernetes replaces `$(NAME)` in arguments, so the script has
// none.

/** Where a later certificate and its authority are mounted. */
const TLS_FOLDER = "/secrets/tls/engine";

export const START_SCRIPT = `set -o errexit -o nounset -o pipefail

# Clusters that do not label pods with their index still number their names.
node="\${POD_INDEX:-}"
if [[ -z "\${node}" ]]; then
  node="\${HOSTNAME##*-}"
fi

# Clients need the whole chain in one file: the certificate, then its authority.
if [[ -f ${TLS_FOLDER}/tls.crt && -f ${TLS_FOLDER}/ca.crt ]]; then
  {
    cat ${TLS_FOLDER}/tls.crt
    echo
    cat ${TLS_FOLDER}/ca.crt
  } > /run/firebolt/engine-tls-bundle.crt
fi

# The engine must be process 1 to receive SIGTERM.
exec /opt/firebolt/firebolt server --node "\${node}" --data-dir /var/lib/firebolt
`;
