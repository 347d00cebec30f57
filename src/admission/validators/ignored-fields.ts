// Fields of a pod template that are accepted and have no effect (docs/design/objects.md#merging). Admission warns about
// them and never denies: manifests that contain them keep working.
import { OPERATOR_VOLUMES } from "../../engine/model/pod-contract.ts";
import { COMPONENT_RULES, type TemplateComponent } from "../../podtemplate/rules/template-rules.ts";
import { isObject, type JsonObject } from "../../podtemplate/shapes/shape.ts";

const IGNORED_EVERYWHERE = [
  "enableServiceLinks",
  "ephemeralContainers",
  "hostnameOverride",
  "nodeName",
  "priority",
  "resources",
  "schedulingGates",
  "schedulingGroup",
  "serviceAccount",
  "setHostnameAsFQDN",
] as const;

const IGNORED_OUTSIDE_ENGINES = [
  "runtimeClassName",
  "dnsPolicy",
  "dnsConfig",
  "schedulerName",
  "preemptionPolicy",
  "readinessGates",
  "resourceClaims",
  "hostAliases",
  "os",
  "overhead",
] as const;

/** One warning per field, in the order of the tables, then of the volumes. `path` is where the template is. */
export function ignoredFields(component: TemplateComponent, template: unknown, path: string): string[] {
  const spec = isObject(template) ? template["spec"] : undefined;
  if (!isObject(spec)) return [];
  const names = component === "engine" ? IGNORED_EVERYWHERE : [...IGNORED_EVERYWHERE, ...IGNORED_OUTSIDE_ENGINES];
  const { volumes } = spec;
  return [
    ...(isTokenIgnored(component, spec)
      ? [`${path}.spec.automountServiceAccountToken: ${TOKEN_IGNORED[component]}`]
      : []),
    ...names.filter((name) => isSet(spec[name])).map((name) => `${path}.spec.${name} is ignored`),
    ...(Array.isArray(volumes) ? volumes : []).flatMap((volume: unknown, index) => {
      const name = isObject(volume) ? volume["name"] : undefined;
      return typeof name === "string" && isOperatorVolume(component, name)
        ? [
            `${path}.spec.volumes[${index}] is ignored: the operator mounts its own volume of the name ${JSON.stringify(name)}`,
          ]
        : [];
    }),
  ];
}

const TOKEN_IGNORED: Readonly<Record<TemplateComponent, string>> = {
  engine: "true only overrides false in the class; otherwise the service account decides",
  gateway: "true is ignored: only the wake agent gets a token, unless the template sets your own service account",
  metadata: "true is ignored: the metadata service gets no token",
};

/** False is honoured everywhere; anything where the gateway runs under an account of the user's. */
function isTokenIgnored(component: TemplateComponent, spec: JsonObject): boolean {
  return (
    spec["automountServiceAccountToken"] === true && !(component === "gateway" && isSet(spec["serviceAccountName"]))
  );
}

function isOperatorVolume(component: TemplateComponent, name: string): boolean {
  if (component === "engine") return OPERATOR_VOLUMES.has(name);
  const { reservedVolumes, secretVolumePrefixes } = COMPONENT_RULES[component];
  return reservedVolumes.includes(name) || secretVolumePrefixes.some((prefix) => name.startsWith(prefix));
}

const isSet = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && value.length === 0);
