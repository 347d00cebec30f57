// Chart.yaml of the operator's chart: its version is the package's, and the images it can lead to are the built-in ones. The rest of
// that chart is written by hand.
import { OPERATOR_DEFAULTS } from "../../src/api/operator-defaults.ts";
import { KUBE_VERSION } from "./chart.ts";
import { HEADER, toYaml } from "./crd.ts";

const REPOSITORY = "ghcr.io/firebolt-db/firebolt-operator";

export function renderOperatorChart(version: string): string {
  const tag = `v${version}`;
  const { images } = OPERATOR_DEFAULTS;
  const listed = [
    { name: "firebolt-operator", image: `${REPOSITORY}:${tag}` },
    ...Object.entries(images).map(([name, image]) => ({ name, image })),
  ];
  return (
    HEADER +
    toYaml({
      apiVersion: "v2",
      name: "firebolt-operator",
      description: "Runs the Firebolt analytics database on Kubernetes",
      type: "application",
      version,
      appVersion: tag,
      kubeVersion: KUBE_VERSION,
      keywords: ["firebolt", "database", "analytics", "operator"],
      // What has to be mirrored where there is no internet.
      annotations: { "helm.sh/images": toYaml(listed) },
    })
  );
}
