// The container of a machine: its configuration, and how it starts and ends. It ends with the server that started it.
import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { isPlainPath } from "../mount-point.ts";
import { quote, toolPath } from "../parts/index.ts";
import { type MachineLimits, MachineUnavailable } from "../provider.ts";
import type { Engine } from "./engine.ts";
import { ownerLabel } from "./layers.ts";
import { type DockerTools, view } from "./tools.ts";

export interface ContainerPlan {
  name: string;
  owner: string;
  image: string;
  limits: MachineLimits;
  tools: DockerTools;
  /** System paths of the host, for machines without an image. */
  hostPaths: string[];
  /** Directories of the host that sandboxes may show. */
  directories: string[];
}

/** It changes when a container has to be made anew. */
const planLabel = "agentcli.plan";

export const containerName = (owner: string, id: string): string => `agentcli-${owner}-${id}`;

/** Of the container that takes over the disk. */
export const nextName = (name: string): string => `${name}.next`;

export const directoryPath = (index: number): string => join(view.directories, String(index));

/** Nothing of the network. Its own root gets what bubblewrap needs to confine what runs in it; no other process does. */
export function containerConfig({ owner, image, limits, tools, hostPaths, directories }: ContainerPlan) {
  const binds = [
    ...hostPaths.map((path) => bind(realpathSync(path), path, "ro")),
    ...tools.mounts.map(({ source, name }) => bind(source, join(view.tools, name), "ro")),
    ...directories.map((directory, index) => bind(directory, directoryPath(index), "rw")),
  ];
  const HostConfig = {
    NetworkMode: "none",
    Mounts: binds,
    Tmpfs: { "/run": "mode=755,nosuid,nodev,exec,size=4m" },
    CapDrop: ["ALL"],
    CapAdd: holderCapabilities,
    // Those of bubblewrap's own command line hold for everything that it starts.
    SecurityOpt: ["seccomp=unconfined", "apparmor=unconfined", "no-new-privileges"],
    // The kernel refuses another /proc where parts of this one are covered.
    MaskedPaths: [],
    ReadonlyPaths: [],
    Memory: limits.memoryBytes ?? 0,
    MemorySwap: limits.memoryBytes ?? 0,
    NanoCpus: Math.round((limits.cpus ?? 0) * 1e9),
    PidsLimit: limits.processes ?? 0,
    LogConfig: { Type: "none" },
  };
  const settings = { User: "0:0", WorkingDir: "/", Env: [path], Entrypoint: [], OpenStdin: true, StdinOnce: true };
  const plan = createHash("sha256").update(JSON.stringify(HostConfig)).digest("hex");
  return {
    Image: image,
    Cmd: holderCommand,
    ...settings,
    Labels: { [ownerLabel]: owner, [planLabel]: plan },
    HostConfig,
  };
}

const path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

