// Flags of commands that exist for engines and for instances.
import type { Flag } from "../command-line/flags.ts";

export const LOCAL_PORT: Flag = {
  name: "local-port",
  type: "integer",
  default: "0",
  placeholder: "PORT",
  help: "port on this machine; 0 picks a free one",
};

export const LOG_FLAGS: readonly Flag[] = [
  { name: "container", short: "c", type: "text", placeholder: "NAME", help: "the container to read" },
  { name: "follow", short: "f", type: "switch", help: "follow the logs until Ctrl+C" },
  {
    name: "tail",
    type: "integer",
    default: "200",
    placeholder: "N",
    help: "the last N lines of every container; -1 for all",
  },
  { name: "since", type: "duration", placeholder: "DURATION", help: "only lines newer than this" },
  { name: "previous", short: "p", type: "switch", help: "logs of the container before its last restart" },
  { name: "timestamps", type: "switch", help: "print the time of every line" },
  { name: "prefix", type: "switch", help: "prefix every line with its pod, even if there is only one" },
];
