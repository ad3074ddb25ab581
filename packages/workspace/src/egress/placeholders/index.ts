// Secrets that a machine never has: its programs send placeholders, and the proxy puts the values in for the hosts they are bound to.
import { readFileSync } from "node:fs";
import { rootCertificates } from "node:tls";
import type { Denial } from "../dial.ts";
import { hostText, type Target } from "../hosts.ts";
import { type DomainRule, matchesRule, readBinding } from "../rules.ts";
import type { Tunnel } from "../tunnel.ts";
import { openAuthority } from "./authority.ts";
import type { BoundSecret } from "./request.ts";
import { endTls } from "./serve.ts";
import { javaStoreOf, type TrustFiles, trustVariables } from "./trust.ts";

export type { BoundSecret, SecretUse } from "./request.ts";
export { placeholderFor } from "./shape.ts";

export interface Placeholders {
  /** For the proxy: takes a tunnel over, or leaves it as it is. */
  takes(target: Target): ((tunnel: Tunnel, onDenied: (denial: Denial) => void) => void) | null;
  /** What programs of the machine are to trust. */
  files(): { pem: string; javaStore: Buffer };
  /** The variables that name these files. */
  variables(paths: TrustFiles): Record<string, string>;
}

export interface PlaceholderOptions {
  secrets: BoundSecret[];
  /** A file with authorities beside the public ones. */
  extraCertificates?: string | undefined;
}

/** For the programs of one machine. */
export function openPlaceholders({ secrets, extraCertificates }: PlaceholderOptions): Placeholders {
  const authority = openAuthority("Secrets of this machine");
  const trusted = [...rootCertificates, ...certificatesIn(extraCertificates)];
  const bound = secrets.map((secret) => ({ secret, rules: secret.hosts.map(readBinding) }));
  return {
    takes(target) {
      const found = bound.filter(({ rules }) => rules.some((rule) => bindsTo(rule, target)));
      if (found.length === 0) return null;
      const here = found.map(({ secret }) => secret);
      return (tunnel, onDenied) => endTls({ tunnel, secrets: here, onDenied }, { authority, trusted });
    },
    files() {
      const all = [...trusted, authority.certificate];
      return { pem: all.map((one) => `${one.trim()}\n`).join(""), javaStore: javaStoreOf(all) };
    },
    variables: trustVariables,
  };
}

const httpsPort = 443;

const bindsTo = (rule: DomainRule, target: Target): boolean =>
  target.host.kind === "name" && matchesRule(rule, hostText(target.host)) && (rule.port ?? httpsPort) === target.port;

/** None where the file is missing: the server has said so when it started. */
function certificatesIn(file: string | undefined): string[] {
  if (!file) return [];
  try {
    return readFileSync(file, "utf8").match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  } catch {
    return [];
  }
}
