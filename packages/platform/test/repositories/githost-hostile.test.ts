// Requests of git's protocol that no git client sends: they cost the host no memory and change nothing.
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type GitHostHarness, openGitHostHarness } from "./git-host-harness.ts";

let harness: GitHostHarness;
let count = 0;
let name = "";

beforeAll(async () => {
  harness = await openGitHostHarness();
});
afterAll(() => harness.close());
beforeEach(async () => {
  count += 1;
  name = `shop-${count}`;
  await harness.host.repositories.create({ teamId: harness.teamId, name, from: null }, new AbortController().signal);
});

const packet = (text: string) => `${(text.length + 4).toString(16).padStart(4, "0")}${text}`;
const objectName = (number: number) => number.toString(16).padStart(40, "0");
const none = objectName(0);

function post(service: "upload-pack" | "receive-pack", body: Buffer, headers: Record<string, string> = {}) {
  return fetch(`${harness.host.cloneUrl(name)}/git-${service}`, {
    method: "POST",
    body: new Uint8Array(body),
    headers: { authorization: `Bearer ${harness.key}`, ...headers },
  }).then((answer) => answer.text());
}

/** More than 32 MiB, in a few hundred kilobytes. */
const compressed = (first: string, line: string) =>
  gzipSync(`${first}${line.repeat(Math.ceil((33 * 1024 * 1024) / line.length))}`, { level: 1 });

test.each([
  ["push", "receive-pack", "", packet(`${none} ${objectName(1)} refs/heads/topic`), {}],
  [
    "fetch",
    "upload-pack",
    `${packet("command=fetch")}0001`,
    packet(`have ${objectName(1)}`),
    { "git-protocol": "version=2" },
  ],
] as const)(
  "a compressed %s that unpacks to more than git may keep in memory is cut off",
  async (_, service, first, line, version) => {
    const headers = { "content-encoding": "gzip", ...version };
    await expect(post(service, compressed(first, line), headers)).rejects.toThrow();
    const list = await post("upload-pack", Buffer.from("0014command=ls-refs\n00010000"), {
      "git-protocol": "version=2",
    });
    expect(list).toBe("0000");
  },
);

/** A pack with one object, of which only the beginning is sent. */
const hugeObject = (type: "tree" | "blob", size: bigint): Buffer => {
  const bytes = [((type === "tree" ? 2 : 3) << 4) | Number(size & 15n)];
  for (let rest = size >> 4n; rest > 0n; rest >>= 7n) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 0x80;
    bytes.push(Number(rest & 127n));
  }
  const header = Buffer.from("PACK\0\0\0\x02\0\0\0\x01", "latin1");
  return Buffer.concat([header, Buffer.from(bytes), Buffer.from("789c030000000001", "hex")]);
};

test("a pushed object that is far larger unpacked than packed is refused before git unpacks it", async () => {
  const command = packet(`${none} ${objectName(1)} refs/heads/topic\0report-status side-band-64k`);
  const body = Buffer.concat([Buffer.from(`${command}0000`), hugeObject("tree", 3_000_000_000n)]);
  expect(await post("receive-pack", body)).toMatch(/attempting to allocate 3000000001 over limit/);
});

test.each(["refs/pull/1/head", "refs/heads/../../config", "refs/heads/a.lock", "HEAD", "config", "refs/heads/-x\ny"])(
  "a push to %j changes nothing",
  async (reference) => {
    const tree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
    const empty = Buffer.from("5041434b0000000200000000029d08823bd8a8eab510ad6ac75c823cfd3ed31e", "hex");
    const command = packet(`${none} ${tree} ${reference}\0report-status`);
    const answer = await post("receive-pack", Buffer.concat([Buffer.from(`${command}0000`), empty])).catch(() => "");
    expect(answer).not.toContain("ok refs");
    const list = await post("upload-pack", Buffer.from("0014command=ls-refs\n00010000"), {
      "git-protocol": "version=2",
    });
    expect(list).toBe("0000");
  },
);
