// Host keys as ssh-keyscan prints them, reduced to the one whose fingerprint was compared. Pure.
import { readKnownHosts, selectHostKey } from "../ssh/index.ts";
import { readCredentialHost, sshHost } from "./host.ts";

/** Throws an error with the fingerprints that were given, if none is the expected one. */
export function acceptHostKey(value: string, hostText: string, fingerprint: string): string {
  const read = readCredentialHost(hostText, "known_hosts");
  // What is wrong with the host is reported when the credential is set.
  if (read.kind === "refused") return value;
  const host = sshHost(read.host);
  const selected = selectHostKey(value, host, fingerprint);
  if (selected !== undefined) return selected;
  const known = readKnownHosts(value, host);
  const given = known.kind === "keys" ? known.keys.map((key) => `${key.algorithm} ${key.fingerprint}`) : [];
  throw new Error(
    `No host key has the fingerprint ${fingerprint}; given: ${given.join(", ") || "none"}. Do not accept another key unless you have compared it.`,
  );
}
