// The disk of a machine is what its container wrote: it moves to a new container whole, and is never replaced by an empty one.
import { randomBytes } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { DiskLost, type MachineLimits, type MachineSpec, MachineUnavailable } from "../provider.ts";
import { containerConfig, containerName, type FoundContainer, findContainer, isMadeBy, nextName } from "./container.ts";
import { type DockerHost, machineDirectory, readMachine, writeMachine } from "./host.ts";
import { machineLabel, removeDiskImages } from "./layers.ts";

export interface DiskPlan {
  directories: string[];
  limits: MachineLimits;
}

type Config = ReturnType<typeof containerConfig>;

/** The container with the disk of the machine. Directories and limits of a container cannot be changed: its disk moves to a new one. */
export async function prepareContainer(host: DockerHost, spec: MachineSpec, plan: DiskPlan): Promise<string> {
  const { engine, owner, layers } = host;
  const name = containerName(owner, spec.id);
  const found = await findDisk(host, spec.id);
  const config = await configOf(host, spec, plan);
  if (found === null) await createContainer(host, name, { ...config, Image: await layers.imageOf(spec.layers) });
  else if (!isMadeBy(found, config)) await moveDisk(host, spec.id, config);
  noteDisk(host, spec.id);
  // What an earlier move left: the images that a container uses stay.
  if (found && !isMadeBy(found, config)) await removeDiskImages(engine, owner, (id) => id === spec.id);
  return name;
}

async function configOf(host: DockerHost, spec: MachineSpec, { directories, limits }: DiskPlan): Promise<Config> {
  const notes = spec.layers.flatMap((digest) => host.layers.notes(digest).hostPaths);
  return containerConfig({
    ...{ owner: host.owner, limits, tools: await host.tools(), image: "" },
    name: containerName(host.owner, spec.id),
    hostPaths: notes.filter((path) => existsSync(path)),
    directories: directories.map((each) => realpathSync(each)),
  });
}

/** Null before the first start. Throws DiskLost if there was one. */
async function findDisk(host: DockerHost, id: string): Promise<FoundContainer | null> {
  const { engine, owner } = host;
  const name = containerName(owner, id);
  // A move that was cut short: nothing has run since, and the new container has the whole disk.
  if ((await findContainer(engine, nextName(name))) !== null) await endMove(host, name);
  const found = await findContainer(engine, name);
  if (found === null && readMachine(machineDirectory(host, id))?.hasDisk)
    throw new DiskLost(`The Docker daemon does not have container ${name} any more, which had the disk of ${id}.`);
  return found;
}

/** The old container goes only once there is a new one with its disk. */
async function moveDisk(host: DockerHost, id: string, config: Config): Promise<void> {
  const { engine, owner } = host;
  const name = containerName(owner, id);
  const Image = await commit(host, id);
  try {
    await createContainer(host, nextName(name), { ...config, Image });
  } catch (error) {
    await engine.call("DELETE", `/images/${Image}`).catch(() => {});
    throw error;
  }
  await endMove(host, name);
}

async function endMove({ engine }: DockerHost, name: string): Promise<void> {
  await engine.call("DELETE", `/containers/${name}?force=true&v=true`);
  await engine.call("POST", `/containers/${nextName(name)}/rename?name=${name}`);
}

async function createContainer({ engine }: DockerHost, name: string, config: Config): Promise<void> {
  if ((await engine.call("POST", `/containers/create?name=${name}`, config)) === null)
    throw new MachineUnavailable(`Container ${name} was not made: the Docker daemon has no image ${config.Image}.`);
}

/** From now on a machine without a container is one that has lost its disk. */
function noteDisk(host: DockerHost, id: string): void {
  const directory = machineDirectory(host, id);
  const record = readMachine(directory);
  if (record && !record.hasDisk) writeMachine(directory, { ...record, hasDisk: true });
}

/** The disk of a machine as an image; the daemon stops its processes meanwhile. */
export async function commit({ engine, owner }: DockerHost, id: string): Promise<string> {
  const name = containerName(owner, id);
  const labels = { Labels: { [machineLabel]: id } };
  const made = await engine.call<{ Id: string }>("POST", `/commit?container=${name}&pause=true`, labels);
  if (made === null) throw new MachineUnavailable(`Container ${name} does not exist any more.`);
  return made.Id;
}

/** Takes the name away from the containers of a machine that does not run. Returns what removes them, and their images. */
export async function setDiskAside({ engine, owner }: DockerHost, id: string): Promise<() => Promise<void>> {
  const name = containerName(owner, id);
  const aside: string[] = [];
  for (const each of [name, nextName(name)]) {
    const to = `${name}.removed-${randomBytes(4).toString("hex")}`;
    if ((await engine.call("POST", `/containers/${each}/rename?name=${to}`)) !== null) aside.push(to);
  }
  return async () => {
    for (const each of aside) await engine.call("DELETE", `/containers/${each}?force=true&v=true`);
    await removeDiskImages(engine, owner, (each) => each === id);
  };
}

interface FoundSize {
  Image: string;
  SizeRw?: number;
}

/** What was written since the machine was made, also before its disk moved. */
export async function diskBytes({ engine, owner, layers }: DockerHost, spec: MachineSpec): Promise<number> {
  const found = await engine.call<FoundSize>("GET", `/containers/${containerName(owner, spec.id)}/json?size=true`);
  if (found === null) return 0;
  const image = await engine.call<{ Size: number }>("GET", `/images/${found.Image}/json`);
  const base = await layers.sizeOf(spec.layers);
  const moved = image === null || base === null ? 0 : Math.max(0, image.Size - base);
  return (found.SizeRw ?? 0) + moved;
}
