// Names of the Secrets and bundles that the operator creates for an instance.

/** User, password and database of the internal PostgreSQL. */
export const credentialsSecretName = (instance: string): string => `${instance}-metadata-postgres-creds`;

export const engineCaBundleName = (instance: string): string => `${instance}-engine-ca-bundle`;
