// Files of an agent in two places: what has changed is sent, and the receiver does not trust the sender.
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import {
  applyChanges,
  changesSince,
  type Listing,
  listFiles,
  replaceFiles,
  SyncFault,
  sendChanges,
} from "../src/sync/index.ts";

const limits = { maxBytes: 1_000_000, maxFiles: 100, directories: [] as string[] };

async function directory(files: Record<string, string> = {}): Promise<string> {
  const { path, remove } = await temporaryDirectory(files);
  onTestFinished(remove);
  return path;
}

async function sync(from: string, to: string, before: Listing = new Map()): Promise<void> {
  const stream = new PassThrough();
  const applied = applyChanges(stream, to, limits);
  await sendChanges(from, changesSince(before, await listFiles(from)), stream);
  await applied;
}

function frames(...headers: (object | Buffer)[]): PassThrough {
  const stream = new PassThrough();
  for (const header of headers) {
    const bytes = Buffer.isBuffer(header) ? header : Buffer.from(JSON.stringify(header));
    if (!Buffer.isBuffer(header)) {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      stream.write(length);
    }
    stream.write(bytes);
  }
  stream.end(Buffer.alloc(4));
  return stream;
}

test("files, links, modes and names of any bytes arrive, and the home of the agent does not", async () => {
  const from = await directory({ "repo/a.txt": "a", "repo/deep/b.txt": "b", ".home/cache": "secret" });
  chmodSync(join(from, "repo/a.txt"), 0o755);
  symlinkSync("/etc/passwd", join(from, "repo/link"));
  writeFileSync(Buffer.concat([Buffer.from(`${from}/repo/`), Buffer.from([0xff, 0xfe])]), "raw");
  const to = await directory();
  await sync(from, to);
  expect(readFileSync(join(to, "repo/deep/b.txt"), "utf8")).toBe("b");
  expect(lstatSync(join(to, "repo/a.txt")).mode & 0o777).toBe(0o755);
  expect(readlinkSync(join(to, "repo/link"))).toBe("/etc/passwd");
  expect(readFileSync(Buffer.concat([Buffer.from(`${to}/repo/`), Buffer.from([0xff, 0xfe])]), "utf8")).toBe("raw");
  expect(existsSync(join(to, ".home"))).toBe(false);
});

test("later only changes are sent: what was removed goes, and a file can become a directory", async () => {
  const from = await directory({ "repo/same.txt": "same", "repo/gone.txt": "x", "repo/thing": "file" });
  const to = await directory();
  await sync(from, to);
  const before = await listFiles(from);
  rmSync(join(from, "repo/gone.txt"));
  rmSync(join(from, "repo/thing"));
  mkdirSync(join(from, "repo/thing"));
  writeFileSync(join(from, "repo/thing/inside"), "now a directory");
  expect(changesSince(before, await listFiles(from)).written).toEqual(["repo/thing", "repo/thing/inside"]);
  await sync(from, to, before);
  expect(existsSync(join(to, "repo/gone.txt"))).toBe(false);
  expect(readFileSync(join(to, "repo/thing/inside"), "utf8")).toBe("now a directory");
  expect(readFileSync(join(to, "repo/same.txt"), "utf8")).toBe("same");
});

test("nothing is written outside of the directory, whatever the sender names", async () => {
  const outside = await directory({ "kept.txt": "kept" });
  const to = await directory();
  for (const path of ["../evil", "/evil", "a/../../evil", "a//b", ".", "", "a\0b", "a/./b", "ā", "x".repeat(5_000)])
    await expect(applyChanges(frames({ kind: "file", path, mode: 0o644, size: 0 }), to, limits), path).rejects.toThrow(
      SyncFault,
    );
  await applyChanges(frames({ kind: "link", path: "way", target: outside }), to, limits);
  await applyChanges(frames({ kind: "remove", path: "way/kept.txt" }), to, limits);
  await applyChanges(
    frames({ kind: "file", path: "way/evil.txt", mode: 0o644, size: 2 }, Buffer.from("hi")),
    to,
    limits,
  );
  expect(existsSync(join(outside, "evil.txt"))).toBe(false);
  expect(readFileSync(join(outside, "kept.txt"), "utf8")).toBe("kept");
  expect(readFileSync(join(to, "way/evil.txt"), "utf8")).toBe("hi");
});

