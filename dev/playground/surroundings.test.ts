import { expect, test } from "vitest";
import { missingText } from "./surroundings.ts";

test.each([
  {
    said: "missing: containerd, runc. On Debian or Ubuntu run, as root:\n  apt-get update\n",
    want: "missing packages: containerd, runc (the commands are above)",
  },
  {
    said: "missing: nftables; installing …\n$ apt-get update\nthat failed",
    want: "missing packages: nftables (the commands are above)",
  },
  { said: "something else", want: "programs are missing, see above" },
])("$want", ({ said, want }) => expect(missingText(said)).toBe(want));
