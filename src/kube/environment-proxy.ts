// The proxy that the environment prescribes for a server: HTTPS_PROXY, HTTP_PROXY and the exceptions in NO_PROXY,
// with the meaning that other Kubernetes clients give them. Pure: the environment is an argument.
import { BlockList, isIP, isIPv6 } from "node:net";

type Environment = Readonly<Record<string, string | undefined>>;

export function proxyFromEnvironment(server: string, env: Environment): string | undefined {
  if (!URL.canParse(server)) return undefined;
  const url = new URL(server);
  const name = url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const proxy = env[name] || env[name.toLowerCase()];
  if (!proxy) return undefined;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  // A proxy elsewhere cannot reach this machine's loopback.
  if (host === "localhost" || host.startsWith("127.") || host === "::1") return undefined;
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  const exceptions = (env["NO_PROXY"] || env["no_proxy"] || "").split(",").map((entry) => entry.trim().toLowerCase());
  if (exceptions.some((exception) => exception !== "" && excepts(exception, host, port))) return undefined;
  return proxy.includes("://") ? proxy : `http://${proxy}`;
}

/** One NO_PROXY entry: `*`, an address, a CIDR, a domain (with its subdomains), `.domain` or `*.domain` (subdomains only), any with `:port`. */
function excepts(exception: string, host: string, port: string): boolean {
  if (exception === "*") return true;
  if (exception.includes("/")) return isIP(host) !== 0 && inSubnet(exception, host);
  if (isIPv6(exception.replace(/^\[|\]$/g, ""))) return exception.replace(/^\[|\]$/g, "") === host;
  const colon = exception.lastIndexOf(":");
  if (colon > 0 && exception.slice(colon + 1) !== port) return false;
  const name = (colon > 0 ? exception.slice(0, colon) : exception).replace(/^\[|\]$/g, "").replace(/^\*\./, ".");
  return name.startsWith(".") ? host.endsWith(name) : host === name || host.endsWith(`.${name}`);
}

function inSubnet(cidr: string, host: string): boolean {
  const [network = "", bits = ""] = cidr.split("/");
  const family = isIPv6(network) ? "ipv6" : "ipv4";
  const prefix = Number(bits);
  if (isIP(network) === 0 || !/^\d+$/.test(bits) || prefix > (family === "ipv6" ? 128 : 32)) return false;
  const subnet = new BlockList();
  subnet.addSubnet(network, prefix, family);
  return subnet.check(host, isIPv6(host) ? "ipv6" : "ipv4");
}
