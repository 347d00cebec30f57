// The command line of `npm start`. Pure.
import { parseArgs } from "node:util";
import type { NamedImage } from "../deploy/image-values.ts";
import { SAMPLE } from "../deploy/sample.ts";

/** Where the platform runs. `automatic` takes a real cluster where that is possible, else simulated nodes. */
export type TargetChoice =
  | { readonly type: "automatic" }
  | { readonly type: "simulated" }
  | {
      readonly type: "existing";
      readonly context: string;
      readonly namespace: string;
      readonly images: readonly NamedImage[];
    };

export type Arguments =
  | { readonly type: "help" }
  | { readonly type: "refused"; readonly why: string }
  | { readonly type: "start"; readonly check: boolean; readonly install: boolean; readonly choice: TargetChoice };

const IMAGES = ["operator", "engine", "metadata", "envoy", "postgres"] as const;

const text = { type: "string" } as const;
const on = { type: "boolean", default: false } as const;
const OPTIONS = {
  help: { ...on, short: "h" },
  check: on,
  simulated: on,
  "no-install": on,
  context: text,
  namespace: text,
  "image-operator": text,
  "image-engine": text,
  "image-metadata": text,
  "image-envoy": text,
  "image-postgres": text,
} as const;

export const KNOWN_FLAGS: readonly string[] = Object.keys(OPTIONS);

export const HELP = `npm start: a whole Firebolt platform on this machine, until Ctrl-C. Everything is removed at the end.

  npm start                       a real Kubernetes cluster in Linux namespaces (needs root), with the operator, an instance and two
                                  engines; without root or containerd: simulated pods
  npm start -- --check            the same unattended: sends 50 queries, prints one line of JSON, and removes everything
  npm start -- --simulated        simulated pods, even where a real cluster is possible
  npm start -- --context NAME     an existing cluster, by a context of your kubeconfig
  npm run stop                    stops it from another terminal

  --no-install                    install no Debian packages: report what is missing instead
  --namespace NAME                with --context: a namespace that does not exist yet (default ${SAMPLE.namespace})
  --image-operator REFERENCE      with --context: images to use instead of the defaults of the chart; also
                                  --image-engine, --image-metadata, --image-envoy, --image-postgres
  --help                          show this help
`;

export function parseArguments(args: readonly string[]): Arguments {
  const parsed = parse(args);
  if (typeof parsed === "string") return refuse(parsed);
  const { help, check, simulated, context, namespace } = parsed;
  if (help) return { type: "help" };
  const images = IMAGES.flatMap((name): NamedImage[] => {
    const reference = parsed[`image-${name}`];
    return reference === undefined ? [] : [{ name, reference }];
  });
  const start = (choice: TargetChoice): Arguments => ({ type: "start", check, install: !parsed["no-install"], choice });
  if (context !== undefined) {
    if (simulated) return refuse("--context and --simulated exclude each other");
    if (context === "") return refuse("--context needs the name of a context");
    return start({ type: "existing", context, namespace: namespace ?? SAMPLE.namespace, images });
  }
  const needless = [
    ...(namespace === undefined ? [] : ["--namespace"]),
    ...images.map(({ name }) => `--image-${name}`),
  ];
  if (needless[0] !== undefined) return refuse(`${needless[0]} can be used with --context only`);
  return start({ type: simulated ? "simulated" : "automatic" });
}

const refuse = (why: string): Arguments => ({ type: "refused", why });

/** The parsed flags, or the error message. */
function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values;
  } catch (error) {
    // Node explains at length how to pass an argument that begins with a dash: the first sentence is enough.
    if (error instanceof TypeError && "code" in error) return error.message.split(/\. |\n/)[0] ?? error.message;
    throw error;
  }
}
