// The example controller from its sources, as `node main.ts` runs it in the repository.
import { join } from "node:path";
import { inject, test } from "vitest";
import { createNamespace } from "../support/cluster.ts";
import { expectCopies, startCopier } from "../support/copier.ts";
import { testClient } from "../support/test-client.ts";

const PROGRAM = join(import.meta.dirname, "../../examples/configmap-copier/main.ts");

test("the copier copies, follows, restores and stops", async () => {
  const namespace = await createNamespace("copier");
  await using copier = startCopier(PROGRAM, { kubeconfig: inject("adminKubeconfig"), namespace });
  const client = await testClient();
  await expectCopies(copier, client, namespace);
  client.close();
});
