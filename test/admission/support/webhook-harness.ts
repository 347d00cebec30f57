// The webhooks in front of the real API server, for one namespace of the shared control plane: our server in this process, the
// two configurations registered and, at the end, removed. Tests write through the API server and see what users see.
import { silentLogger, systemClock } from "@firebolt-operator/kube";
import type { CertificateSource } from "@firebolt-operator/kube/certificates";
import { createKubeClient } from "@firebolt-operator/kube/client";
import { type Api, createAuthority, openApiFromKubeconfig } from "@firebolt-operator/kube/testing";
import { inject } from "vitest";
import type { HookId } from "../../../src/admission/registration/hooks.ts";
import { renderWebhookConfigurations } from "../../../src/admission/registration/webhook-configurations.ts";
import { type AdmissionMetrics, silentAdmissionMetrics } from "../../../src/admission/server/admission-metrics.ts";
import { type AdmissionServerOptions, createAdmissionServer } from "../../../src/admission/server/admission-server.ts";
import { createValidators } from "../../../src/admission/validators/create-validators.ts";
import { kubeLookups } from "../../../src/admission/validators/lookups.ts";
import type { Validator } from "../../../src/admission/validators/validator.ts";
import type { ResourceBounds } from "../../../src/engine/model/validate.ts";
import { createNamespace, eventually } from "../../harness/control-plane/requests.ts";
import { clusterConfig } from "../../harness/control-plane/test-client.ts";
import { manifest, SMALLEST } from "../../harness/fixtures/manifests.ts";
import { heldCertificate, serverPair } from "./loopback.ts";

const ROOT = "/apis/admissionregistration.k8s.io/v1";

export interface WebhookHarnessOptions {
  readonly bounds?: ResourceBounds;
  readonly validators?: Partial<Record<HookId, Validator>>;
  readonly metrics?: AdmissionMetrics;
  /** Together: where the certificate comes from, and who signed it. */
  readonly certificate?: CertificateSource;
  readonly ca?: string;
  readonly server?: Partial<AdmissionServerOptions>;
  /** What is written before the webhooks are there. */
  prepare?(api: Api, namespace: string): Promise<void>;
}

export interface WebhookHarness extends AsyncDisposable {
  readonly namespace: string;
  readonly api: Api;
  readonly port: number;
  readonly ca: string;
  /** Ends the server and leaves the configurations: an outage. */
  stopServer(): Promise<void>;
}

export async function openWebhookHarness(prefix: string, options: WebhookHarnessOptions = {}): Promise<WebhookHarness> {
  const namespace = await createNamespace(prefix);
  const api = openApiFromKubeconfig(inject("adminKubeconfig"));
  const authority = createAuthority(prefix);
  const client = createKubeClient({ config: await clusterConfig() });
  const validators = createValidators({
    lookups: kubeLookups(client),
    bounds: options.bounds ?? {},
    clock: systemClock,
    logger: silentLogger,
  });
  const server = createAdmissionServer({
    host: "127.0.0.1",
    port: 0,
    certificate: options.certificate ?? heldCertificate(serverPair(authority)),
    validators: { ...validators, ...options.validators },
    clock: systemClock,
    logger: silentLogger,
    metrics: options.metrics ?? silentAdmissionMetrics,
    overlapMs: 0,
    ...options.server,
  });
  const stop = new AbortController();
  const running = server.run(stop.signal);
  await Promise.race([running, server.whenReady?.(stop.signal)]);
  const port = server.port ?? 0;
  await options.prepare?.(api, namespace);
  const ca = options.ca ?? authority.certificate;
  await register(api, { namespace, base: `https://127.0.0.1:${port}`, caBundle: ca });
  await waitUntilActive(api, namespace);
  const stopServer = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  return {
    namespace,
    api,
    port,
    ca,
    stopServer,
    async [Symbol.asyncDispose]() {
      await unregister(api, namespace);
      await stopServer();
      client.close();
      api.close();
    },
  };
}

export interface Registration {
  /** The only namespace for which the webhooks are called, and the name of both configurations. */
  readonly namespace: string;
  readonly base: string;
  readonly caBundle?: string;
}

export async function register(api: Api, { namespace, base, caBundle }: Registration): Promise<void> {
  const configurations = renderWebhookConfigurations({
    mutatingName: namespace,
    validatingName: namespace,
    target: { type: "url", base },
    ...(caBundle === undefined ? {} : { caBundle }),
  });
  for (const [type, configuration] of Object.entries(configurations)) {
    const body = onlyIn(namespace, configuration);
    await api.expect({ method: "POST", path: `${ROOT}/${type}webhookconfigurations`, body });
  }
}

/** Other tests use the same control plane. */
function onlyIn(namespace: string, configuration: object): object {
  const webhooks = Reflect.get(configuration, "webhooks") as readonly object[];
  const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": namespace } };
  // The most that the API server takes: the server is in this process, which may stand still for seconds.
  const timeoutSeconds = 30;
  return {
    ...configuration,
    webhooks: webhooks.map((webhook) => ({ ...webhook, namespaceSelector, timeoutSeconds })),
  };
}

export async function unregister(api: Api, namespace: string): Promise<void> {
  for (const type of ["mutating", "validating"])
    await api.expect({ method: "DELETE", path: `${ROOT}/${type}webhookconfigurations/${namespace}` }, [404]);
}

/** The API server observes a registration through its own watch: tests start once each webhook is called. */
export async function waitUntilActive(api: Api, namespace: string): Promise<void> {
  const refusedTemplate = { template: { spec: { hostNetwork: true } } };
  const probes = [
    { plural: "fireboltengines", kind: "FireboltEngine", spec: { ...SMALLEST.FireboltEngine, ...refusedTemplate } },
    { plural: "fireboltengineclasses", kind: "FireboltEngineClass", spec: refusedTemplate },
    { plural: "fireboltinstances", kind: "FireboltInstance", spec: { metadata: {}, gateway: refusedTemplate } },
  ] as const;
  for (const { plural, kind, spec } of probes) {
    const path = `/apis/compute.firebolt.io/v1alpha1/namespaces/${namespace}/${plural}?dryRun=All`;
    const body = manifest(kind, { name: "probe", namespace }, spec);
    await eventually(async () => (await api.send({ method: "POST", path, body })).status === 403, {
      describe: `the webhook for ${kind}`,
    });
  }
  const path = `/apis/compute.firebolt.io/v1alpha1/namespaces/${namespace}/fireboltinstances?dryRun=All`;
  const body = manifest("FireboltInstance", { name: "probe", namespace }, SMALLEST.FireboltInstance);
  await eventually(
    async () => JSON.stringify((await api.send({ method: "POST", path, body })).body).includes('"id":'),
    {
      describe: "the mutating webhook",
    },
  );
}
