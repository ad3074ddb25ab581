// What a server loads at its start: code that waits for a request or a run is left in its own chunks.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const chunks = join(root, "packages/platform/dist/chunks");
const schemas = join(root, "packages/protocol/src/api");

/** The texts of the chunks that the server imports before it listens, and of those that they import. */
function loadedAtStart(): string[] {
  const [start, ...others] = readdirSync(chunks).filter((name) => /^serve-.*\.mjs$/.test(name));
  expect(start).toBeDefined();
  expect(others).toEqual([]);
  const texts = new Map<string, string>();
  const follow = (path: string) => {
    if (texts.has(path)) return;
    const text = readFileSync(path, "utf8");
    texts.set(path, text);
    for (const [, name = ""] of text.matchAll(/\b(?:from|import) ?"(\.[^"]+)"/g)) follow(join(dirname(path), name));
  };
  follow(join(chunks, start ?? ""));
  return [...texts.values()];
}

/** Of each module of schemas, a sentence that describes one of its members. */
const descriptions = readdirSync(schemas)
  .map((name) => ({
    name,
    sentence: /\.describe\("([\x20\x23-\x7e]{12,})"\)/.exec(readFileSync(join(schemas, name), "utf8"))?.[1],
  }))
  // The body of every refusal.
  .filter(({ name, sentence }) => sentence !== undefined && name !== "problem.ts");

test("a server starts without the schemas of its API, which wait for the first request", () => {
  const loaded = loadedAtStart();
  expect(loaded.length).toBeGreaterThan(10);
  expect(descriptions.length).toBeGreaterThan(15);
  const present = descriptions.filter(({ sentence = "" }) => loaded.some((text) => text.includes(sentence)));
  expect(present).toEqual([]);
});
