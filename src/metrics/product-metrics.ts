// All recorders of the product over one registry, for the controllers and servers. Without a registry each of them is a
// no-op.
import type { Clock } from "@firebolt-operator/kube";
import type { Registry } from "prom-client";
import type { EngineMetrics } from "../engine/metrics-hooks.ts";
import type { EngineClassMetrics } from "../engineclass/metrics-hooks.ts";
import type { InstanceMetrics } from "../instance/metrics-hooks.ts";
import { createEngineClassRecorder } from "./engine-class-recorder.ts";
import { createEngineRecorder } from "./engine-recorder.ts";
import { createInstanceRecorder } from "./instance-recorder.ts";
import {
  type Build,
  type CertificateMetrics,
  createCertificateMetrics,
  createDemandMetrics,
  type DemandMetrics,
  noCertificateMetrics,
  noDemandMetrics,
  recordBuild,
} from "./process-series.ts";

export interface ProductMetrics {
  readonly engine: EngineMetrics;
  readonly instance: InstanceMetrics;
  readonly engineClass: EngineClassMetrics;
  readonly demand: DemandMetrics;
  readonly certificates: CertificateMetrics;
}

export interface ProductMetricsOptions {
  readonly clock: Clock;
  readonly build: Build;
}

export function createProductMetrics(
  registry: Registry | undefined,
  { clock, build }: ProductMetricsOptions,
): ProductMetrics {
  if (registry !== undefined) recordBuild(registry, build);
  return {
    engine: createEngineRecorder(registry, clock),
    instance: createInstanceRecorder(registry),
    engineClass: createEngineClassRecorder(registry),
    demand: registry === undefined ? noDemandMetrics : createDemandMetrics(registry),
    certificates: registry === undefined ? noCertificateMetrics : createCertificateMetrics(registry),
  };
}
