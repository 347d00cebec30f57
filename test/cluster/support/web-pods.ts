// Small pods for tests of the cluster itself: a web server in a few lines on the operator image's Node, hardened as Pod
// Security "restricted" requires. It returns its name, resolves and fetches URLs on request, and stores one string in
// its volume. Data only.
import type { KubeObject } from "@firebolt-operator/kube";

export const WEB_PORT = 8080;
const KEPT = "/data/kept";

/**
 * GET / returns the pod's name, GET /fetch?url what it fetched from there; PUT and GET /kept store and return a string.
 */
const PROGRAM = `
const { createServer } = require("node:http");
const { readFile, writeFile } = require("node:fs/promises");
const { text } = require("node:stream/consumers");
async function answer(request) {
  const { pathname, searchParams } = new URL(request.url, "http://here");
  if (pathname === "/fetch") {
    const got = await fetch(searchParams.get("url"), { headers: { connection: "close" }, signal: AbortSignal.timeout(5000) });
    return got.text();
  }
  if (pathname !== "/kept") return process.env.HOSTNAME;
  if (request.method === "PUT") await writeFile("${KEPT}", await text(request));
  return readFile("${KEPT}", "utf8");
}
const server = createServer((request, response) =>
  answer(request).then((body) => response.end(body), (error) => response.writeHead(500).end(String(error.cause ?? error))));
server.listen(${WEB_PORT}, () => console.log("listening as", process.env.HOSTNAME));
process.on("SIGTERM", () => process.exit(0));
`;

export interface WebOptions {
  readonly namespace: string;
  readonly name: string;
  /** Of an image with Node at /usr/bin/node. */
  readonly image: string;
}

const podSpec = (image: string, volumeMounts: readonly object[]) => ({
  securityContext: {
    runAsNonRoot: true,
    runAsUser: 3473,
    runAsGroup: 3473,
    fsGroup: 3473,
    seccompProfile: { type: "RuntimeDefault" },
  },
  terminationGracePeriodSeconds: 5,
  containers: [
    {
      name: "web",
      image,
      command: ["/usr/bin/node", "-e", PROGRAM],
      resources: { requests: { cpu: "10m", memory: "32Mi" }, limits: { cpu: "1", memory: "128Mi" } },
      readinessProbe: { httpGet: { path: "/", port: WEB_PORT }, periodSeconds: 1 },
      securityContext: {
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ["ALL"] },
      },
      volumeMounts,
    },
  ],
});

/** Pods without storage, behind a Service of the same name. */
export function webDeployment(options: WebOptions & { readonly replicas: number }): readonly KubeObject[] {
  const { namespace, name, image, replicas } = options;
  const labels = { app: name };
  return [
    manifest("apps/v1", "Deployment", options, {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: podSpec(image, []) },
    }),
    manifest("v1", "Service", { namespace, name }, { selector: labels, ports: [{ port: 80, targetPort: WEB_PORT }] }),
  ];
}

/** One pod with a volume of the default class, as large as PostgreSQL's. */
export function webStatefulSet(options: WebOptions): KubeObject {
  const labels = { app: options.name };
  return manifest("apps/v1", "StatefulSet", options, {
    replicas: 1,
    serviceName: options.name,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: podSpec(options.image, [{ name: "data", mountPath: "/data" }]) },
    volumeClaimTemplates: [
      {
        metadata: { name: "data" },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "10Gi" } } },
      },
    ],
  });
}

function manifest(
  apiVersion: string,
  kind: string,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  spec: object,
): KubeObject & { readonly spec: object } {
  return { apiVersion, kind, metadata: { namespace, name }, spec };
}
