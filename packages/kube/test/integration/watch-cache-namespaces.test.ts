// A cache over a set of namespaces: some may be read, some may not, some do not exist yet.
import { expect, inject, test } from "vitest";
import { KubeApiError } from "../../src/core/errors.ts";
import { defineResource } from "../../src/core/resource.ts";
import { CONFIG_MAPS, type ConfigMap } from "../support/cache-fixtures.ts";
import { createNamespace, eventually, uniqueNamespace } from "../support/cluster.ts";
import { startControlPlane } from "../support/control-plane.ts";
import { openClient, runCache } from "../support/running-cache.ts";

const NAMESPACES = defineResource({
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  namespaced: false,
});
const rbac = (kind: string, plural: string) =>
  defineResource({ group: "rbac.authorization.k8s.io", version: "v1", kind, plural, namespaced: true });
const map = (namespace: string, name: string): ConfigMap => ({ metadata: { name, namespace } });

test("a namespace created later is watched from its first object", async () => {
  const kubeconfig = inject("adminKubeconfig");
  using other = await openClient(kubeconfig);
  const present = await createNamespace("present");
  const later = uniqueNamespace("later");
  await other.create(CONFIG_MAPS, map(present, "a"));
  await using running = await runCache({ kubeconfig, namespaces: [present, later] });
  expect(running.cache.synced).toBe(true);
  await other.create(NAMESPACES, { metadata: { name: later } });
  await other.create(CONFIG_MAPS, map(later, "b"));
  await eventually(() => expect(running.emitted).toEqual(["added a", "added b"]));
  expect(running.cache.list(later)).toHaveLength(1);
  expect(running.cache.list(present)).toHaveLength(1);
});

test("a namespace that cannot be read does not block the others, and is watched once it can be read", async () => {
  await using plane = await startControlPlane();
  using admin = await openClient(plane.adminKubeconfig);
  const { adminKubeconfig } = plane;
  const open = await createNamespace("open", adminKubeconfig);
  const closed = await createNamespace("closed", adminKubeconfig);
  const kubeconfig = await plane.serviceAccountKubeconfig(open, "reader");
  const allow = async (namespace: string): Promise<void> => {
    const metadata = { name: "read-maps", namespace };
    const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "watch"] }];
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "read-maps" };
    const subjects = [{ kind: "ServiceAccount", name: "reader", namespace: open }];
    await admin.create(rbac("Role", "roles"), { metadata, ...{ rules } });
    await admin.create(rbac("RoleBinding", "rolebindings"), { metadata, ...{ roleRef, subjects } });
  };
  await allow(open);
  using reader = await openClient(kubeconfig);
  // The API server applies new grants with a short delay.
  await eventually(() => reader.list(CONFIG_MAPS, { namespace: open }));
  await admin.create(CONFIG_MAPS, map(open, "a"));
  await admin.create(CONFIG_MAPS, map(closed, "b"));

  await using running = await runCache({
    kubeconfig,
    namespaces: [open, closed],
    timings: { unavailableRetryMs: 200 },
  });
  expect(running.cache.synced).toBe(true);
  expect(running.emitted).toEqual(["added a"]);
  const refusals = (): number => running.requests.filter(({ code }) => code === "403").length;
  await eventually(() => expect(refusals()).toBeGreaterThan(3));
  // Retried many times, logged once.
  expect(running.errors).toEqual([expect.objectContaining({ status: 403 })]);

  await allow(closed);
  await eventually(() => expect(running.emitted).toEqual(["added a", "added b"]));
  await admin.delete(CONFIG_MAPS, { namespace: closed, name: "b" });
  await eventually(() => expect(running.emitted).toContain("deleted b"));

  // Without a set of namespaces the rejection concerns everything: the cache keeps retrying and is not synced.
  await using everything = await runCache({ kubeconfig, unsynced: true });
  await eventually(() => expect(everything.requests.length).toBeGreaterThan(2));
  expect(everything.cache.synced).toBe(false);
  expect(everything.errors[0]).toBeInstanceOf(KubeApiError);
});
