// Paths as every back end reads them: which contain which, which exist, which are hidden from root.
import { realpathSync } from "node:fs";
import { SandboxUnavailable } from "./sandbox-unavailable.ts";

/** Owned by root, so readable by root even without capabilities. */
export const hiddenFromRoot = [
  ...["/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/krb5.keytab"],
  ...["rsa", "dsa", "ecdsa", "ed25519"].map((kind) => `/etc/ssh/ssh_host_${kind}_key`),
  "/etc/ssl/private",
];

export const contains = (directory: string, path: string): boolean =>
  path === directory || path.startsWith(directory === "/" ? "/" : `${directory}/`);

/** The real path; empty when it does not exist. */
export function resolveExisting(path: string): string[] {
  try {
    return [realpathSync(path)];
  } catch {
    return [];
  }
}

/** Protecting the target would not stop the link itself from being replaced. */
export const refuseSymlink = (path: string) =>
  new SandboxUnavailable(
    `${path} is a symbolic link, which cannot be protected against replacement.`,
    "Replace it with a directory, or run read-only.",
  );
