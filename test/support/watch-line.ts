// The first line of a watch, read as it comes: the request ends with it, however long the server would have gone on.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { parse } from "yaml";
import { valueAt } from "../../dev/control-plane/api-request.ts";

/** With the client certificate of this kubeconfig. */
export async function firstWatchLine(kubeconfig: string, path: string): Promise<string> {
  const config: unknown = parse(readFileSync(kubeconfig, "utf8"));
  const textAt = (...keys: readonly (string | number)[]): string => String(valueAt(config, keys));
  const pemAt = (...keys: readonly (string | number)[]): string => Buffer.from(textAt(...keys), "base64").toString();
  const outgoing = request(new URL(path, textAt("clusters", 0, "cluster", "server")), {
    agent: false,
    ca: pemAt("clusters", 0, "cluster", "certificate-authority-data"),
    cert: pemAt("users", 0, "user", "client-certificate-data"),
    key: pemAt("users", 0, "user", "client-key-data"),
  });
  outgoing.end();
  const [incoming] = await once(outgoing, "response");
  let text = "";
  // Leaving the loop closes the connection.
  for await (const chunk of incoming.setEncoding("utf8")) {
    text += chunk;
    const end = text.indexOf("\n");
    if (end >= 0 && incoming.statusCode === 200) return text.slice(0, end);
  }
  throw new Error(`GET ${path} answered ${incoming.statusCode} without an event: ${text}`);
}
