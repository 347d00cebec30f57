// Runs Lua in the real Envoy, which has the interpreter that this repository's tests have anyway: each script gets one object as `obj` and
// returns a table of strings, as a health check of Argo CD does.
import { findFreePorts, openWorkspace } from "@firebolt-operator/kube/testing";
import { startEnvoy } from "../../harness/envoy/envoy.ts";

export interface LuaCase {
  readonly script: string;
  readonly object: unknown;
}

export interface Health {
  readonly status: string;
  readonly message: string;
}

/** The results in the order of the cases. */
export async function runHealthChecks(cases: readonly LuaCase[]): Promise<readonly Health[]> {
  const [port = 0, adminPort = 0] = await findFreePorts(2);
  const workspace = openWorkspace("lua-health-");
  try {
    const config = JSON.stringify(configOf(programOf(cases), { port, adminPort }));
    await startEnvoy(workspace, { config, adminPort, concurrency: 1 });
    return await Promise.all(cases.map((_, index) => healthOf(port, index + 1)));
  } finally {
    await workspace.close();
  }
}

async function healthOf(port: number, number: number): Promise<Health> {
  const response = await fetch(`http://127.0.0.1:${port}/${number}`, { signal: AbortSignal.timeout(60_000) });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`case ${number}: the script failed: ${text}`);
  const [status = "", message = ""] = text.split("\n");
  return { status, message };
}

function programOf(cases: readonly LuaCase[]): string {
  const checks = cases.map(({ script, object }) => `function()\nlocal obj = ${literal(object)}\n${script}\nend`);
  return `local checks = {\n${checks.join(",\n")}\n}
function envoy_on_request(handle)
  local number = tonumber(string.sub(handle:headers():get(":path"), 2))
  local worked, result = pcall(checks[number])
  if not worked then return handle:respond({ [":status"] = "500" }, tostring(result)) end
  handle:respond({ [":status"] = "200" }, result.status .. "\\n" .. result.message)
end\n`;
}

/** JSON as a table of Lua. */
function literal(value: unknown): string {
  if (Array.isArray(value)) return `{ ${value.map(literal).join(", ")} }`;
  if (typeof value === "object" && value !== null)
    return `{ ${Object.entries(value)
      .map(([key, inner]) => `[${JSON.stringify(key)}] = ${literal(inner)}`)
      .join(", ")} }`;
  return value === undefined || value === null ? "nil" : JSON.stringify(value);
}

function configOf(source: string, { port, adminPort }: { readonly port: number; readonly adminPort: number }) {
  const address = (number: number) => ({ socket_address: { address: "127.0.0.1", port_value: number } });
  const type = (name: string) => `type.googleapis.com/envoy.extensions.filters.${name}`;
  return {
    admin: { address: address(adminPort) },
    static_resources: {
      listeners: [
        {
          address: address(port),
          filter_chains: [
            {
              filters: [
                {
                  name: "http",
                  typed_config: {
                    "@type": type("network.http_connection_manager.v3.HttpConnectionManager"),
                    stat_prefix: "lua",
                    route_config: { virtual_hosts: [{ name: "all", domains: ["*"] }] },
                    http_filters: [
                      {
                        name: "lua",
                        typed_config: {
                          "@type": type("http.lua.v3.Lua"),
                          default_source_code: { inline_string: source },
                        },
                      },
                      { name: "router", typed_config: { "@type": type("http.router.v3.Router") } },
                    ],
                  },
                },
              ],
            },
          ],
        },
      ],
    },
  };
}
