// Images that machines begin with, made by the programs of the system.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { unlimited } from "@agentcli/testkit/machines";
import { describeLimits } from "@agentcli/workspace";
import { expect, onTestFinished, test } from "vitest";
import { type Images, openImages } from "../../src/images/index.ts";
import type { ImageSecret } from "../../src/images/mounted-secrets.ts";
import { requireTool } from "../../src/images/tools.ts";
import {
  type MachineLimits,
  type Machines,
  openMachines,
  openMachineWorkspace,
  removeMachineFiles,
} from "../../src/machines/index.ts";
import { testSettings } from "../harness/settings.ts";
import { newDataDirectory, usualSettings } from "../runs/run-harness.ts";

interface ImageHarness {
  images: Images;
  machines: Machines;
  directory: string;
}

function openImageHarness(limits: MachineLimits = unlimited): ImageHarness {
  const dataDirectory = newDataDirectory();
  onTestFinished(() => removeMachineFiles(dataDirectory));
  const variables = { PATH: process.env.PATH };
  const { programDirectory } = usualSettings;
  const machines = openMachines({ ...testSettings(dataDirectory), programDirectory, variables });
  const images = openImages({ settings: { dataDirectory }, provider: machines.provider, limits });
  return { images, machines, directory: join(dataDirectory, "work") };
}

/** A shell, and the libraries that it and the server inside a machine need. */
function copyPrograms(root: string, more: string[] = []): void {
  const programs = ["/bin/sh", "/bin/cat", ...more];
  const libraries = [process.execPath, ...programs].flatMap((program) =>
    [...execFileSync("ldd", [program], { encoding: "utf8" }).matchAll(/(\/\S+) \(0x/g)].map(([, path = ""]) => path),
  );
  for (const path of new Set([...programs, ...libraries])) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    cpSync(path, join(root, path), { dereference: true });
  }
}

async function runIn({ machines }: ImageHarness, digest: string, command: string): Promise<string> {
  const provider = await machines.provider();
  const machine = await provider.create({ id: `image-${process.pid}`, layers: [digest], limits: unlimited });
  try {
    const supervisor = await machine.start({ allowed: [], denied: [], onDenied: () => {} });
    const env = { PATH: "/usr/bin:/bin" };
    const workspace = await openMachineWorkspace(supervisor, { root: "/", incarnation: "image", env });
    let text = "";
    const start = { argv: ["/bin/sh", "-c", command] };
    const take = (chunk: { text: string }) => {
      text += chunk.text;
    };
    await workspace.exec({ id: "image", start }, take, new AbortController().signal);
    return text;
  } finally {
    await machine.remove();
  }
}

/** For a server of an ordinary user, buildah sets files and variables, and may not change groups to run a command. */
const isRoot = process.geteuid?.() === 0;
const refusedCommand = /^buildah failed/;

const missing = "sudo apt-get install -y --no-install-recommends buildah";

/** Its log and what came of it; `error` where it failed. */
async function build({ images, directory }: ImageHarness, dockerfile: string, secrets: ImageSecret[] = []) {
  const repository = join(directory, "files");
  writeFileSync(join(repository, "Dockerfile"), dockerfile);
  let log = "";
  const output = {
    log: (text: string) => {
      log += text;
    },
    signal: new AbortController().signal,
  };
  const hosts = { allowedHosts: [], secrets, onDenied: output.log };
  const request = { directory, repository, dockerfile: "Dockerfile", context: "", ...hosts };
  const result = await images.buildDockerfile(request, output).then(
    (image) => ({ image, error: "" }),
    (error: Error) => ({ image: undefined, error: error.message }),
  );
  return { ...result, log };
}

test("a Dockerfile becomes an image with its files, owners and variables, and a machine starts from it", async () => {
  const harness = openImageHarness();
  copyPrograms(join(harness.directory, "files/root"));
  const files = join(harness.directory, "files");
  for (const name of ["made", "proxy"]) writeFileSync(join(files, name), `copied ${name}\n`);
  const commands = isRoot ? 'RUN echo $WORD > /made && echo "$HTTP_PROXY" > /proxy' : "COPY made proxy /";
  const dockerfile = [
    ...["FROM scratch", "ARG WORD=made", "COPY root/ /", "ENV GREETING='good day'", commands, ""],
  ].join("\n");
  const { image, error, log } = await build(harness, dockerfile);
  if (error.includes(missing) || (await (await harness.machines.provider()).capabilities()).obstacle !== null) return;
  expect(error, log).toBe("");
  expect(image?.env).toMatchObject({ GREETING: "good day" });
  const left = isRoot ? "made\nhttp://127.0.0.1:3128\n" : "copied made\ncopied proxy\n";
  expect(await runIn(harness, image?.digest ?? "", "cat /made /proxy")).toBe(left);
  expect(harness.images.base()).toBeNull();
  expect(harness.images.list()).toEqual([image]);
});

const token = { name: "TOKEN", value: "canary-4d0f-value" };
const mount = "--mount=type=secret,id=TOKEN";

