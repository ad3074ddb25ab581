// Links to one artifact, good for a quarter of an hour and without a key: sealed under the agent's own.
import type { DataKey } from "../vault/index.ts";

const lifetimeMs = 15 * 60_000;

export interface Link {
  token: string;
  expiresAt: Date;
}

export function makeLink(key: DataKey, agentId: string, path: string): Link {
  const expiresAt = new Date(Date.now() + lifetimeMs);
  const token = key.seal(JSON.stringify([path, expiresAt.getTime()]), about(agentId)).toString("base64url");
  return { token, expiresAt };
}

/** The path it was made for; null where it was not made here, or is too old. */
export function readLink(key: DataKey, agentId: string, token: string): string | null {
  try {
    const [path, expiresAtMs] = JSON.parse(key.openText(Buffer.from(token, "base64url"), about(agentId)));
    return expiresAtMs > Date.now() ? path : null;
  } catch {
    return null;
  }
}

const about = (agentId: string): string => `artifact-link:${agentId}`;
