import { expect, test } from "vitest";
import { isStorageFull } from "../../src/foundation/storage/index.ts";

test.each([
  ["fatal: unable to write loose object file: No space left on device", true],
  ["fatal: sha1 file 'objects/pack/tmp_pack_a' write error. Out of diskspace", true],
  ["What the agent has left cannot be committed: sha1 file 'x' write error. Out of diskspace.", true],
  ["error: file write error: Disk quota exceeded", true],
  ["remote: fatal: sha1 file 'x' write error. Out of diskspace", false],
  ["fatal: bad object main", false],
])("%j is about a full disk: %j", (message, expected) => {
  expect(isStorageFull(new Error(message))).toBe(expected);
  expect(isStorageFull(new Error("git failed", { cause: new Error(message) }))).toBe(expected);
});
