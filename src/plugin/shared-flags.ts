// Flags of commands that come in pairs: for engines and for instances.
import type { Flag } from "./flags.ts";

export const LOCAL_PORT: Flag = {
  name: "local-port",
  type: "integer",
  default: "0",
  placeholder: "PORT",
  help: "port on this machine; 0 picks a free one",
};

export const LOG_FLAGS: readonly Flag[] = [
  { name: "container", short: "c", type: "text", placeholder: "NAME", help: "the container to read" },
  { name: "follow", short: "f", type: "switch", help: "go on until Ctrl+C" },
  {
    name: "tail",
    type: "integer",
    default: "200",
    placeholder: "N",
    help: "the last N lines of every container; -1 for all",
  },
  { name: "since", type: "duration", placeholder: "DURATION", help: "only lines that are not older" },
  { name: "previous", short: "p", type: "switch", help: "the container that ran before the last restart" },
  { name: "timestamps", type: "switch", help: "print the time of every line" },
  { name: "prefix", type: "switch", help: "say where a line comes from, even with one pod" },
];
