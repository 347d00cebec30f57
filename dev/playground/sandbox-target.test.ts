import { renderKubeconfig } from "@firebolt-operator/kube/testing";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { withServer } from "./sandbox-target.ts";

test("only the URL of the API server changes", () => {
  const credentials = { type: "token", token: "t" } as const;
  const inside = renderKubeconfig({ url: "https://127.0.0.1:1", ca: "root", user: "admin", credentials });
  const outside = withServer(inside, "https://127.0.0.1:2");
  expect(parse(outside)).toEqual(parse(inside.replace("https://127.0.0.1:1", "https://127.0.0.1:2")));
});
