// What every object store promises, as tests.
import { createHash, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { ObjectExists, type ObjectStore, readAll } from "../../../src/foundation/objects/index.ts";

/** Keys begin with `prefix`, so that a store can be used by several runs of the suite. */
export function objectStoreContract(open: () => ObjectStore, prefix = "contract"): void {
  const key = (name: string): string => `${prefix}/${name}`;
  const read = async (name: string): Promise<Buffer | null> => {
    const found = await open().get(key(name));
    return found && readAll(found);
  };
  const names = async (start: string): Promise<string[]> => {
    const found: string[] = [];
    for await (const entry of open().list(key(start))) found.push(entry.key.slice(prefix.length + 1));
    return found;
  };

  test("what was stored is read back, with its size and digest", async () => {
    const content = randomBytes(100_000);
    const stored = await open().put(key("plain/one"), content);
    expect(stored).toEqual({ sizeBytes: 100_000, sha256: createHash("sha256").update(content).digest("hex") });
    const found = await open().get(key("plain/one"));
    found?.stream.destroy();
    expect(found?.sizeBytes).toBe(100_000);
    expect(await read("plain/one")).toEqual(content);
  });

  test("an empty object is an object, and a missing one is null", async () => {
    await open().put(key("empty"), Buffer.alloc(0));
    expect(await read("empty")).toEqual(Buffer.alloc(0));
    expect(await read("missing/one")).toBeNull();
    expect(await read("empty/below")).toBeNull();
  });

  test("an object of unknown length, larger than one part, arrives whole", async () => {
    const piece = randomBytes(3 * 1024 * 1024 + 17);
    const hash = createHash("sha256");
    async function* pieces() {
      for (let count = 0; count < 7; count += 1) {
        hash.update(piece);
        yield piece;
      }
    }
    const stored = await open().put(key("large"), pieces());
    expect(stored).toEqual({ sizeBytes: 7 * piece.length, sha256: hash.digest("hex") });
    expect(
      createHash("sha256")
        .update((await read("large")) ?? "")
        .digest("hex"),
    ).toBe(stored.sha256);
  });

  test("a content that fails is not stored, not even in part", async () => {
    async function* broken(size: number) {
      yield randomBytes(size);
      throw new Error("the disk is gone");
    }
    await expect(open().put(key("broken/small"), broken(10))).rejects.toThrow("the disk is gone");
    await expect(open().put(key("broken/large"), broken(20 * 1024 * 1024))).rejects.toThrow("the disk is gone");
    expect(await names("broken/")).toEqual([]);
  });

  test("a second object with the same key replaces the first, unless it must be the first", async () => {
    await open().put(key("same"), Buffer.from("first"));
    await open().put(key("same"), Buffer.from("second"));
    expect(String(await read("same"))).toBe("second");
    const refused = open().put(key("same"), Buffer.from("third"), { onlyIfAbsent: true });
    await expect(refused).rejects.toThrow(ObjectExists);
    expect(String(await read("same"))).toBe("second");
    await open().put(key("only/first"), Buffer.from("one"), { onlyIfAbsent: true });
    expect(String(await read("only/first"))).toBe("one");
  });

  test("of several that must be the first, one is", async () => {
    const puts = ["a", "b", "c", "d"].map((text) =>
      open()
        .put(key("race"), Buffer.from(text), { onlyIfAbsent: true })
        .then(
          () => text,
          () => null,
        ),
    );
    const stored = (await Promise.all(puts)).filter((text) => text !== null);
    expect(stored).toHaveLength(1);
    expect(String(await read("race"))).toBe(stored[0]);
  });

  test("a list has every object that begins so, in order, and no other", async () => {
    const expected = ["a", "b/1", "b/2", "b/3/deep", "b/4", "b/5", "b/6"].map((name) => `list/${name}`);
    for (const name of expected.toReversed()) await open().put(key(name), Buffer.from(name));
    await open().put(key("listing"), Buffer.from("another"));
    expect(await names("list/")).toEqual(expected);
    expect(await names("list/b/")).toEqual(expected.slice(1));
    expect(await names("nothing/")).toEqual([]);
  });

  test("removed objects are gone, and those that never were count as removed", async () => {
    await open().put(key("removed/one"), Buffer.from("1"));
    await open().put(key("removed/two"), Buffer.from("2"));
    await open().remove([key("removed/one"), key("removed/never")]);
    expect(await names("removed/")).toEqual(["removed/two"]);
  });

  test("all objects below a directory are removed together, and others stay", async () => {
    for (const name of ["whole/a", "whole/b/c", "whole-other"]) await open().put(key(name), Buffer.from(name));
    await open().removeAll(key("whole"));
    await open().removeAll(key("whole"));
    expect(await names("whole")).toEqual(["whole-other"]);
  });

  test.each(["../outside", "a//b", "/a", "a/..", "a/./b", "ü", "", "a\0b"])("the key %j is refused", async (bad) => {
    const attempt = async () => open().put(bad, Buffer.from("x"));
    await expect(attempt()).rejects.toThrow("Invalid object key");
  });
}
