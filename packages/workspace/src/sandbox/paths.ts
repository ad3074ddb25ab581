// Paths that every back end treats alike: hidden from root, or refused because they are links.
import { SandboxUnavailable } from "@agentcli/protocol/workspace-errors";

/** Owned by root, so readable by root even without capabilities. */
export const hiddenFromRoot = [
  ...["/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/krb5.keytab"],
  ...["rsa", "dsa", "ecdsa", "ed25519"].map((kind) => `/etc/ssh/ssh_host_${kind}_key`),
  "/etc/ssl/private",
];

/** Protecting the target would not stop the link itself from being replaced. */
export const refuseSymlink = (path: string) =>
  new SandboxUnavailable(
    `${path} is a symbolic link, which cannot be protected against replacement.`,
    "Replace it with a directory, or run read-only.",
  );
