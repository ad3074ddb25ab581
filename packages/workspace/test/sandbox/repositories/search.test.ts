// What a search for repositories finds.
import { lstatSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Listings, searchRepositories } from "../../../src/sandbox/repositories/search.ts";
import { eachTestHasARoot, init, root } from "./watched-root.ts";

eachTestHasARoot();

describe("a search", () => {
  test("finds repositories at any depth, not through links, and not in a .git", async () => {
    init("a", "a/b/c", "node_modules/x");
    mkdirSync(join(root, "a/.git/modules/y/.git"), { recursive: true });
    symlinkSync(join(root, "a"), join(root, "link"));
    const { repositories, isComplete } = await searchRepositories([root], { maxEntries: 1_000 });
    expect(repositories.map(({ directory }) => directory)).toEqual(
      ["a", "a/b/c", "node_modules/x"].map((name) => join(root, name)),
    );
    expect(isComplete).toBe(true);
  });

  test("that reaches its limit says so, and has seen the top first, crowded directories last", async () => {
    for (let index = 0; index < 30; index += 1)
      mkdirSync(join(root, `node_modules/p${index}/lib`), { recursive: true });
    init("node_modules/p29/lib", "src/deep/er");
    expect(await searchRepositories([root], { maxEntries: 100 })).toMatchObject({
      repositories: [{ directory: join(root, "src/deep/er"), entry: ".git" }],
      isComplete: false,
    });
  });

  test("lists a directory again only if it changed", async () => {
    init("a");
    mkdirSync(join(root, "b/c"), { recursive: true });
    const listings: Listings = new Map();
    const search = async () =>
      (await searchRepositories([root], { maxEntries: 1_000, listings })).repositories.map(
        ({ directory }) => directory,
      );
    expect(await search()).toEqual([join(root, "a")]);
    // Everything here is new; what is known is believed only if it is as old as it was when it was listed.
    expect(listings.size).toBe(0);
    const known = (path: string, state: string) =>
      listings.set(path, {
        content: { hasGit: true, isBare: false, hasSettings: false, subdirectories: [], count: 0 },
        state,
      });
    const { dev, ino, ctimeMs, mode } = lstatSync(join(root, "b"));
    known(join(root, "b"), [dev, ino, ctimeMs, mode].join(" "));
    known(join(root, "b/c"), "of another time");
    expect(await search()).toEqual([join(root, "a"), join(root, "b")]);
    writeFileSync(join(root, "b/new"), "");
    expect(await search()).toEqual([join(root, "a")]);
  });

  test("finds a repository in a directory whose name is not text", async () => {
    const name = Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff, 0xfe])]);
    mkdirSync(name);
    mkdirSync(Buffer.concat([name, Buffer.from("/.git")]));
    expect((await searchRepositories([root], { maxEntries: 1_000 })).repositories).toEqual([
      { directory: name, entry: ".git" },
    ]);
  });
});
