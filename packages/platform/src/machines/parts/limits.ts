// What every provider of this host accepts.
import { MachineUnavailable } from "../provider.ts";

/** More would slow down every lookup of a file, and the kernel has a limit too. */
export const maxLayers = 10;

/** It becomes a name of directories and containers. */
export function checkMachineId(id: string): string {
  if (/^[a-z0-9][a-z0-9-]{0,62}$/.test(id)) return id;
  throw new MachineUnavailable(`Invalid machine id ${JSON.stringify(id)}: use lower-case letters, digits and dashes.`);
}
