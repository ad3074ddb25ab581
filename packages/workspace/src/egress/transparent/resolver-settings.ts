// Names the name server of the bridge in /etc/resolv.conf of the machine.
import { randomUUID } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { listenerAddress } from "../../wire/index.ts";

const content = `# Names of hosts that the egress policy allows; see what agents may reach.\nnameserver ${listenerAddress}\n`;

/** A link, such as that of systemd, is replaced. Where the disk cannot be written, programs need the proxy. */
export function writeResolverSettings(path = "/etc/resolv.conf"): void {
  if (isWritten(path)) return;
  // A name that programs of the machine could not take before.
  const draft = `${path}.${randomUUID()}`;
  try {
    writeFileSync(draft, content, { flag: "wx", mode: 0o644 });
    renameSync(draft, path);
  } catch {
    rmSync(draft, { force: true });
  }
}

/** Programs of the machine may have put anything there: a pipe would never be read to its end, nor would a device. */
function isWritten(path: string): boolean {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const found = fstatSync(file);
      return found.isFile() && found.size === content.length && readFileSync(file, "utf8") === content;
    } finally {
      closeSync(file);
    }
  } catch {
    return false;
  }
}
