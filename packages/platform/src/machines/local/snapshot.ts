// Makes a layer of what a machine has added to its layers.
import { PassThrough } from "node:stream";
import { maxLayers, run } from "../parts/index.ts";
import type { Host } from "./host.ts";
import { inNamespaces, planOf } from "./launch.ts";
import type { MachineRecord } from "./records.ts";
import { view, withDisk } from "./setup.ts";
import { enterAsRoot } from "./user-namespace.ts";

/** Top first. At the maximum depth all layers become one. `mainPid`: of the machine if it runs; its processes are stopped. */
export async function takeSnapshot(host: Host, record: MachineRecord, mainPid: number | null): Promise<string[]> {
  const isFull = record.layers.length >= maxLayers;
  const { users } = await host.capabilities();
  const hostPaths = isFull ? record.layers.flatMap((digest) => host.layers.notes(digest).hostPaths) : [];
  const digest = await inNamespaces(record, users, async (namespaces) => {
    const tar = tarOf(isFull ? view.root : view.upper);
    const { program, argv } =
      mainPid === null
        ? withDisk(planOf(host, record, namespaces), tar)
        : beside(mainPid, namespaces.machine ? enterAsRoot(namespaces.machine, tar) : tar);
    const archive = new PassThrough();
    const unpacked = host.layers.unpack(archive, { hostPaths });
    unpacked.catch(() => {});
    await run([program, ...argv], { attach: (child) => void child.stdout?.pipe(archive) });
    return unpacked;
  });
  return isFull ? [digest] : [digest, ...record.layers];
}

/** In the mount namespace of the machine, where its disk is. */
const beside = (pid: number, argv: string[]) => ({
  program: "/usr/bin/nsenter",
  argv: [
    ...[`--target=${pid}`, "--mount", ...(process.geteuid?.() === 0 ? [] : ["--user", "--preserve-credentials"])],
    ...["--", ...argv],
  ],
});

/** The same files give the same bytes. Sockets are left out. Holes stay holes: written out, they could fill the disk of the host. */
const tarOf = (directory: string) => [
  ...["tar", `--directory=${directory}`, "--create", "--sparse", "--file=-", "--sort=name"],
  ...["--numeric-owner", "--format=posix"],
  ...[
    "--pax-option=delete=atime,delete=ctime",
    "--xattrs",
    "--xattrs-include=user.overlay.*",
    "--warning=no-file-ignored",
  ],
  ".",
];
