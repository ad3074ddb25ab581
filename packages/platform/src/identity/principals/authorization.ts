// Finds the key in an Authorization header: Bearer, or Basic with the key as either half.
import { keyIdOf } from "./key.ts";

export type Presented = { kind: "key"; id: string; key: string } | { kind: "none"; reason: string };

const howTo = "Send it as Authorization: Bearer <key>, or as the user name of Basic authentication.";

export function readAuthorization(header: string | undefined): Presented {
  if (!header) return { kind: "none", reason: `An API key is required. ${howTo}` };
  const [, scheme = "", credentials = ""] = /^(\w+) +(\S+)$/.exec(header.trim()) ?? [];
  const candidates = candidatesOf(scheme.toLowerCase(), credentials);
  if (!candidates) return { kind: "none", reason: `The Authorization header is malformed. ${howTo}` };
  for (const key of candidates) {
    const id = keyIdOf(key);
    if (id !== null) return { kind: "key", id, key };
  }
  return { kind: "none", reason: "The credential is not an API key of this platform: keys begin with plt_." };
}

/** Git and other programs require a user name and send the key as the password. */
function candidatesOf(scheme: string, credentials: string): string[] | null {
  if (scheme === "bearer") return [credentials];
  if (scheme !== "basic") return null;
  const [user = "", ...password] = Buffer.from(credentials, "base64").toString("utf8").split(":");
  return [user, password.join(":")];
}
