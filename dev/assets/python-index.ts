// Finds a wheel in a Python package index without Python: which index the user has configured (as pip and uv do), and where a pinned wheel is in
// it. No index is assumed when none is configured.
import { readFile } from "node:fs/promises";
import { Agent, get } from "node:https";
import { homedir } from "node:os";
import { join } from "node:path";
import { trustedCertificates } from "./download.ts";

const VARIABLES = ["PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL"];
const RESPONSE_DEADLINE_MS = 15_000;
const MAX_PAGE_BYTES = 50_000_000;
/** How wheels name the platforms that programs are published for; `any` is for programs that say it themselves. */
const MACHINES: Readonly<Record<string, string>> = { "linux-amd64": "x86_64", "linux-arm64": "aarch64" };

/** The index that the environment or pip's configuration files name, the most specific first. */
export async function configuredIndex(env: NodeJS.ProcessEnv): Promise<URL | undefined> {
  for (const name of VARIABLES) if (env[name]) return parseIndex(env[name], name);
  for (const file of configurationFiles(env)) {
    const value = /^\s*index-url\s*[=:]\s*(\S+)\s*$/m.exec(await textOf(file))?.[1];
    if (value !== undefined) return parseIndex(value, file);
  }
  return undefined;
}

function configurationFiles(env: NodeJS.ProcessEnv): readonly string[] {
  const home = env["HOME"] || homedir();
  const own = env["PIP_CONFIG_FILE"];
  return [
    ...(own ? [own] : []),
    join(env["XDG_CONFIG_HOME"] || join(home, ".config"), "pip/pip.conf"),
    join(home, ".pip/pip.conf"),
    "/etc/pip.conf",
  ];
}

function parseIndex(value: string, origin: string): URL {
  const text = value.endsWith("/") ? value : `${value}/`;
  if (!URL.canParse(text) || new URL(text).protocol !== "https:")
    throw new Error(`${origin} names the Python package index ${value}, but only an https:// address is accepted`);
  return new URL(text);
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR")) return "";
    throw error;
  }
}

export interface PinnedWheel {
  readonly name: string;
  readonly version: string;
  readonly digests: readonly string[];
  readonly platform: string;
}

export interface FoundWheel {
  readonly url: URL;
  readonly digest: string;
}

/** The pinned wheel for this platform. `read` fetches a page. */
export async function findWheel(index: URL, pinned: PinnedWheel, read = readPage): Promise<FoundWheel> {
  const page = new URL(`${pinned.name.toLowerCase().replaceAll(/[-_.]+/g, "-")}/`, index);
  const machine = MACHINES[pinned.platform] ?? pinned.platform;
  const found = linksOf(await read(page), page).find(
    ({ url, digest }) =>
      pinned.digests.includes(digest) &&
      (url.pathname.endsWith("-any.whl") || url.pathname.endsWith(`_${machine}.whl`)),
  );
  if (found === undefined)
    throw new Error(
      `${page.host} has no wheel of ${pinned.name} ${pinned.version} for ${pinned.platform} with a pinned checksum`,
    );
  return found;
}

/** Every link of a page that carries its SHA-256, as the simple repository interface asks for. */
function linksOf(html: string, page: URL): readonly FoundWheel[] {
  return [...html.matchAll(/<a\b[^>]*\bhref="([^"#]+)#sha256=([0-9a-f]{64})"/g)].flatMap(([, href, digest]) =>
    href === undefined || digest === undefined ? [] : [{ url: new URL(href.replaceAll("&amp;", "&"), page), digest }],
  );
}

function readPage(page: URL): Promise<string> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(RESPONSE_DEADLINE_MS);
    const agent = new Agent({ proxyEnv: process.env, ca: trustedCertificates() });
    const request = get(page, { agent, headers: { accept: "text/html" }, signal }, (response) => {
      if (response.statusCode !== 200) {
        response.resume();
        reject(new Error(`${page.host} returned ${response.statusCode} for ${page.pathname}`));
        return;
      }
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => {
        text += part;
        if (text.length > MAX_PAGE_BYTES) request.destroy(new Error(`the page ${page.pathname} is too long`));
      });
      response.once("error", reject).once("end", () => resolve(text));
    });
    request.once("error", reject);
  });
}
