// Containers whose names are almost that of the operator's own container: they would silently become sidecars. Pure.

import { COMPONENT_RULES, type TemplateComponent } from "../../podtemplate/rules/template-rules.ts";
import { isObject } from "../../podtemplate/shapes/shape.ts";
import { nearest } from "../command-line/suggest.ts";

/** One warning per such container. `path` is where the template is. */
export function misnamedContainers(component: TemplateComponent, template: unknown, path: string): readonly string[] {
  const { primary } = COMPONENT_RULES[component];
  const spec = isObject(template) ? template["spec"] : undefined;
  const containers = isObject(spec) ? spec["containers"] : undefined;
  return (Array.isArray(containers) ? containers : []).flatMap((container: unknown, index) => {
    const name = isObject(container) ? container["name"] : undefined;
    if (typeof name !== "string" || name === primary || nearest(name, [primary]) === undefined) return [];
    return [
      `${path}.spec.containers[${index}].name: ${JSON.stringify(name)} runs as a sidecar beside the ${primary} container (did you mean ${JSON.stringify(primary)}?)`,
    ];
  });
}
