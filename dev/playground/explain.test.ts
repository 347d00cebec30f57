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
  answer: '{"data":[[42]]}\n',
  nextImage: "localhost/firebolt/engine:x-again",
};

test("a person gets the answer, the way in, and things to try that can be pasted", () => {
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
  expect(text).toContain("no process, mount, namespace or file stays behind");
});

test("it says what is real and what stands in, so that nobody takes the answer for one of a Firebolt engine", () => {
  const text = explainText(facts);
  expect(text).toMatch(/Real: +Kubernetes, the operator, the gateway .*PostgreSQL/);
  expect(text).toMatch(/Stand-ins: the engines and the metadata service/);
  expect(text).toContain("No image of Firebolt is used");
  const simulated = explainText({ ...facts, mode: "simulated" });
  expect(simulated).toMatch(/Simulated: nodes and pods/);
  expect(simulated).toMatch(/Stand-in: +one process answers for the pods of all engines/);
  expect(explainText({ ...facts, mode: "existing" })).not.toContain("tand-in");
});

test("in somebody's own cluster the context is named, another image is not made up, and the cluster stays", () => {
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
  expect(text).toContain("what was put into your cluster is taken out again");
});

test("a simulation says so, and why", () => {
  expect(simulatedText("a local cluster needs root")).toMatch(/^PODS ARE SIMULATED: a local cluster needs root\.\n/);
  expect(simulatedText(undefined)).toMatch(/^PODS ARE SIMULATED\.\n/);
});
