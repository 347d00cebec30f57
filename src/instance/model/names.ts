// Names and addresses of an instance and of its objects. Pure.
import { type Component, LABEL } from "../../api/labels.ts";

export { credentialsSecretName } from "../../api/firebolt-instance/secret-names.ts";

/** An instance as its children refer to it. */
export interface InstanceIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Every object of an instance carries the instance's name as the value of a label. */
export const LONGEST_NAME = 63;

/**
 * An instance with a longer name has no objects: none could carry its label, and the API server rejects a list by it.
 */
export const canHaveChildren = (instance: string): boolean => instance.length <= LONGEST_NAME;

export const METADATA_PORT = 7000;
export const POSTGRES_PORT = 5432;

/** The DNS suffix of the cluster. */
const CLUSTER_DOMAIN = "cluster.local";

/** StatefulSet and headless Service of the internal PostgreSQL. */
export const postgresName = (instance: string): string => `${instance}-metadata-pg`;
/** The claim of its one pod, as the StatefulSet controller names it. */
export const claimName = (instance: string): string => `data-${postgresName(instance)}-0`;
export const metadataConfigName = (instance: string): string => `${instance}-metadata-config`;
/** Deployment and Service of the metadata service. */
export const metadataName = (instance: string): string => `${instance}-metadata`;
export const gatewayConfigName = (instance: string): string => `${instance}-gateway-config`;
/** Deployment, Service, budget and identity of the gateway. */
export const gatewayName = (instance: string): string => `${instance}-gateway`;

export const serviceHost = (namespace: string, service: string): string =>
  `${service}.${namespace}.svc.${CLUSTER_DOMAIN}`;

export const metadataEndpoint = ({ namespace, name }: Omit<InstanceIdentity, "uid">): string =>
  `${serviceHost(namespace, metadataName(name))}:${METADATA_PORT}`;

/** Without a port: clients use the Service's default, 80. */
export const gatewayEndpoint = ({ namespace, name }: Omit<InstanceIdentity, "uid">): string =>
  serviceHost(namespace, gatewayName(name));

/** On every object of the component and on its pods; selectors use exactly these two. */
export function componentLabels(instance: string, component: Component): Record<string, string> {
  return { [LABEL.instance]: instance, [LABEL.component]: component };
}
