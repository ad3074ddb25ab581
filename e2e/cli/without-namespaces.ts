// A PATH on which bubblewrap fails as it does where user namespaces are forbidden.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export const forbidden =
  "bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces.";

export function pathWithoutNamespaces(): string {
  const directory = mkdtempSync(join(tmpdir(), "no-namespaces-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  // Also for another user.
  chmodSync(directory, 0o755);
  writeFileSync(join(directory, "bwrap"), `#!/bin/sh\necho "${forbidden}" >&2\nexit 1\n`, { mode: 0o755 });
  return `${directory}:${process.env.PATH}`;
}
