// Chart.yaml of the operator's chart: its version is the package's, and the images it can lead to are the built-in ones. The rest of
// that chart is written by hand.

import { toYaml } from "../../src/api/schema/crd.ts";
import { KUBE_VERSION } from "./chart.ts";
import { HEADER } from "./crd.ts";
import { listImages } from "./image-list.ts";

export function renderOperatorChart(version: string): string {
  return (
    HEADER +
    toYaml({
      apiVersion: "v2",
      name: "firebolt-operator",
      description: "Runs the Firebolt analytics database on Kubernetes",
      type: "application",
      version,
      appVersion: `v${version}`,
      kubeVersion: KUBE_VERSION,
      keywords: ["firebolt", "database", "analytics", "operator"],
      // What has to be mirrored where there is no internet.
      annotations: { "helm.sh/images": toYaml(listImages(version)) },
    })
  );
}
