// Tokens with an end: kept until shortly before it, then exchanged for the next.
import type { KeySource } from "@agentcli/models";

export interface Token {
  token: string;
  /** Null where it is not known. */
  expiresAtMs: number | null;
}

/** A token is not used in its last minute: the request it goes with may take a while to arrive. */
const marginMs = 60_000;

/** One exchange at a time; a failed one does no harm while the old token still holds. */
export function renewing(first: Token | null, renew: (refused?: string) => Promise<Token>): KeySource {
  let current = first;
  let pending: Promise<Token> | null = null;
  return async (refused) => {
    if (current && current.token !== refused && isFresh(current)) return current.token;
    pending ??= renew(refused).finally(() => {
      pending = null;
    });
    try {
      current = await pending;
    } catch (error) {
      if (!current || current.token === refused || leftMs(current) <= 0) throw error;
    }
    return current.token;
  };
}

export const isFresh = (token: Token): boolean => leftMs(token) > marginMs;

const leftMs = ({ expiresAtMs }: Token): number => (expiresAtMs === null ? Infinity : expiresAtMs - Date.now());

/** The end a JSON Web Token names; null for any other text. Nothing is verified: the server does that. */
export function jwtExpiryMs(token: string): number | null {
  const [, payload] = token.split(".");
  if (!payload) return null;
  try {
    const { exp } = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
    return typeof exp === "number" && Math.abs(exp) < latestSecond ? exp * 1000 : null;
  } catch {
    return null;
  }
}

/** Beyond it there are no dates. */
const latestSecond = 8_640_000_000_000;
