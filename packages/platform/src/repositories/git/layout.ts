// Writes git directories as files, without running git: the agent's initial repository and the host's copy.
import { constants, copyFileSync, statSync } from "node:fs";
import { copyFile, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";

export interface Layout {
  /** Object names have 40 or 64 hexadecimal digits. */
  objectFormat: "sha1" | "sha256";
  /** A partial clone: blobs may be missing. */
  isPartial: boolean;
  /** The branch HEAD points to; it need not exist. */
  head: string;
  /** Full reference names to object names. */
  references: Map<string, string>;
  /** Additional configuration sections. */
  config: [section: string, values: Record<string, string>][];
  /** Object directories to read from (alternates), never written to. */
  borrowed: string[];
}

export const formatOf = (objectName: string): Layout["objectFormat"] => (objectName.length === 64 ? "sha256" : "sha1");

export async function layOut(directory: string, layout: Layout): Promise<void> {
  await mkdir(join(directory, "objects/info"), { recursive: true });
  const files = {
    HEAD: `ref: refs/heads/${layout.head}\n`,
    config: configText(layout),
    "packed-refs": packedReferences(layout.references),
    ...(layout.borrowed.length > 0 && { "objects/info/alternates": `${layout.borrowed.join("\n")}\n` }),
  };
  // At once, because a run waits for it: one after another they take three times as long.
  await allDone([
    mkdir(join(directory, "objects/pack")),
    mkdir(join(directory, "refs/heads"), { recursive: true }),
    mkdir(join(directory, "info")),
    ...Object.entries(files).map(([name, text]) => writeFile(join(directory, name), text)),
  ]);
}

/** Rejects like the first that rejects, but not before all of them have settled: nothing is written after it. */
async function allDone(works: Promise<unknown>[]): Promise<void> {
  for (const result of await Promise.allSettled(works)) if (result.status === "rejected") throw result.reason;
}

function configText({ objectFormat, isPartial, config }: Layout): string {
  const hasExtensions = objectFormat === "sha256" || isPartial;
  const sections: Layout["config"] = [
    ["core", { repositoryformatversion: hasExtensions ? "1" : "0", filemode: "true", logallrefupdates: "false" }],
    // Files change their owner when an agent gets them; git need not read them all again for that.
    ["core", { checkstat: "minimal", trustctime: "false" }],
    ["gc", { auto: "0" }],
  ];
  if (objectFormat === "sha256") sections.push(["extensions", { objectFormat }]);
  if (isPartial) {
    sections.push(["extensions", { partialClone: "origin" }]);
    sections.push(['remote "origin"', { promisor: "true", partialclonefilter: "blob:none" }]);
  }
  return [...sections, ...config]
    .map(([name, values]) => `[${name}]\n${Object.entries(values).map(configLine).join("")}`)
    .join("");
}

const configLine = ([key, value]: [string, string]) =>
  `\t${key} = "${value.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n")}"\n`;

/** Sorted the way git searches the file. */
export function packedReferences(references: Map<string, string>): string {
  const lines = [...references]
    .map(([name, object]) => ({ name, object }))
    .sort((a, b) => compareBytes(a.name, b.name));
  return `# pack-refs with: sorted\n${lines.map(({ name, object }) => `${object} ${name}\n`).join("")}`;
}

const compareBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

const maxAttempts = 4;
const copiesAtOnce = 64;
/** Synchronously it takes a fifth of the time: 25 µs. */
const smallBytes = 64 * 1024;

/**
 * An independent copy, or a copy-on-write clone where the file system supports it. With hard links, a write to one copy
 * would change the other.
 */
export async function copyObjects(from: string, to: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await copyOnce(from, to);
    } catch (error) {
      // A concurrent repack replaced the packs under other names.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || attempt === maxAttempts) throw error;
      await rm(to, { recursive: true, force: true });
    }
  }
}

const isObjectFile = /^(?:[0-9a-f]{2}\/[0-9a-f]{38,62}|pack\/pack-[0-9a-f]+\.(?:pack|idx|rev|promisor|bitmap))$/;

async function copyOnce(from: string, to: string): Promise<void> {
  const names = (await readdir(from, { recursive: true })).filter((name) => isObjectFile.test(name));
  const directories = [...new Set(["info", "pack", ...names.map(dirname)])];
  await allDone(directories.map((directory) => mkdir(join(to, directory), { recursive: true })));
  for (let index = 0; index < names.length; index += copiesAtOnce) {
    const copies = names.slice(index, index + copiesAtOnce).map((name) => [join(from, name), join(to, name)] as const);
    await allDone(copies.map(([source, target]) => copyObjectFile(source, target)));
    await nextTurn();
  }
}

async function copyObjectFile(source: string, target: string): Promise<void> {
  const isSmall = statSync(source).size <= smallBytes;
  if (isSmall) copyFileSync(source, target, constants.COPYFILE_FICLONE);
  else await copyFile(source, target, constants.COPYFILE_FICLONE);
}
