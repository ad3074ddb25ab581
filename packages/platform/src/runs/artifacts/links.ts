// Links to one artifact, valid for 15 minutes without an API key: sealed with the agent's data key.
import type { DataKey } from "../../foundation/index.ts";

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

/** The path of the artifact; null if the link is invalid or expired. */
export function readLink(key: DataKey, agentId: string, token: string): string | null {
  try {
    const [path, expiresAtMs] = JSON.parse(key.openText(Buffer.from(token, "base64url"), about(agentId)));
    return expiresAtMs > Date.now() ? path : null;
  } catch {
    return null;
  }
}

const about = (agentId: string): string => `artifact-link:${agentId}`;
