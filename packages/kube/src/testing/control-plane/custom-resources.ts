// Installs CustomResourceDefinitions from YAML files and waits until the API server serves them.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseAllDocuments } from "yaml";
import { type Api, valueAt } from "./api-request.ts";

const PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const FIELD_MANAGER = "control-plane";
const POLL_MS = 50;
const ESTABLISHED_DEADLINE_MS = 90_000;

/** Applies every CRD of a file or folder; returns their names. Other manifests in the files are an error. */
export async function installCrds(api: Api, fileOrFolder: string): Promise<readonly string[]> {
  const crds = manifestFiles(fileOrFolder).flatMap(readCrds);
  await Promise.all(crds.map((crd) => applyCrd(api, crd)));
  const deadline = AbortSignal.timeout(ESTABLISHED_DEADLINE_MS);
  await Promise.all(crds.map((crd) => waitUntilServed(api, crd, deadline)));
  return crds.map((crd) => crd.name);
}

/** The YAML files of a file or folder path, in order. */
export function manifestFiles(fileOrFolder: string): readonly string[] {
  if (!statSync(fileOrFolder).isDirectory()) return [fileOrFolder];
  const names = readdirSync(fileOrFolder).filter((name) => /\.ya?ml$/.test(name));
  return names.sort().map((name) => join(fileOrFolder, name));
}

interface Crd {
  readonly name: string;
  readonly manifest: object;
}

function readCrds(file: string): readonly Crd[] {
  return parseAllDocuments(readFileSync(file, "utf8")).flatMap((document) => {
    const manifest: unknown = document.toJS();
    if (manifest === null) return [];
    const name = valueAt(manifest, ["metadata", "name"]);
    if (
      typeof manifest !== "object" ||
      valueAt(manifest, ["kind"]) !== "CustomResourceDefinition" ||
      typeof name !== "string"
    )
      throw new Error(`${file} contains a manifest that is not a CustomResourceDefinition`);
    return [{ name, manifest }];
  });
}

async function applyCrd(api: Api, crd: Crd): Promise<void> {
  await api.expect({
    method: "PATCH",
    path: `${PATH}/${crd.name}?fieldManager=${FIELD_MANAGER}&force=true&fieldValidation=Strict`,
    contentType: "application/apply-patch+yaml",
    body: crd.manifest,
  });
}

async function waitUntilServed(api: Api, crd: Crd, deadline: AbortSignal): Promise<void> {
  for (;;) {
    const { body } = await api.expect({ path: `${PATH}/${crd.name}` });
    const served = servedPath(body);
    // Established is reported a moment before the endpoints are served.
    if (served !== undefined && (await api.send({ path: `${served}?limit=1` })).status === 200) return;
    if (deadline.aborted)
      throw new Error(`${crd.name} was not served after ${ESTABLISHED_DEADLINE_MS / 1000} s: ${conditionsOf(body)}`);
    await sleep(POLL_MS);
  }
}

function servedPath(crd: unknown): string | undefined {
  const conditions = valueAt(crd, ["status", "conditions"]);
  const isEstablished = (condition: unknown) =>
    valueAt(condition, ["type"]) === "Established" && valueAt(condition, ["status"]) === "True";
  if (!Array.isArray(conditions) || !conditions.some(isEstablished)) return undefined;
  const versions = valueAt(crd, ["spec", "versions"]);
  const version: unknown = Array.isArray(versions)
    ? versions.find((one) => valueAt(one, ["served"]) === true)
    : undefined;
  return `/apis/${valueAt(crd, ["spec", "group"])}/${valueAt(version, ["name"])}/${valueAt(crd, ["spec", "names", "plural"])}`;
}

const conditionsOf = (crd: unknown): string =>
  JSON.stringify(valueAt(crd, ["status", "conditions"]) ?? "no conditions");