/** Null where this machine cannot run commands of a Dockerfile. */
async function buildWithSecret(lines: string[], programs: string[] = [], secret = token) {
  const harness = openImageHarness();
  copyPrograms(join(harness.directory, "files/root"), programs);
  const made = await build(harness, ["FROM scratch", "COPY root/ /", ...lines, ""].join("\n"), [secret]);
  const { obstacle } = await (await harness.machines.provider()).capabilities();
  return made.error.includes(missing) || obstacle !== null || !isRoot ? null : { harness, ...made };
}

test("a step that mounts a secret of the build has it as a file, other steps and the image do not, and no argument or variable has it", async () => {
  const [use, shown] = ["cat /run/secrets/TOKEN || echo absent", "cat /proc/*/cmdline /proc/*/environ; true"];
  const made = await buildWithSecret([`RUN ${mount} ${use} && ${shown}`, `RUN ${use}`, `RUN ${shown}`]);
  if (made === null) return;
  const { harness, image, error, log } = made;
  expect(error, log).toBe("");
  expect(log.split(token.value)).toHaveLength(2);
  expect(log).toMatch(/^absent$/m);
  expect(await runIn(harness, image?.digest ?? "", use)).toContain("absent");
});

test("an image that keeps a secret of its build is not made, and the log names the file", async () => {
  const made = await buildWithSecret([`RUN ${mount} cat /run/secrets/TOKEN > /left`]);
  if (made === null) return;
  expect(made.error).toContain("buildah failed");
  expect(made.log).toMatch(/A secret of this build is in the image\. .*\n\/left\n/);
  expect(made.harness.images.list()).toEqual([]);
});

test("a secret that is too short to be redacted does not refuse every image", async () => {
  const made = await buildWithSecret([`RUN ${mount} test -s /run/secrets/TOKEN`], [], { ...token, value: "abc" });
  if (made === null) return;
  expect(made.error, made.log).toBe("");
});

test("a Dockerfile that mounts a secret which the build does not get says so", async () => {
  const made = await buildWithSecret([
    "RUN --mount=type=secret,target=/run/secrets/OTHER cat /run/secrets/OTHER || true",
  ]);
  expect(made?.log ?? "mounts the secret OTHER").toContain("mounts the secret OTHER");
});

test("commands of a Dockerfile are no root of the host, and see none of its files, devices and settings", async () => {
  const harness = openImageHarness();
  copyPrograms(join(harness.directory, "files/root"));
  const secret = join(harness.directory, "secret");
  writeFileSync(secret, "of the host");
  const attempts = [`cat ${secret}`, `cat /proc/1/root${secret}`, "cat < /dev/sda", "echo > /proc/sys/kernel/panic"];
  const lines = attempts.map((attempt) => `RUN { ${attempt}; } && echo BROKE_OUT; true`);
  const { error, log } = await build(harness, ["FROM scratch", "COPY root/ /", ...lines, ""].join("\n"));
  if (error.includes(missing)) return;
  expect(error, log).toMatch(isRoot ? /^$/ : refusedCommand);
  expect(log).toContain(attempts[0]);
  expect(log.includes("This server does not run as root")).toBe(!isRoot);
  expect(log).not.toMatch(/^BROKE_OUT|of the host$/m);
  expect(existsSync(secret)).toBe(true);
});

/** Beside what a build needs of the host; only root can write them. */
const operatorDirectories = ["/usr/local/etc", "/usr/src", "/etc/ssl", "/etc/containers", "/etc", "/opt", "/srv"];

test("commands of a Dockerfile read no file of the operator, wherever it is, also past their root directory", async () => {
  const harness = openImageHarness();
  copyPrograms(join(harness.directory, "files/root"));
  const made = operatorDirectories.flatMap((parent) => {
    try {
      return [mkdtempSync(join(parent, "operator-"))];
    } catch {
      return [];
    }
  });
  onTestFinished(() => made.forEach((directory) => void rmSync(directory, { recursive: true })));
  for (const directory of made) chmodSync(directory, 0o755);
  for (const directory of made) writeFileSync(join(directory, "kek"), "of the operator\n", { mode: 0o644 });
  const lines = made.map((directory) => `RUN cat /proc/1/root${directory}/kek /proc/self/root${directory}/kek; true`);
  const { error, log } = await build(harness, ["FROM scratch", "COPY root/ /", ...lines, ""].join("\n"));
  if (error.includes(missing)) return;
  expect(error, log).toMatch(made.length === 0 || isRoot ? /^$/ : refusedCommand);
  expect(log).not.toMatch(/^of the operator$/m);
});

