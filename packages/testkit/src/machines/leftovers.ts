// What machines may have left on the host.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

export interface MachineTraces {
  /** Where the provider keeps its files. */
  directory: string;
  /** Of the machines. */
  ids: string[];
  /** Of the process that ran them. */
  serverPid: number;
}

/** Mounts, loop devices, processes, control groups and files. */
export function findLeftovers({ directory, ids, serverPid }: MachineTraces): string[] {
  const words = [directory, ...ids.map((id) => `--hostname ${id} `)];
  return [
    ...lines("/proc/self/mountinfo").filter((line) => line.includes(directory)),
    ...attachedImages().filter((image) => image.includes(directory)),
    ...processes().filter((text) => words.some((word) => text.includes(word))),
    ...groupsOf(serverPid),
    ...["machines", "ranges"].flatMap((name) => listed(join(directory, name)).map((entry) => join(name, entry))),
    ...listed(join(directory, "layers")).filter((name) => name.startsWith(".")),
  ];
}

/** Host pids of the processes with this word in their command line. */
export const processesWith = (word: string): number[] =>
  processes().flatMap((text) => (text.includes(word) ? Number.parseInt(text, 10) : []));

/** Pid, command line and working directory of every process but this one. */
function processes(): string[] {
  return listed("/proc")
    .filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid)
    .map((pid) => {
      const command = read(`/proc/${pid}/cmdline`).replaceAll("\0", " ");
      // The suite itself names the directory on its command line.
      return /-child\.mjs/.test(command) ? "" : `${pid} ${command} in ${link(`/proc/${pid}/cwd`)}`;
    });
}

function groupsOf(pid: number): string[] {
  const trees = lines("/proc/self/mountinfo").filter((line) => / - cgroup2? /.test(line));
  const points = trees.map((line) => line.split(" ")[4] ?? "");
  const own = lines("/proc/self/cgroup").map((line) => line.split(":")[2] ?? "");
  const parents = points.flatMap((point) => [point, ...own.map((path) => join(point, path))]);
  return [...new Set(parents)].flatMap((parent) =>
    listed(parent)
      .filter((name) => name.startsWith(`agentcli-${pid}-`))
      .map((name) => join(parent, name)),
  );
}

const attachedImages = () =>
  listed("/sys/block").flatMap((name) => lines(`/sys/block/${name}/loop/backing_file`).filter(Boolean));

const lines = (path: string) => read(path).split("\n");

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function link(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

function listed(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
