// What an engine waits for before it is ready: its peers, and the metadata service. Once met, the conditions are not
// checked again.
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { ENGINE_CONTRACT } from "../../../src/api/engine-contract.ts";
import type { EngineConfig } from "./engine-config.ts";
import type { EngineSettings } from "./settings.ts";

const { ports, endpoints } = ENGINE_CONTRACT;
const POLL_MS = 250;
const ATTEMPT_MS = 2_000;

/** Resolves when the engine may call itself ready; fails only when `signal` fires. */
export async function waitForStart(config: EngineConfig, settings: EngineSettings, signal: AbortSignal): Promise<void> {
  await sleep(settings.startDelayMs, undefined, { signal });
  const peers = settings.ignorePeers ? [] : config.hosts.filter((_, index) => index !== settings.nodeIndex);
  await Promise.all(peers.map((host) => waitUntil(() => answersHealth(host, signal), signal)));
  if (!settings.ignoreMetadata) await waitUntil(() => acceptsTcp(config.metadataEndpoint), signal);
}

async function waitUntil(holds: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
  while (!(await holds())) await sleep(POLL_MS, undefined, { signal });
}

async function answersHealth(host: string, signal: AbortSignal): Promise<boolean> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(ATTEMPT_MS)]);
  try {
    const response = await fetch(`http://${host}:${ports.health}${endpoints.live}`, { signal: deadline });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false; // Not yet: a peer that is still starting is what the wait is for.
  }
}

function acceptsTcp(endpoint: string): Promise<boolean> {
  const colon = endpoint.lastIndexOf(":");
  return new Promise((resolve) => {
    const socket = connect({
      host: endpoint.slice(0, colon),
      port: Number(endpoint.slice(colon + 1)),
      timeout: ATTEMPT_MS,
    });
    const settle = (accepted: boolean): void => {
      socket.destroy();
      resolve(accepted);
    };
    socket.once("connect", () => settle(true));
    socket.once("error", () => settle(false));
    socket.once("timeout", () => settle(false));
  });
}
