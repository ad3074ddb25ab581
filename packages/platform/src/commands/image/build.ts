// `platform image build`
import { createReadStream, existsSync } from "node:fs";
import { cp, mkdir, mkdtemp } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { CommandError, foreignTextFor } from "@agentcli/command-line";
import { ImageFault, type ImageRecord, type Images, openImages } from "../../images/index.ts";
import { MachineUnavailable, openMachines, removeMachineFiles } from "../../machines/index.ts";
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { settingsFor } from "../settings.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const { settings } = settingsFor(invocation, program);
  const machines = openMachines(settings);
  const images = openImages({ settings, ...machines });
  try {
    const image = await make({ images, invocation, program, directory: machines.directory });
    images.setBase(image.digest);
    program.print(`${image.digest}\nNew builds of environments begin with it.\n`);
    return 0;
  } catch (error) {
    if (error instanceof ImageFault || error instanceof MachineUnavailable)
      throw new CommandError("failed", error.message);
    throw error;
  }
}

interface MakeRequest {
  images: Images;
  invocation: Invocation;
  program: Program;
  directory: string;
}

async function make({ images, invocation, program, directory }: MakeRequest): Promise<ImageRecord> {
  const { text } = invocation;
  const log = (line: string) => void process.stderr.write(foreignTextFor(process.stderr, line));
  const output = { log, signal: program.signal };
  const given = (["tar", "dockerfile", "packages"] as const).filter((flag) => text(flag) !== undefined);
  if (given.length > 1)
    throw new CommandError("usage", `An image has one source: --${given.join(" or --")}, not both.`);
  const tar = text("tar");
  if (tar !== undefined) return importTar(images, existing(resolve(program.cwd, tar)));
  const dockerfile = text("dockerfile");
  if (dockerfile === undefined) {
    const packages = (text("packages") ?? "").split(",").filter((name) => name !== "");
    const source = { packages, suite: text("suite") ?? "stable", mirror: text("mirror") ?? null };
    return images.buildDebian(source, output);
  }
  const path = existing(resolve(program.cwd, dockerfile));
  const context = existing(resolve(program.cwd, text("context") ?? dirname(path)));
  return buildDockerfile({ images, directory, path, context }, output);
}

function existing(path: string): string {
  if (existsSync(path)) return path;
  throw new CommandError("usage", `There is no ${path}.`);
}

const importTar = (images: Images, path: string) => images.importArchive(createReadStream(path), basename(path));

interface DockerfilePlan {
  images: Images;
  directory: string;
  path: string;
  context: string;
}

/** From a copy of the context: the builder's user owns it while it builds. */
async function buildDockerfile(
  { images, directory, path, context }: DockerfilePlan,
  output: Parameters<Images["buildDockerfile"]>[1],
): Promise<ImageRecord> {
  const parent = join(directory, "builds");
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const work = await mkdtemp(join(parent, "image-"));
  try {
    const repository = join(work, "files");
    const copy = { dockerfile: relative(context, path), context: "" };
    await cp(context, repository, { recursive: true, verbatimSymlinks: true });
    if (copy.dockerfile.startsWith("..")) throw new ImageFault(`${path} is not inside the context ${context}.`);
    const hosts = { allowedHosts: ["*"], secrets: [], onDenied: output.log };
    return await images.buildDockerfile({ directory: work, repository, ...copy, ...hosts }, output);
  } finally {
    await removeMachineFiles(work);
  }
}
