// The value of a credential as it was given: normalized, or refused with a reason that does not quote it. Pure.
import type { SetCredential } from "@agentcli/protocol/api";
import { readKnownHosts, readPrivateKey } from "../ssh/index.ts";
import { readCredentialHost, sshHost } from "./host.ts";

/** What is sealed. */
export interface StoredCredential extends SetCredential {
  /** Normalized. */
  host: string;
  /** Of public keys; shown to administrators. */
  fingerprints?: string[];
}

export type ReadCredential =
  | { kind: "credential"; credential: StoredCredential }
  | { kind: "refused"; field: "host" | "user" | "value"; reason: string };

export function readCredential(request: SetCredential): ReadCredential {
  const host = readCredentialHost(request.host, request.kind);
  if (host.kind === "refused") return { ...host, field: "host" };
  const refuse = (field: "user" | "value", reason: string): ReadCredential => ({ kind: "refused", field, reason });
  if (request.kind !== "basic" && request.user !== undefined) return refuse("user", "is for the kind basic only");
  const accept = (value: string, fingerprints?: string[]): ReadCredential => ({
    kind: "credential",
    credential: { ...request, host: host.host, value, ...(fingerprints && { fingerprints }) },
  });
  switch (request.kind) {
    case "token": {
      const value = request.value.trim();
      return /^[\x21-\x7e]+$/.test(value) ? accept(value) : refuse("value", "must be one token, without spaces");
    }
    case "basic":
      return readBasic(request, accept, refuse);
    case "ssh_key":
      return readKey(request.value, accept, refuse);
    case "known_hosts": {
      const read = readKnownHosts(request.value, sshHost(host.host));
      if (read.kind === "refused") return refuse("value", `is not from known_hosts: ${read.reason}`);
      return accept(
        request.value,
        read.keys.map(({ fingerprint }) => fingerprint),
      );
    }
  }
}

type Accept = (value: string, fingerprints?: string[]) => ReadCredential;
type Refuse = (field: "user" | "value", reason: string) => ReadCredential;

const controlCharacter = /\p{Cc}/u;

function readBasic({ user, value }: SetCredential, accept: Accept, refuse: Refuse): ReadCredential {
  if (user === undefined) return refuse("user", "is required for the kind basic");
  if (user.includes(":") || controlCharacter.test(user)) return refuse("user", "must not have a colon or line break");
  // Files and pipes end with a line break.
  const password = value.replace(/\r?\n$/, "");
  if (password === "" || controlCharacter.test(password)) return refuse("value", "must be one line with the password");
  return accept(password);
}

function readKey(value: string, accept: Accept, refuse: Refuse): ReadCredential {
  try {
    return accept(value, [readPrivateKey(value).fingerprint]);
  } catch (error) {
    const reason = error instanceof RangeError ? "it is damaged" : (error as Error).message;
    return refuse("value", `is not a private key without a passphrase: ${reason}`);
  }
}
