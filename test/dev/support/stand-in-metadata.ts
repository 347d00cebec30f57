// Starts the stand-in metadata service as a local process on a loopback port, and checks its health as the kubelet
// does.
import { once } from "node:events";
import { connect } from "node:http2";
import { join } from "node:path";
import { findFreePorts, type ManagedProcess, startProcess, type Workspace } from "@firebolt-operator/kube/testing";
import { stringify } from "yaml";

const MAIN = join(import.meta.dirname, "../../../dev/stand-ins/metadata/main.ts");

export interface MetadataDatabase {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly schema?: string;
}

/** The tree of the configuration, without the root element of its XML form. */
export function metadataDocument(port: number, accountId: string, database: MetadataDatabase) {
  return {
    pensieve_lite: {
      default_account_id: accountId,
      host: "127.0.0.1",
      port,
      server_threads: 0,
      log_level: "information",
      metadata_storage: {
        postgresql: {
          host: database.host,
          port: database.port,
          database: database.database,
          schema: database.schema ?? "public",
          keepalive: { enabled: 1, idle_sec: 120, interval_sec: 30, count: 5 },
          connect_timeout_sec: 5,
        },
        garbage_collection: { enabled: true, interval_ms: 3_600_000, time_horizon_sec: 86_400 },
      },
    },
  };
}

export function toXml(value: unknown, name = "config"): string {
  if (typeof value !== "object" || value === null) return `<${name}>${escapeText(String(value))}</${name}>`;
  return `<${name}>${Object.entries(value)
    .map(([key, child]) => toXml(child, key))
    .join("")}</${name}>`;
}

const escapeText = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

export interface StandInMetadataOptions {
  readonly name: string;
  readonly accountId: string;
  readonly database: MetadataDatabase;
  readonly user: string;
  readonly password: string;
  readonly format?: "xml" | "yaml";
  readonly env?: Readonly<Record<string, string>>;
}

export interface StandInMetadata {
  readonly process: ManagedProcess;
  readonly port: number;
  /** The result of a gRPC health check. */
  health(): Promise<"SERVING" | "NOT_SERVING">;
}

/** Does not wait: tests check whether and when it serves. */
export async function startStandInMetadata(
  workspace: Workspace,
  options: StandInMetadataOptions,
): Promise<StandInMetadata> {
  const { name, format = "xml" } = options;
  const [port = 0] = await findFreePorts(1);
  const document = metadataDocument(port, options.accountId, options.database);
  const config = workspace.write(`${name}.${format}`, format === "xml" ? toXml(document) : stringify(document));
  const env = {
    POSTGRES_USERNAME_FILE: workspace.write(`${name}.username`, options.user),
    POSTGRES_PASSWORD_FILE: workspace.write(`${name}.password`, options.password),
    ...options.env,
  };
  const managed = startProcess(workspace, {
    name,
    binary: "/usr/bin/env",
    args: [...Object.entries(env).map(([key, value]) => `${key}=${value}`), process.execPath, MAIN, "--config", config],
  });
  return { process: managed, port, health: () => checkHealth(port) };
}

/** Calls the health check on that port, as the kubelet does. */
export async function checkHealth(port: number): Promise<"SERVING" | "NOT_SERVING"> {
  const session = connect(`http://127.0.0.1:${port}`);
  const signal = AbortSignal.timeout(30_000);
  try {
    await once(session, "connect", { signal });
    const stream = session.request({
      ":method": "POST",
      ":path": "/grpc.health.v1.Health/Check",
      "content-type": "application/grpc",
      te: "trailers",
    });
    stream.end(Buffer.alloc(5)); // An empty message: the service as a whole.
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    const [trailers] = await once(stream, "trailers", { signal });
    if (trailers["grpc-status"] !== "0") throw new Error(`gRPC status ${trailers["grpc-status"]}`);
    return Buffer.concat(chunks).at(-1) === 1 ? "SERVING" : "NOT_SERVING";
  } finally {
    session.destroy();
  }
}
