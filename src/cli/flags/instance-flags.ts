// The flags that apply to the objects of every instance: the metadata configuration, the gateway's identity and
// hardening, and how queries wake stopped engines.
import type { WakeMode } from "../../gateway/wake-container.ts";
import type { Rendering } from "../../operator/options.ts";
import { oneOf, roleName } from "./flag-checks.ts";
import type { FlagTable, FlagValues } from "./flag-table.ts";

export const INSTANCE_FLAGS = {
  "metadata-config-format": {
    type: "string",
    default: "xml",
    help: "configuration format of the metadata image: xml or yaml",
    check: oneOf("xml", "yaml"),
  },
  "wake-agent-image": {
    type: "string",
    default: "",
    help: "image of the wake agent in gateway pods, normally the operator's own; empty: queries do not wake stopped engines",
  },
  "wake-agent-image-pull-policy": {
    type: "string",
    default: "",
    help: "image pull policy of the wake agent; empty: the Kubernetes default for the tag",
    check: oneOf("", "Always", "IfNotPresent", "Never"),
  },
  "wake-mode": {
    type: "string",
    default: "annotation",
    help: "annotation: wake agents annotate the engine; demand: they only expose the demand, have no permissions on engines, and the manager scrapes them; a change rolls gateways",
    check: oneOf("annotation", "demand"),
  },
  "gateway-access-log": {
    type: "string",
    default: "all",
    help: "requests that gateways log: all, or errors (status 400 and above, and one in a hundred of the others); a change rolls gateways",
    check: oneOf("all", "errors"),
  },
  "gateway-wake-cluster-role": {
    type: "string",
    default: "",
    help: "ClusterRole that gateways are bound to; empty: the manager creates a Role per instance",
    check: roleName,
  },
  "component-seccomp": {
    type: "string",
    default: "RuntimeDefault",
    help: "default seccomp profile of gateways and wake agents: none or RuntimeDefault; a change rolls gateways",
    check: oneOf("none", "RuntimeDefault"),
  },
  "component-user-ids": {
    type: "boolean",
    default: "true",
    help: "set the user and group ids that the images of instance pods were built for; false: the cluster assigns them, as OpenShift's restricted-v2 requires; a change rolls these pods, PostgreSQL included",
  },
} as const satisfies FlagTable;

type InstanceFlags = FlagValues<typeof INSTANCE_FLAGS>;

export function renderingOf(flags: InstanceFlags): Rendering {
  const [image, pullPolicy] = [flags["wake-agent-image"], flags["wake-agent-image-pull-policy"]];
  const clusterRole = flags["gateway-wake-cluster-role"];
  return {
    metadataConfigFormat: flags["metadata-config-format"] === "yaml" ? "yaml" : "xml",
    wakeMode: wakeModeOf(flags),
    ...(flags["gateway-access-log"] === "errors" ? { gatewayAccessLog: "errors" as const } : {}),
    componentSeccomp: flags["component-seccomp"] === "none" ? "none" : "RuntimeDefault",
    ...(flags["component-user-ids"] ? {} : { componentUserIds: false }),
    ...(image === "" ? {} : { wakeAgent: { image, pullPolicy } }),
    ...(clusterRole === "" ? {} : { gatewayClusterRole: clusterRole }),
  };
}

function wakeModeOf(flags: InstanceFlags): WakeMode {
  return flags["wake-mode"] === "demand" ? "demand" : "annotation";
}