test("what commands of a Dockerfile leave as the description of their image leads the server to no other file", async () => {
  const harness = openImageHarness();
  copyPrograms(join(harness.directory, "files/root"), ["/bin/mkdir", "/bin/ln"]);
  const directory = mkdtempSync(join(harness.directory, "operator-"));
  const secret = join(directory, "kek");
  writeFileSync(secret, "of-the-operator", { mode: 0o600 });
  // The builder writes to a path of its own, which the server would find elsewhere.
  const here = `RUN mkdir -p /proc/1/root${directory} && cat /dev/null > /proc/1/root${secret}`;
  const link = `RUN ln -s ${secret} /proc/1/root/build/store/image.json && echo LINKED`;
  const { error, log } = await build(harness, ["FROM scratch", "COPY root/ /", here, link, ""].join("\n"));
  if (error.includes(missing)) return;
  if (isRoot) expect(log).toMatch(/^LINKED$/m);
  expect(error).toMatch(isRoot ? /^buildah left no description of the image/ : refusedCommand);
  expect(error + log).not.toContain("of-the-operator".slice(0, 8));
});

const mebibyte = 1024 ** 2;

test("a Dockerfile cannot fill the disk: neither by a single file nor by all of them", async () => {
  const harness = openImageHarness({ ...unlimited, diskBytes: 256 * mebibyte });
  copyPrograms(join(harness.directory, "files/root"), ["/usr/bin/head", "/usr/bin/truncate"]);
  const begin = ["FROM scratch", "COPY root/ /"];
  const single = await build(harness, [...begin, "RUN truncate -s 300M /one", ""].join("\n"));
  if (single.error.includes(missing)) return;
  expect(single.error).toMatch(/^buildah failed/);
  await clearStore(harness);
  const given = join(harness.directory, "files/given");
  writeFileSync(given, "");
  truncateSync(given, 300 * mebibyte);
  const copied = await build(harness, [...begin, "COPY given /", ""].join("\n"));
  expect(copied.error, copied.log).toMatch(/^buildah failed|\(limits\.disk\)/);
  rmSync(given);
  await clearStore(harness);
  const fill = ["one", "two"].map((name) => `RUN head -c 150M /dev/zero > /${name}`);
  const large = await build(harness, [...begin, ...fill, ""].join("\n"));
  expect(large.error, large.log).toMatch(/^buildah failed|\(limits\.disk\)/);
});

test("commands of a Dockerfile share limits of memory and processes, as those of a machine do", async () => {
  const limits = { ...unlimited, memoryBytes: 128 * mebibyte, processes: 64 };
  const harness = openImageHarness(limits);
  copyPrograms(join(harness.directory, "files/root"), ["/usr/bin/head", "/usr/bin/tail", "/bin/sleep"]);
  const begin = ["FROM scratch", "COPY root/ /"];
  const hog = "RUN head -c 400M /dev/zero | tail | cat > /dev/null; echo ENDED $?";
  const flood =
    "RUN for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do for j in 1 2 3 4 5 6 7 8 9; do sleep 2 & done; done; echo ALL";
  const report = await describeLimits({ ...unlimited, ...limits, fileBytes: null });
  const memory = await build(harness, [...begin, `${hog}; test -s /done`, ""].join("\n"));
  if (memory.error.includes(missing)) return;
  if (report.memory.by.startsWith("cgroup"))
    expect(memory.log).toContain("The sandbox reached its memory limit of 128 MiB");
  await clearStore(harness);
  const processes = await build(harness, [...begin, flood, ""].join("\n"));
  if (report.processes.by.startsWith("cgroup")) expect(processes.log).not.toMatch(/^ALL$/m);
});

/** As the end of a build does. */
const clearStore = ({ directory }: ImageHarness) => removeMachineFiles(join(directory, "store"));

test("a Dockerfile that fails shows its output, and one that leads out of the repository is not read", async () => {
  const harness = openImageHarness();
  mkdirSync(join(harness.directory, "files"), { recursive: true });
  const failed = await build(harness, "FROM scratch\nCOPY nothing /nothing\n");
  if (failed.error.includes(missing)) return;
  expect(failed.error).toMatch(/^buildah failed \(exit code \d+\); its output says why\.$/);
  expect(failed.log).toContain("STEP 2/2: COPY nothing /nothing");
  symlinkSync("/etc", join(harness.directory, "files/etc"));
  const request = {
    directory: harness.directory,
    repository: join(harness.directory, "files"),
    dockerfile: "Dockerfile",
  };
  const output = { log: () => {}, signal: new AbortController().signal };
  const linked = harness.images.buildDockerfile(
    { ...request, context: "etc", allowedHosts: [], secrets: [], onDenied() {} },
    output,
  );
  await expect(linked).rejects.toThrow("etc is a link that leads out of the repository.");
});

test("an archive that cannot be unpacked is refused with the reason, and leaves no image", async () => {
  const { machines, images } = openImageHarness();
  const { obstacle } = await (await machines.provider()).capabilities();
  const imported = images.importArchive(Readable.from([Buffer.alloc(2000, "no archive")]), "root.tar");
  const refused = /^root\.tar cannot be unpacked as a root directory: tar: This does not look like a tar archive/;
  await expect(imported).rejects.toThrow(obstacle ?? refused);
  expect(images.list()).toEqual([]);
});

test("a missing builder is named with the line that installs it", () => {
  expect(() => requireTool("buildah", "A Dockerfile", ["/nonexistent"])).toThrow(
    `A Dockerfile needs buildah, which is not installed on this server. Install it: sudo apt-get update && ${missing}`,
  );
});
