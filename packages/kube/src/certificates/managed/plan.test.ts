// The lifecycle of self-managed certificates with a manual clock: which step is due when, and that at every moment of a
// rotation any certificate that a replica may still present is trusted with any bundle that may still be in use.
import { X509Certificate } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  type CertificateSituation,
  DEFAULT_POLICY,
  type Material,
  planCertificates,
  renewMaterial,
  trustBundle,
} from "./plan.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;
const START = Date.UTC(2026, 0, 1);
const HOSTS = ["hooks.system.svc", "127.0.0.1"];

const situation = (material: Material | undefined, nowMs: number, nextTrusted = true): CertificateSituation => ({
  material,
  nowMs,
  hosts: HOSTS,
  nextTrusted,
  policy: DEFAULT_POLICY,
});
const fresh = renewMaterial("create", situation(undefined, START));
const planAt = (material: Material | undefined, afterMs: number, nextTrusted = true) =>
  planCertificates(situation(material, START + afterMs, nextTrusted));
const announced = renewMaterial("announce-root", situation(fresh, START + 6 * YEAR));

describe("the next step", () => {
  test.each<{ name: string; material: Material | undefined; afterMs: number; trusted?: boolean; want: string }>([
    { name: "nothing exists", material: undefined, afterMs: 0, want: "create" },
    { name: "everything is new", material: fresh, afterMs: 0, want: "keep" },
    { name: "the leaf is a little younger than 60 % of its life", material: fresh, afterMs: 0.59 * YEAR, want: "keep" },
    { name: "the leaf has reached 60 % of its life", material: fresh, afterMs: 0.6 * YEAR, want: "issue-leaf" },
    { name: "the leaf has expired", material: fresh, afterMs: 1.5 * YEAR, want: "issue-leaf" },
    { name: "the root has expired", material: fresh, afterMs: 11 * YEAR, want: "create" },
    { name: "leaf and root are due: serving comes first", material: fresh, afterMs: 6 * YEAR, want: "issue-leaf" },
    {
      name: "the next root was announced less than the overlap ago",
      material: withLeaf(announced, 6 * YEAR),
      afterMs: 6 * YEAR + HOUR / 2,
      want: "keep",
    },
    {
      name: "the next root was announced the overlap ago",
      material: withLeaf(announced, 6 * YEAR),
      afterMs: 6 * YEAR + HOUR,
      want: "switch-root",
    },
    {
      name: "… but not all webhook configurations trust it",
      material: withLeaf(announced, 6 * YEAR),
      afterMs: 6 * YEAR + HOUR,
      trusted: false,
      want: "keep",
    },
    {
      name: "the root's key is lost",
      material: { ...fresh, root: { ...fresh.root, key: "" } },
      afterMs: 0,
      want: "announce-root",
    },
    {
      name: "root key and leaf are lost",
      material: { root: { ...fresh.root, key: "" }, leaf: { certificate: "", key: "" } },
      afterMs: 0,
      want: "create",
    },
    {
      name: "the leaf is invalid",
      material: { ...fresh, leaf: { certificate: "nonsense", key: "nonsense" } },
      afterMs: 0,
      want: "issue-leaf",
    },
    {
      name: "the leaf has the key of another certificate",
      material: { ...fresh, leaf: { ...fresh.leaf, key: fresh.root.key } },
      afterMs: 0,
      want: "issue-leaf",
    },
    {
      name: "the root is invalid",
      material: { ...fresh, root: { certificate: "nonsense", key: "" } },
      afterMs: 0,
      want: "create",
    },
    {
      name: "the next root is invalid",
      material: { ...withLeaf(announced, 6 * YEAR), next: { certificate: "?", key: "?" } },
      afterMs: 6 * YEAR,
      want: "announce-root",
    },
  ])("$name: $want", ({ material, afterMs, trusted, want }) => {
    expect(planAt(material, afterMs, trusted).type).toBe(want);
  });

  test("another host name needs another leaf", () => {
    expect(planCertificates({ ...situation(fresh, START), hosts: [...HOSTS, "more.system.svc"] }).type).toBe(
      "issue-leaf",
    );
  });

  test("the time of the next step is exact", () => {
    const plan = planAt(fresh, 0);
    expect(plan.type === "keep" && Math.abs(plan.untilMs - (START + 0.6 * YEAR))).toBeLessThan(2_000);
  });
});

describe("a lifetime of 25 years", () => {
  test("every step keeps earlier leaves and earlier bundles working", () => {
    let now = START;
    let material = fresh;
    const steps: string[] = [];
    const rootsSeen = new Set([fresh.root.certificate]);
    while (now < START + 25 * YEAR) {
      const plan = planCertificates(situation(material, now));
      if (plan.type === "keep") {
        expect(plan.untilMs).toBeGreaterThan(now);
        now = plan.untilMs;
        continue;
      }
      const before = material;
      material = renewMaterial(plan.type, situation(material, now));
      steps.push(plan.type);
      rootsSeen.add(material.root.certificate);
      // A replica with the old material, called with the new bundle; and vice versa.
      expectTrusted(before.leaf.certificate, trustBundle(material), now);
      expectTrusted(material.leaf.certificate, trustBundle(before), now);
      expectTrusted(material.leaf.certificate, trustBundle(material), now);
    }
    expect(steps.filter((step) => step === "create")).toEqual([]);
    expect(rootsSeen.size).toBe(5);
    expect(steps.filter((step) => step === "switch-root")).toHaveLength(4);
    expect(steps.filter((step) => step === "retire-root")).toHaveLength(4);
    expect(steps.filter((step) => step === "issue-leaf").length).toBeGreaterThan(35);
  });

  test("the bundle contains the old and the new root during a rotation, and one root otherwise", () => {
    const count = (material: Material) => trustBundle(material).split("BEGIN CERTIFICATE").length - 1;
    const switched = renewMaterial("switch-root", situation(announced, START + 6 * YEAR + HOUR));
    const retired = renewMaterial("retire-root", situation(switched, START + 6 * YEAR + 2 * HOUR));
    expect([fresh, announced, switched, retired].map(count)).toEqual([1, 2, 2, 1]);
  });
});

function withLeaf(material: Material, afterMs: number): Material {
  return renewMaterial("issue-leaf", situation(material, START + afterMs));
}

function expectTrusted(leaf: string, bundle: string, nowMs: number): void {
  const certificate = new X509Certificate(leaf);
  const roots = bundle.split(/(?=-----BEGIN)/).map((pem) => new X509Certificate(pem));
  expect(roots.some((root) => certificate.checkIssued(root) && certificate.verify(root.publicKey))).toBe(true);
  expect(certificate.validToDate.getTime()).toBeGreaterThan(nowMs);
}
