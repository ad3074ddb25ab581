import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rpcCodes } from "@agentcli/protocol/app-server/codes";
import { temporaryDirectory, temporaryRepository } from "@agentcli/testkit";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { openFileSearch } from "../../src/methods/file-search.ts";
import { fuzzyMatch } from "../../src/methods/fuzzy-match.ts";
import { openHarness } from "./harness.ts";

const files = { "src/app-server/files.ts": "", "src/app.ts": "", "docs/files.md": "", "node_modules/files.ts": "" };

async function repository() {
  const temporary = await temporaryRepository({ ...files, ".gitignore": "node_modules\nout\n" });
  onTestFinished(temporary.remove);
  mkdirSync(join(temporary.path, "out"));
  writeFileSync(join(temporary.path, "out/files.ts"), "");
  writeFileSync(join(temporary.path, "new-files.ts"), "");
  return temporary.path;
}

describe("a file search", () => {
  test("finds files that git tracks or would add, best match first", async () => {
    const { call } = await openHarness(openFileSearch);
    const root = await repository();
    const { files: found } = await call("fuzzyFileSearch", { query: "files", roots: [root] });
    expect(found.map(({ path }) => path).sort()).toEqual(["docs/files.md", "new-files.ts", "src/app-server/files.ts"]);
    expect(found[0]).toMatchObject({ root, match_type: "file", file_name: "files.md", path: "docs/files.md" });
    const { files: folders } = await call("fuzzyFileSearch", { query: "appserv", roots: [root] });
    expect(folders[0]).toMatchObject({ path: "src/app-server", match_type: "directory", file_name: "app-server" });
    expect(await call("fuzzyFileSearch", { query: " ", roots: [root] })).toEqual({ files: [] });
    expect(await call("fuzzyFileSearch", { query: "zzz", roots: [root] })).toEqual({ files: [] });
  });

  test("walks where there is no repository, skipping what is never searched", async () => {
    const { call } = await openHarness(openFileSearch);
    const temporary = await temporaryDirectory(files);
    onTestFinished(temporary.remove);
    const { files: found } = await call("fuzzyFileSearch", { query: "files ts", roots: [temporary.path] });
    expect(found.map(({ path }) => path)).toEqual(["src/app-server/files.ts"]);
  });

  test("is cancelled by the next one with the same token", async () => {
    const { call } = await openHarness(openFileSearch);
    const roots = [await repository()];
    const cancellationToken = "typing";
    const first = call("fuzzyFileSearch", { query: "f", roots, cancellationToken });
    const second = call("fuzzyFileSearch", { query: "fi", roots, cancellationToken });
    expect((await first).files).toEqual([]);
    expect((await second).files.length).toBeGreaterThan(0);
  });

  test("is refused below a missing path or a file", async () => {
    const { call } = await openHarness(openFileSearch);
    const root = await repository();
    const refused = { code: rpcCodes.invalidRequest, message: expect.stringContaining(root) };
    await expect(call("fuzzyFileSearch", { query: "a", roots: [join(root, "none")] })).rejects.toMatchObject(refused);
    const file = join(root, "docs/files.md");
    await expect(call("fuzzyFileSearch", { query: "a", roots: [file] })).rejects.toThrow("not a directory");
    await expect(call("fuzzyFileSearch", { query: "a", roots: ["src"] })).rejects.toMatchObject({
      code: rpcCodes.invalidParams,
    });
  });
});

describe("a fuzzy match", () => {
  test("has the letters of the query at its indices, in order within a word", () => {
    const word = fc.string({ unit: fc.constantFrom("a", "b", "C", "/", "é"), minLength: 1, maxLength: 5 });
    const path = fc.string({ unit: fc.constantFrom("a", "b", "c", "A", "/", "-", "É"), maxLength: 20 });
    fc.assert(
      fc.property(word, path, (query, text) => {
        const match = fuzzyMatch(query, text);
        const letters = match?.indices.map((at) => text[at]?.toLowerCase()).join("");
        if (match) expect(letters).toBe(query.toLowerCase());
        const pattern = [...query].map((letter) => letter.replace(/[/]/, "\\/")).join(".*");
        expect(match !== null).toBe(new RegExp(pattern, "iu").test(text));
      }),
      { numRuns: Number(process.env.FUZZ_RUNS ?? 200) },
    );
  });

  test("prefers names, beginnings of words and adjacent letters", () => {
    const best = (query: string, ...paths: string[]) =>
      paths.sort((one, other) => (fuzzyMatch(query, other)?.score ?? 0) - (fuzzyMatch(query, one)?.score ?? 0))[0];
    expect(best("model", "model/src/a.ts", "src/model.ts")).toBe("src/model.ts");
    expect(best("ab", "xaxb.ts", "ab.ts", "axb.ts")).toBe("ab.ts");
    expect(best("fs", "offset.ts", "fileSearch.ts")).toBe("fileSearch.ts");
  });
});
