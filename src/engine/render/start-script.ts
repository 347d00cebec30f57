// The script that starts the engine in its container. Kubernetes replaces `$(NAME)` in arguments, so the script has
// none.
import { ENGINE_CONTRACT } from "../../api/engine-contract.ts";

const { env, mounts, program, tlsFolder: TLS_FOLDER } = ENGINE_CONTRACT;

export const START_SCRIPT = `set -o errexit -o nounset -o pipefail

# Clusters that do not label pods with their index still number their names.
node="\${${env.podIndex}:-}"
if [[ -z "\${node}" ]]; then
  node="\${HOSTNAME##*-}"
fi

# Clients need the whole chain in one file: the certificate, then its authority.
if [[ -f ${TLS_FOLDER}/tls.crt && -f ${TLS_FOLDER}/ca.crt ]]; then
  {
    cat ${TLS_FOLDER}/tls.crt
    echo
    cat ${TLS_FOLDER}/ca.crt
  } > ${mounts.runtime}/engine-tls-bundle.crt
fi

# The engine must be process 1 to receive SIGTERM.
exec ${program} server --node "\${node}" --data-dir ${mounts.data}
`;
