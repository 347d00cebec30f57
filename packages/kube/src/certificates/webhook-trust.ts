// Keeps the CA bundle of webhook configurations, so that the API server trusts the webhook server. Writes nothing else
// in them, and skips configurations that do not exist.
import type { CallOptions, KubeClient } from "../client/client.ts";
import type { KubeObject } from "../core/object.ts";
import type { ResourceType } from "../core/resource.ts";

/** The part of a webhook configuration that trust needs. */
export interface WebhookConfiguration extends KubeObject {
  webhooks?: { name: string; clientConfig: { caBundle?: string } }[];
}

/** One configuration by name: a MutatingWebhookConfiguration or a ValidatingWebhookConfiguration. */
export interface TrustTarget {
  readonly type: ResourceType<WebhookConfiguration>;
  readonly name: string;
}

/** A configuration as read; absent ones are omitted. */
export interface ObservedTrust {
  readonly target: TrustTarget;
  readonly configuration: WebhookConfiguration;
}

export async function observeTrust(
  client: KubeClient,
  targets: readonly TrustTarget[],
  options: CallOptions,
): Promise<readonly ObservedTrust[]> {
  const found = await Promise.all(
    targets.map(async (target) => ({
      target,
      configuration: await client.find(target.type, { name: target.name }, options),
    })),
  );
  return found.flatMap(({ target, configuration }) => (configuration === undefined ? [] : [{ target, configuration }]));
}

/** Whether every webhook of every configuration already trusts this certificate. */
export function trustsEverywhere(observed: readonly ObservedTrust[], certificate: string): boolean {
  return observed.every(({ configuration }) =>
    (configuration.webhooks ?? []).every(({ clientConfig }) =>
      decode(clientConfig.caBundle).includes(certificate.trim()),
    ),
  );
}

/** The patch that makes every webhook of the configuration trust exactly `bundle`; undefined if it already does. */
export function renderTrustPatch(configuration: WebhookConfiguration, bundle: string): readonly object[] | undefined {
  const changes = (configuration.webhooks ?? []).flatMap(({ clientConfig }, index) =>
    decode(clientConfig.caBundle) === bundle
      ? []
      : [
          {
            op: "add",
            path: `/webhooks/${index}/clientConfig/caBundle`,
            value: Buffer.from(bundle, "utf8").toString("base64"),
          },
        ],
  );
  if (changes.length === 0) return undefined;
  // Bound to the version that was read: a replica with older material must not revert what another has written since.
  return [
    { op: "test", path: "/metadata/resourceVersion", value: configuration.metadata?.resourceVersion },
    ...changes,
  ];
}

const decode = (base64: string | undefined): string => Buffer.from(base64 ?? "", "base64").toString("utf8");
