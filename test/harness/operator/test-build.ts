// The build that operators in tests report.
import type { Build } from "../../../src/metrics/process-series.ts";

export const TEST_BUILD: Build = { version: "test", revision: "none", nodeVersion: process.version };
