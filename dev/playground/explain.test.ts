import { expect, test } from "vitest";
import { PLAIN } from "../../src/plugin/terminal/style.ts";
import { type Explanation, explainText, simulatedText } from "./explain.ts";

const facts: Explanation = {
  mode: "cluster",
  style: PLAIN,
  readySeconds: 41.6,
  gateway: "http://127.0.0.1:40001",
  namespace: "analytics",
  kubeconfig: "/tmp/p/kubeconfig",
  context: undefined,
  tools: "/tmp/p/bin",
  sql: "SELECT 6 * 7 AS answer",
  result: '{"data":[[42]]}\n',
  nextImage: "localhost/firebolt/engine:x-again",
};

test("shows the result, how to connect, and commands that can be pasted", () => {
  const text = explainText(facts);
  expect(text).toContain("Firebolt is up after 42 s");
  expect(text).toContain(
    "curl -s http://127.0.0.1:40001 -H 'X-Firebolt-Engine: adhoc' --data-binary 'SELECT 6 * 7 AS answer'\n  {\"data\":[[42]]}\n",
  );
  expect(text).toContain("export PATH=/tmp/p/bin:$PATH\n  export KUBECONFIG=/tmp/p/kubeconfig\n");
  const patch = /kubectl -n analytics patch fireboltengine adhoc --type=merge -p '(.+)'/.exec(text)?.[1] ?? "";
  expect(JSON.parse(patch)).toEqual({
    spec: { template: { spec: { containers: [{ name: "engine", image: "localhost/firebolt/engine:x-again" }] } } },
  });
  expect(text).toContain("kubectl firebolt -n analytics stop reporting --wait");
  expect(text).toContain("no process, mount or namespace is left, and no file but the cache of programs and images");
});

test("lists what is real and what is a stand-in", () => {
  const text = explainText(facts);
  expect(text).toMatch(/Real: +Kubernetes, the operator, the gateway .*PostgreSQL/);
  expect(text).toMatch(/Stand-ins: the engines and the metadata service/);
  expect(text).toContain("No image of Firebolt is used");
  const simulated = explainText({ ...facts, mode: "simulated" });
  expect(simulated).toMatch(/Simulated: nodes and pods/);
  expect(simulated).toMatch(/Stand-in: +one process serves the pods of all engines/);
  expect(explainText({ ...facts, mode: "existing" })).not.toContain("tand-in");
});

test("an existing cluster: names the context, invents no image, and keeps the cluster", () => {
  const text = explainText({
    ...facts,
    mode: "existing",
    kubeconfig: undefined,
    context: "kind-a",
    nextImage: undefined,
  });
  expect(text).not.toContain("KUBECONFIG");
  expect(text).toContain("kubectl firebolt --context kind-a -n analytics status --watch");
  expect(text).toContain('"annotations":{"example.com/rolled":"once"}');
  expect(text).toContain("everything that was added to your cluster is deleted");
});

test("a simulation is announced with its reason", () => {
  expect(simulatedText("a local cluster needs root")).toMatch(/^PODS ARE SIMULATED: a local cluster needs root\.\n/);
  expect(simulatedText(undefined)).toMatch(/^PODS ARE SIMULATED\.\n/);
});
