// `version`: the version alone.
import type { Run } from "./command.ts";
import { EXIT } from "./exit-codes.ts";
import { VERSION } from "./version.ts";

export const printVersion: Run = async ({ terminal }) => {
  terminal.line(VERSION);
  return EXIT.ok;
};
