// Compares the disks of two builds: Debian packages, files and their sizes. Each is listed in a machine of its own.
import { randomUUID } from "node:crypto";
import { type Machines, openMachineWorkspace } from "../machines/index.ts";
import { machineVariables } from "./machine-settings.ts";

export interface DiskDifference {
  /** `+ curl 7.88`, `- curl 7.87` */
  packages: string[];
  /** `+ /usr/bin/curl (30 bytes)`; a changed file is there with both sizes. */
  files: string[];
  /** All files together, of the first and of the second. */
  bytes: [number, number];
}

/** The layers of two disks, and until when they are read. */
export interface DiskComparison {
  layers: [string[], string[]];
  signal?: AbortSignal;
}

/** Throws if a disk has more files than can be compared. */
export async function compareDisks(
  machines: Machines,
  { layers: [first, second], signal = new AbortController().signal }: DiskComparison,
): Promise<DiskDifference> {
  const [left, right] = [await listDisk(machines, first, signal), await listDisk(machines, second, signal)];
  return {
    packages: difference(left.packages, right.packages),
    files: difference(left.files, right.files),
    bytes: [left.bytes, right.bytes],
  };
}

const difference = (left: string[], right: string[]): string[] => {
  const [before, after] = [new Set(left), new Set(right)];
  const lines = [
    ...left.filter((line) => !after.has(line)).map((line) => `- ${line}`),
    ...right.filter((line) => !before.has(line)).map((line) => `+ ${line}`),
  ];
  const nameOf = (line: string) => line.slice(2);
  return lines.sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
};

interface DiskListing {
  packages: string[];
  files: string[];
  bytes: number;
}

/** Not what git keeps for itself, and not what is mounted. Names are quoted by find where they are unusual. */
const listFiles =
  "find / -xdev -name .git -prune -o \\( -type f -printf '%p (%s bytes)\\n' -o -type l -printf '%p -> %l\\n' \\)";
const listPackages = "command -v dpkg-query > /dev/null && dpkg-query --show --showformat '${Package} ${Version}\\n'";

/** Far more than an image of a whole distribution has. */
const maxListCharacters = 256 * 1024 * 1024;

async function listDisk(machines: Machines, layers: string[], signal: AbortSignal): Promise<DiskListing> {
  const provider = await machines.provider();
  const machine = await provider.create({ id: `list-${randomUUID()}`, layers, limits: machines.limits });
  try {
    const supervisor = await machine.start({ allowed: [], denied: [], onDenied: () => {} });
    const env = machineVariables({});
    const workspace = await openMachineWorkspace(supervisor, { root: "/", incarnation: machine.id, env });
    const read = async (id: string, command: string) => {
      let text = "";
      const take = (chunk: { stream: string; text: string }) => {
        if (chunk.stream === "stdout" && text.length <= maxListCharacters) text += chunk.text;
      };
      await workspace.exec({ id, start: { argv: ["/bin/sh", "-c", command] } }, take, signal);
      signal.throwIfAborted();
      if (text.length > maxListCharacters) throw new Error("The disk has too many files to be compared.");
      return text.split("\n").filter((line) => line !== "");
    };
    const files = await read("files", listFiles);
    const bytes = files.reduce((sum, line) => sum + Number(/\((\d+) bytes\)$/.exec(line)?.[1] ?? 0), 0);
    return { packages: await read("packages", listPackages), files, bytes };
  } finally {
    await machine.remove();
  }
}
