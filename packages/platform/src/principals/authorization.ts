// Finds the key in an Authorization header: Bearer, or Basic with the key as either half.
import { keyIdOf } from "./key.ts";

export type Presented = { kind: "key"; id: string; key: string } | { kind: "none"; reason: string };

const howTo = "Send it as Authorization: Bearer <key>, or as the user name of Basic authentication.";

export function readAuthorization(header: string | undefined): Presented {
  if (!header) return { kind: "none", reason: `An API key is needed. ${howTo}` };
  const [, scheme = "", credentials = ""] = /^(\w+) +(\S+)$/.exec(header.trim()) ?? [];
  const candidates = candidatesOf(scheme.toLowerCase(), credentials);
  if (!candidates) return { kind: "none", reason: `The Authorization header cannot be read. ${howTo}` };
  for (const key of candidates) {
    const id = keyIdOf(key);
    if (id !== null) return { kind: "key", id, key };
  }
  return { kind: "none", reason: "What was sent is not an API key of this platform: they begin with plt_." };
}

/** Git and other programs insist on a user name and put the key where a password goes. */
function candidatesOf(scheme: string, credentials: string): string[] | null {
  if (scheme === "bearer") return [credentials];
  if (scheme !== "basic") return null;
  const [user = "", ...password] = Buffer.from(credentials, "base64").toString("utf8").split(":");
  return [user, password.join(":")];
}
