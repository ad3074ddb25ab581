// Names the name server of the bridge in /etc/resolv.conf of the machine.
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { listenerAddress } from "../../wire/index.ts";

const content = `# Names of hosts that the egress policy allows; see what agents may reach.\nnameserver ${listenerAddress}\n`;

/** A link, such as that of systemd, is replaced. Where the disk cannot be written, programs need the proxy. */
export function writeResolverSettings(path = "/etc/resolv.conf"): void {
  if (read(path) === content) return;
  const draft = `${path}.${process.pid}`;
  try {
    writeFileSync(draft, content, { flag: "wx", mode: 0o644 });
    renameSync(draft, path);
  } catch {
    rmSync(draft, { force: true });
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