const holderCapabilities = [
  ...["SYS_ADMIN", "NET_ADMIN", "SYS_CHROOT", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID"],
  ...["SETPCAP", "SETFCAP", "NET_BIND_SERVICE", "AUDIT_WRITE"],
];

const bind = (Source: string, Target: string, access: "ro" | "rw") => ({
  ...{ Type: "bind", Source, Target, ReadOnly: access === "ro" },
  BindOptions: { Propagation: "private" },
});

export interface FoundContainer {
  Id: string;
  State: { Running: boolean; Paused: boolean };
  Config: { Labels: Record<string, string> };
}

export const findContainer = (engine: Engine, name: string): Promise<FoundContainer | null> =>
  engine.call<FoundContainer>("GET", `/containers/${name}/json`);

/** Whether it was made by the same plan. */
export const isMadeBy = ({ Config }: FoundContainer, config: ReturnType<typeof containerConfig>): boolean =>
  Config.Labels[planLabel] === config.Labels[planLabel];

/** The root directory without what is mounted in it, the directories that are kept, and then nothing until the server ends. */
const holderScript = (kept: string[]) =>
  [
    "set -e",
    `mkdir -p ${view.root} ${view.kept}`,
    `mount --bind / ${view.root}`,
    `if [ -e ${view.root}/etc/hosts ] && [ ! -s ${view.root}/etc/hosts ]; then printf '127.0.0.1 localhost\\n::1 localhost\\n' > ${view.root}/etc/hosts; fi`,
    ...kept.flatMap((each, index) => (isPlainPath(each) ? mountKept(each, index) : [])),
    "echo mounted",
    "read line",
  ].join("\n");

/** A link on the way could lead to the host: one such directory is left out. */
function mountKept(each: string, index: number): string {
  const parts = each.split("/").filter((part) => part !== "");
  const steps = parts.map((_, count) => quote(join(view.root, ...parts.slice(0, count + 1))));
  const tests = steps.map((step) => `[ -d ${step} ] && [ ! -L ${step} ]`).join(" && ");
  const point = keptPath(index);
  return `if ${tests}; then mkdir ${point}; mount --bind ${steps.at(-1)} ${point}; fi`;
}

export const keptPath = (index: number): string => join(view.kept, String(index));

export const toolsShown = ({ mounts }: DockerTools) =>
  mounts
    .filter(({ name }) => !name.startsWith("bubblewrap/"))
    .map(({ name }) => ({ path: toolPath(name), source: join(view.tools, name) }));

export interface Holder {
  /** Settles with the reason when the container has ended. */
  ended: Promise<string>;
  /** Settles when nothing in it is left. */
  kill(): Promise<void>;
}

/** Starts the container, which ends when this connection does. */
export async function startHolder(engine: Engine, container: string, kept: string[]): Promise<Holder> {
  let errors = "";
  const note = (data: Buffer) => {
    errors = (errors + data).slice(-2048);
  };
  const attached = await engine.attach(
    `/containers/${container}/attach?stream=1&stdin=1&stdout=1&stderr=1`,
    null,
    note,
  );
  const ended = new Promise<string>((resolve) => {
    attached.once("close", () => resolve(["its container ended.", errors.trim()].filter(Boolean).join(" ")));
  });
  const kill = async () => {
    await killContainer(engine, container);
    attached.destroy();
  };
  attached.on("error", () => {});
  const mounted = new Promise<null>((resolve) => attached.once("data", () => resolve(null)));
  try {
    await engine.call("POST", `/containers/${container}/start`);
    attached.write(`${Buffer.from(holderScript(kept)).toString("base64")}\n`);
    const failure = await Promise.race([mounted, ended]);
    if (failure !== null) throw new MachineUnavailable(`The machine did not start: ${failure}`);
    return { ended, kill };
  } catch (error) {
    await kill();
    throw error;
  }
}

/** The script comes over the connection: what is kept is known only at the start. */
export const holderCommand = ["/bin/sh", "-c", 'read script && eval "$(printf %s "$script" | base64 -d)"'];

/** How long a container may take to end after it was killed. */
const endMs = 60_000;

/** Throws if it goes on. */
export async function killContainer(engine: Engine, container: string, limitMs = endMs): Promise<void> {
  const found = await findContainer(engine, container);
  if (!found?.State.Running) return;
  if (found.State.Paused) await engine.call("POST", `/containers/${container}/unpause`).catch(() => {});
  try {
    await engine.call("POST", `/containers/${container}/kill`);
  } catch (error) {
    // It may have ended meanwhile.
    if ((await findContainer(engine, container))?.State.Running) throw error;
  }
  await engine.callWithin(limitMs, "POST", `/containers/${container}/wait`);
}

/** Of this provider. Nothing of them runs: a machine is ended before it is removed. */
export async function removeContainersExcept(engine: Engine, owner: string, names: Set<string>): Promise<void> {
  const filters = encodeURIComponent(JSON.stringify({ label: [`${ownerLabel}=${owner}`] }));
  const found = await engine.call<{ Id: string; Names: string[] }[]>(
    "GET",
    `/containers/json?all=true&filters=${filters}`,
  );
  for (const { Id, Names } of found ?? [])
    if (!Names.some((name) => names.has(name.slice(1))))
      await engine.call("DELETE", `/containers/${Id}?force=true&v=true`);
}
