// Names every test that failed and then passed when it was run again, with what it said the first time. In CI tests with real processes
// and real clocks get a second try (vitest.config.ts); whoever reads the log must see which of them needed it.
import type { Reporter, TestModule } from "vitest/node";

export class SecondTries implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const module of modules)
      for (const test of module.children.allTests()) {
        if (test.diagnostic()?.flaky !== true) continue;
        const said = (test.result().errors ?? []).map(({ message }) => `\n    ${message}`).join("");
        process.stderr.write(`SECOND TRY: ${module.relativeModuleId} > ${test.fullName}${said}\n`);
      }
  }
}