test("directories that the receiver works in stay directories, and its own are not the sender's business", async () => {
  const to = await directory({ "work/shop/a.txt": "a", ".artifacts/b.txt": "b" });
  const kept = { ...limits, directories: ["work/shop", ".artifacts"] };
  const link = (path: string) => ({ kind: "link", path, target: "/etc" });
  for (const header of [link("work/shop"), link("work"), link(".artifacts"), { kind: "remove", path: "work/shop" }])
    await expect(applyChanges(frames(header), to, kept)).rejects.toThrow("must stay a directory");
  for (const path of [".home", ".home/.profile", ".draft-1"])
    await expect(applyChanges(frames(link(path)), to, kept)).rejects.toThrow("is not exchanged");
  expect(readFileSync(join(to, "work/shop/a.txt"), "utf8")).toBe("a");
  const inside = [{ kind: "directory", path: "work/shop", mode: 0o755 }, link("work/shop/way"), link("workbench")];
  await applyChanges(frames(...inside), to, kept);
  expect(readlinkSync(join(to, "work/shop/way"))).toBe("/etc");
});

test("what is not a change, ends early or is too much is refused", async () => {
  const to = await directory();
  const refused = [
    frames({ kind: "device", path: "a" }),
    frames({ kind: "file", path: "a", mode: 0o4755, size: 0 }),
    frames({ kind: "file", path: "a", mode: 0o644, size: -1 }),
    frames({ kind: "file", path: "a", mode: 0o644, size: 2_000_000 }),
    frames({ kind: "file", path: "a", mode: 0o644, size: 100 }, Buffer.from("short")),
    frames({ kind: "link", path: "a", target: "" }),
    frames(...Array.from({ length: 101 }, (_, index) => ({ kind: "remove", path: `f${index}` }))),
    frames(Buffer.from([0xff, 0xff, 0xff, 0xff])),
    frames(Buffer.from([0, 0, 0, 2]), Buffer.from("{]")),
  ];
  for (const stream of refused) await expect(applyChanges(stream, to, limits)).rejects.toThrow(SyncFault);
});

test("a sender that goes in the middle of a file leaves the former one as it was, and nothing beside it", async () => {
  const to = await directory({ a: "former" });
  const cut = new PassThrough();
  const header = Buffer.from(JSON.stringify({ kind: "file", path: "a", mode: 0o644, size: 100 }));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(header.length);
  cut.end(Buffer.concat([length, header, Buffer.from("half")]));
  await expect(applyChanges(cut, to, limits)).rejects.toThrow(SyncFault);
  expect(readFileSync(join(to, "a"), "utf8")).toBe("former");
  expect(readdirSync(to)).toEqual(["a"]);
});

test("where one of the former files cannot be moved, all of them stay, and none of the new ones", async () => {
  // Its path is as long as a path can be: below another directory it is too long.
  const maxPathBytes = 4_095;
  const long = "l".repeat(200);
  let to = await directory();
  while (Buffer.byteLength(to) < maxPathBytes - 450) to = join(to, "d".repeat(200));
  to = join(to, "d".repeat(maxPathBytes - Buffer.byteLength(to) - 220));
  mkdirSync(to, { recursive: true });
  for (const name of ["a", "b", long, "z"]) writeFileSync(join(to, name), `former ${name}`);
  const sent = frames({ kind: "file", path: "a", mode: 0o644, size: 3 }, Buffer.from("new"));
  await expect(replaceFiles(sent, to, limits)).rejects.toThrow(/ENAMETOOLONG/);
  expect(readdirSync(to).sort()).toEqual(["a", "b", long, "z"]);
  for (const name of ["a", "b", long, "z"]) expect(readFileSync(join(to, name), "utf8")).toBe(`former ${name}`);
});
