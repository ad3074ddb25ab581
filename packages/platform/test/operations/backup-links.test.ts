// A backup while an agent replaces its directories by links: nothing outside its workspace is read.
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openFile } from "../../src/foundation/files/index.ts";
import { type FoundFile, listFiles } from "../../src/operations/backup/files.ts";
import { openHoleLimit } from "../../src/operations/backup/holes.ts";
import { writeFile } from "../../src/operations/backup/make.ts";

let base = "";
let dataDirectory = "";
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "backup-links-")));
  dataDirectory = join(base, "data");
  mkdirSync(join(dataDirectory, "workspaces/agent/directory"), { recursive: true });
  writeFileSync(join(dataDirectory, "workspaces/agent/directory/secret.pem"), "of the agent");
  mkdirSync(join(base, "operator"));
  writeFileSync(join(base, "operator/secret.pem"), "of the operator");
});
afterEach(() => rmSync(base, { recursive: true }));

const workspace = () => join(dataDirectory, "workspaces/agent");

/** As an agent does between the moment that a path is listed and the moment that it is read. */
function replaceByLink(name: string, target: string): void {
  renameSync(join(workspace(), name), join(workspace(), "../former"));
  symlinkSync(join(base, target), join(workspace(), name));
}

/** What a backup would contain, if `onFound` is called before each file is read. */
async function backUp(onFound: (path: string) => void): Promise<string[]> {
  const contents: string[] = [];
  for await (const found of listFiles({ dataDirectory, kekFile: join(base, "kek"), keys: "all" }, ({ path }) =>
    expect.fail(path),
  )) {
    onFound(found.section.path);
    contents.push(`${found.section.path} ${await contentOf(found)}`);
  }
  return contents;
}

async function contentOf({ section, entry }: FoundFile): Promise<string | undefined> {
  const file = section.kind === "file" ? await openFile(entry) : null;
  try {
    return await file?.readFile("utf8");
  } finally {
    await file?.close();
  }
}

test("a file below a directory that became a link is read from where the directory was moved to", async () => {
  const contents = await backUp((path) => {
    if (path.endsWith("/secret.pem")) replaceByLink("directory", "operator");
  });
  expect(contents).toContain("workspaces/agent/directory/secret.pem of the agent");
  expect(contents.join()).not.toContain("of the operator");
});

test("a file that an agent makes longer while it is read is written as long as it was found", async () => {
  const path = join(workspace(), "directory/secret.pem");
  const sources = { dataDirectory, kekFile: join(base, "kek"), keys: "all" } as const;
  const pieces: Buffer[] = [];
  const archive = { begin() {}, write: (piece: Buffer) => void pieces.push(piece) };
  for await (const found of listFiles(sources, ({ path: left }) => expect.fail(left))) {
    if (found.section.kind !== "file") continue;
    truncateSync(path, 2 ** 40);
    expect(await writeFile(archive, found)).toBe(true);
  }
  expect(Buffer.concat(pieces).toString()).toBe("of the agent");
});

test("a file that became a link is not read", async () => {
  const contents = await backUp((path) => {
    if (path.endsWith("/secret.pem")) replaceByLink("directory/secret.pem", "operator/secret.pem");
  });
  expect(contents).toContain("workspaces/agent/directory/secret.pem undefined");
});

test("a directory that becomes a link while it is listed has no entries", async () => {
  const left: string[] = [];
  const listing = { dataDirectory, kekFile: join(base, "kek"), keys: "all" } as const;
  const paths: string[] = [];
  for await (const { section } of listFiles(listing, ({ path }) => left.push(path))) {
    paths.push(section.path);
    if (section.path === "workspaces/agent/directory") replaceByLink("directory", "operator");
  }
  expect(paths).toEqual(["workspaces", "workspaces/agent", "workspaces/agent/directory"]);
  expect(left).toEqual(["workspaces/agent/directory"]);
});

test("a file with many names fills no backup: beyond a limit for its agent, further names are left out", async () => {
  mkdirSync(join(dataDirectory, "workspaces/other"));
  for (const agent of ["agent", "other"]) {
    const own = join(dataDirectory, "workspaces", agent, "large");
    writeFileSync(own, "x");
    for (let index = 0; index < (agent === "agent" ? 9 : 1); index += 1) linkSync(own, `${own}-${index}`);
  }
  const exceeds = openHoleLimit();
  const written: string[] = [];
  const listing = { dataDirectory, kekFile: join(base, "kek"), keys: "all" } as const;
  for await (const found of listFiles(listing, () => {})) {
    if (!found.section.path.includes("/large")) continue;
    // As if it had a gigabyte, all of it on the disk.
    Object.assign(found.entry.stats, { size: 1024 ** 3, blocks: 1024 ** 3 / 512 });
    if (!exceeds(found)) written.push(found.section.path.replace("workspaces/", ""));
  }
  const names = ["", "-0", "-1", "-2", "-3"].map((end) => `agent/large${end}`);
  expect(written).toEqual([...names, "other/large", "other/large-0"]);
});

test("locks of git operations are left out, and files of agents that only look like them are not", async () => {
  const files = ["vendor/foo.git/Cargo.lock", ".git/index.lock", "package.lock"].map(
    (name) => `workspaces/agent/${name}`,
  );
  for (const path of [...files, "repositories/1.git/HEAD.lock", "repositories/1.git/HEAD"]) {
    mkdirSync(dirname(join(dataDirectory, path)), { recursive: true });
    writeFileSync(join(dataDirectory, path), "");
  }
  const listed: string[] = [];
  const listing = { dataDirectory, kekFile: join(base, "kek"), keys: "all" } as const;
  for await (const { section } of listFiles(listing, () => {})) if (section.kind === "file") listed.push(section.path);
  const kept = [files[0], files[2], "repositories/1.git/HEAD", "workspaces/agent/directory/secret.pem"];
  expect(listed.toSorted()).toEqual(kept.toSorted());
});
