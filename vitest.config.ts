// The ending of a file's name says in which project it runs: beside the code and below test/ *.test.ts (unit), against a real control plane
// (integration), of the whole program with simulated pods (e2e), on a real node inside dev/sandbox/sandbox.sh (cluster, faults).
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    setupFiles: ["test/harness/vitest/exit-with-vitest.ts", "test/harness/vitest/seed-properties.ts"],
    projects: [
      {
        test: {
          name: "unit",
          // Modules keep no state, so that files can share them: importing them anew for each file took more time than the tests.
          isolate: false,
          include: [
            "src/**/*.test.ts",
            "packages/*/src/**/*.test.ts",
            "packages/*/test/model/**/*.test.ts",
            "packages/*/scripts/**/*.test.ts",
            "dev/**/*.test.ts",
            "test/**/*.test.ts",
            "scripts/**/*.test.ts",
            "bench/**/*.test.ts",
          ],
          exclude: ["test/**/*.{integration,e2e,cluster,faults}.test.ts", "**/node_modules/**"],
          // No bound of the product: these end what hangs, on a machine that may itself stand still for seconds. A poll gives up before
          // its test does, so that a failure says what was waited for.
          testTimeout: 60_000,
          hookTimeout: 60_000,
          expect: { poll: { timeout: 20_000 } },
        },
      },
      {
        test: {
          name: "integration",
          include: ["test/**/*.integration.test.ts", "packages/*/test/integration/**/*.test.ts"],
          globalSetup: ["test/harness/control-plane/shared-control-plane.ts"],
          fileParallelism: false,
          // As above: several steps of Helm or of a control plane on a machine that does other things too.
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        test: {
          name: "e2e",
          include: ["test/**/*.e2e.test.ts"],
          fileParallelism: false,
          testTimeout: 600_000,
          hookTimeout: 600_000,
        },
      },
      {
        test: {
          name: "cluster",
          include: ["test/**/*.cluster.test.ts"],
          globalSetup: ["test/cluster/support/set-up.ts"],
          fileParallelism: false,
          testTimeout: 600_000,
          hookTimeout: 600_000,
        },
      },
      {
        test: {
          // A long proof with a command of its own: npm run test:faults.
          name: "faults",
          // Faults wait for most of their time, and wait side by side.
          maxConcurrency: 64,
          include: ["test/**/*.faults.test.ts"],
          globalSetup: ["test/cluster/support/set-up.ts"],
          fileParallelism: false,
          // Only ends what hangs: most of it is waiting for a turn, and for a node that may be busy with other things.
          testTimeout: 2_400_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
