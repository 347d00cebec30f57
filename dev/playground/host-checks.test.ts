import { expect, test } from "vitest";
import { missingText } from "./host-checks.ts";

test.each([
  {
    output: "missing: containerd, runc. On Debian or Ubuntu run, as root:\n  apt-get update\n",
    want: "missing packages: containerd, runc (see the commands above)",
  },
  {
    output: "missing: nftables; installing …\n$ apt-get update\nthat failed",
    want: "missing packages: nftables (see the commands above)",
  },
  { output: "something else", want: "programs are missing: see the commands above" },
])("$want", ({ output, want }) => expect(missingText(output)).toBe(want));
