import { expect, test } from "vitest";
import { accountOf, operatorIdentity } from "./operator-identity.ts";

const token = (claims: unknown): string =>
  ["{}", JSON.stringify(claims), "signature"].map((part) => Buffer.from(part).toString("base64url")).join(".");

test.each([
  {
    what: "a token of an account",
    text: token({ sub: "system:serviceaccount:sys:op" }),
    want: { namespace: "sys", name: "op" },
  },
  {
    what: "a token with a line end",
    text: `${token({ sub: "system:serviceaccount:sys:op" })}\n`,
    want: { namespace: "sys", name: "op" },
  },
  { what: "a token of a user", text: token({ sub: "mara" }), want: undefined },
  { what: "no subject", text: token({}), want: undefined },
  { what: "no claims", text: token(null), want: undefined },
  { what: "not JSON", text: "a.b.c", want: undefined },
  { what: "an opaque token", text: "opaque", want: undefined },
])("$what", ({ text, want }) => {
  expect(accountOf(text)).toEqual(want);
});

test("account, namespace and Secret come together, and only where there is a namespace", () => {
  const config = { authentication: { type: "tokenFile", path: "/token" } } as const;
  const readFile = () => token({ sub: "system:serviceaccount:sys:op" });
  const input = { config, webhookSecret: "hooks", readFile };
  const account = { namespace: "sys", name: "op" };
  expect(operatorIdentity({ ...input, namespace: "sys" })).toEqual({ namespace: "sys", account, secrets: ["hooks"] });
  expect(operatorIdentity({ ...input, namespace: undefined })).toBeUndefined();
  const none = { ...input, config: { authentication: { type: "none" } }, webhookSecret: "", namespace: "sys" } as const;
  expect(operatorIdentity(none)).toEqual({ namespace: "sys", account: undefined, secrets: [] });
});
