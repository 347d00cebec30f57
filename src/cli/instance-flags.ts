// The flags that decide about the objects of every instance: the metadata configuration, the gateway's identity and hardening, and how
// queries wake stopped engines.
import type { WakeMode } from "../gateway/wake-container.ts";
import type { Rendering } from "../operator/options.ts";
import { oneOf, roleName } from "./flag-checks.ts";
import type { FlagTable, FlagValues } from "./flags.ts";

export const INSTANCE_FLAGS = {
  "metadata-config-format": {
    type: "string",
    default: "xml",
    help: "what the metadata image reads: xml or yaml",
    check: oneOf("xml", "yaml"),
  },
  "wake-agent-image": {
    type: "string",
    default: "",
    help: "image of the wake agent beside gateways (the operator's own); empty means that stopped engines are not woken by queries",
  },
  "wake-agent-image-pull-policy": {
    type: "string",
    default: "",
    help: "its pull policy; empty goes by the tag",
    check: oneOf("", "Always", "IfNotPresent", "Never"),
  },
  "wake-mode": {
    type: "string",
    default: "annotation",
    help: "annotation: wake agents write on the engine that it is wanted; demand: they only show it, are given no right on engines, and the manager asks them; a change rolls gateways",
    check: oneOf("annotation", "demand"),
  },
  "gateway-wake-cluster-role": {
    type: "string",
    default: "",
    help: "ClusterRole that gateways are bound to; empty means a Role per instance, made by the manager",
    check: roleName,
  },
  "component-seccomp": {
    type: "string",
    default: "RuntimeDefault",
    help: "seccomp profile of gateways and wake agents that have none: none or RuntimeDefault; a change rolls gateways",
    check: oneOf("none", "RuntimeDefault"),
  },
  "component-user-ids": {
    type: "boolean",
    default: "true",
    help: "pods of instances run as the user that their image was built for; false leaves user and groups to the cluster, as OpenShift's restricted-v2 requires; a change rolls them, PostgreSQL included",
  },
} as const satisfies FlagTable;

type InstanceFlags = FlagValues<typeof INSTANCE_FLAGS>;

export function renderingOf(flags: InstanceFlags): Rendering {
  const [image, pullPolicy] = [flags["wake-agent-image"], flags["wake-agent-image-pull-policy"]];
  const clusterRole = flags["gateway-wake-cluster-role"];
  return {
    metadataConfigFormat: flags["metadata-config-format"] === "yaml" ? "yaml" : "xml",
    wakeMode: wakeModeOf(flags),
    componentSeccomp: flags["component-seccomp"] === "none" ? "none" : "RuntimeDefault",
    ...(flags["component-user-ids"] ? {} : { componentUserIds: false }),
    ...(image === "" ? {} : { wakeAgent: { image, pullPolicy } }),
    ...(clusterRole === "" ? {} : { gatewayClusterRole: clusterRole }),
  };
}

function wakeModeOf(flags: InstanceFlags): WakeMode {
  return flags["wake-mode"] === "demand" ? "demand" : "annotation";
}
