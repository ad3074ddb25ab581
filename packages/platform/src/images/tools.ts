// Programs of the system that make images: found, or named with the line that installs them.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ImageFault } from "./image-fault.ts";

const directories = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/** The Debian package has the same name. Throws ImageFault. */
export function requireTool(name: string, purpose: string, searched = directories): void {
  if (searched.some((directory) => existsSync(join(directory, name)))) return;
  throw new ImageFault(
    `${purpose} needs ${name}, which is not installed on this server. Install it: sudo apt-get update && sudo apt-get install -y --no-install-recommends ${name}`,
  );
}
