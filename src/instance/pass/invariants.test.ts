// Random walks over whole passes: pods, people, other processes and a moody API server in any order. After every pass
// the invariants hold that each check names (docs/design/instance.md#invariants).
import { KubeApiError } from "@firebolt-operator/kube";
import fc from "fast-check";
import { expect, test } from "vitest";
import { InstanceRun } from "../../../test/instance/support/fake-passes.ts";

const SECRET = "lakeside-metadata-postgres-creds";

type Action =
  | { readonly type: "pass" }
  | { readonly type: "restart" }
  | { readonly type: "ready"; readonly component: "metadata" | "gateway"; readonly count: number }
  | { readonly type: "lose"; readonly which: number }
  | { readonly type: "edit"; readonly replicas: number }
  | { readonly type: "reset"; readonly value: string }
  | { readonly type: "mood"; readonly status: 0 | 422 | 500; readonly kind: string };

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Action>({ type: "pass" }) },
  fc.constant<Action>({ type: "restart" }),
  fc.record({
    type: fc.constant("ready" as const),
    component: fc.constantFrom("metadata" as const, "gateway" as const),
    count: fc.integer({ min: 0, max: 2 }),
  }),
  fc.record({ type: fc.constant("lose" as const), which: fc.nat(20) }),
  fc.record({ type: fc.constant("edit" as const), replicas: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ type: fc.constant("reset" as const), value: fc.constantFrom("a", "b") }),
  fc.record({
    type: fc.constant("mood" as const),
    status: fc.constantFrom(0 as const, 422 as const, 500 as const),
    kind: fc.constantFrom("Deployment", "Service", "status", ""),
  }),
);

/** Things that people delete. The Secret and the claim are the database's own story (pass.test.ts). */
function lose(run: InstanceRun, which: number): void {
  const children = run.world
    .inventory()
    .filter((name) => !/^(FireboltInstance|Secret|PersistentVolumeClaim)/.test(name));
  const [kind, name] = (children[which % Math.max(1, children.length)] ?? "").split(" ");
  if (kind !== undefined && name !== undefined) run.world.drop(kind as "Service", name);
}

function act(run: InstanceRun, step: Action): void {
  switch (step.type) {
    case "pass":
      break;
    case "restart":
      run.restart();
      break;
    case "ready":
      run.world.report(`lakeside-${step.component}`, step.count);
      break;
    case "lose":
      lose(run, step.which);
      break;
    case "edit":
      run.world.edit("lakeside", (spec) => {
        spec.gateway.replicas = step.replicas;
      });
      break;
    case "reset": {
      const annotations = { "firebolt.io/reset-failed": step.value };
      run.world.put("FireboltInstance", { ...run.instance, metadata: { ...run.instance.metadata, annotations } });
      break;
    }
    case "mood":
      run.world.intercept = (request) => {
        if (step.status === 0 || step.kind === "" || /^(get|list)/.test(request)) return;
        if (request.includes(step.kind)) throw new KubeApiError("WRITE", step.status, { message: "no" });
      };
      break;
    default:
      step satisfies never;
  }
}

interface Before {
  readonly phase: string | undefined;
  readonly generation: number | undefined;
  readonly annotation: string | undefined;
  readonly password: string | undefined;
  readonly id: string | undefined;
}

const readBefore = (run: InstanceRun): Before => ({
  phase: run.status.phase,
  generation: run.instance.metadata?.generation,
  annotation: run.instance.metadata?.annotations?.["firebolt.io/reset-failed"],
  password: run.world.get("Secret", SECRET)?.data?.["password"],
  id: run.instance.spec.id,
});

/** The instance when it failed last. */
type FailedAt = Pick<Before, "generation" | "annotation">;

function check(
  run: InstanceRun,
  before: Before,
  { stored, failedAt }: { readonly stored: boolean; readonly failedAt: FailedAt },
): void {
  const { phase, metadataEndpoint, gatewayEndpoint, conditions = [] } = run.status;
  const isTrue = (type: string) => conditions.find((condition) => condition.type === type)?.status === "True";
  const components = ["MetadataReady", "GatewayReady", "EngineTLSReady", "GatewayTLSReady"];
  if (phase !== "Failed") {
    expect(phase === "Ready", "ready-phase-is-ready-condition: phase and condition").toBe(isTrue("Ready"));
    expect(isTrue("Ready"), "ready-phase-is-ready-condition: condition and components").toBe(components.every(isTrue));
  }
  const ready = (name: string) => (run.world.get("Deployment", name)?.status?.readyReplicas ?? 0) > 0;
  if (stored && phase !== "Failed") {
    if (!ready("lakeside-metadata")) expect(metadataEndpoint, "no-endpoint-without-replica: metadata").toBeUndefined();
    if (!ready("lakeside-gateway")) expect(gatewayEndpoint, "no-endpoint-without-replica: gateway").toBeUndefined();
  }
  if (before.phase !== undefined && before.phase !== "Provisioning")
    expect(phase, "provisioning-never-again: Provisioning is never entered again").not.toBe("Provisioning");
  if (before.phase === "Failed" && phase !== "Failed") {
    const edited = before.generation !== failedAt.generation;
    expect(
      edited || before.annotation !== failedAt.annotation,
      "failed-left-by-people: Failed is left by people alone",
    ).toBe(true);
  }
  if (before.password !== undefined)
    expect(run.world.get("Secret", SECRET)?.data?.["password"], "id-and-password-never-change: password").toBe(
      before.password,
    );
  if (before.id !== undefined) expect(run.instance.spec.id, "id-and-password-never-change: id").toBe(before.id);
}

test("ready-phase-is-ready-condition, no-endpoint-without-replica, provisioning-never-again, failed-left-by-people, id-and-password-never-change: hold after every pass, whatever happens in between", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 60 }), async (actions) => {
      const run = new InstanceRun();
      let failedAt: FailedAt = { generation: undefined, annotation: undefined };
      for (const step of actions) {
        act(run, step);
        if (step.type !== "pass") continue;
        const before = readBefore(run);
        const answer = await run.tryPass();
        const stored = !(answer instanceof Error) && run.status.phase !== undefined;
        check(run, before, { stored, failedAt });
        if (run.status.phase === "Failed" && before.phase !== "Failed") failedAt = readBefore(run);
      }
      // Whatever happened: with a friendly API server and a new wish it ends well.
      run.world.intercept = () => undefined;
      run.world.edit("lakeside", (spec) => {
        spec.gateway.replicas = 2;
      });
      await run.settle();
      expect(run.status.phase).toBe("Ready");
    }),
    { numRuns: 60 },
  );
});
