import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rpcCodes } from "@agentcli/protocol/app-server/codes";
import { temporaryDirectory, temporaryRepository } from "@agentcli/testkit";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { openFileSearch } from "../../src/app-server/file-search.ts";
import { fuzzyMatch } from "../../src/app-server/fuzzy-match.ts";
import { bench } from "./bench.ts";

const files = { "src/app-server/files.ts": "", "src/app.ts": "", "docs/files.md": "", "node_modules/files.ts": "" };

async function repository() {
  const place = await temporaryRepository({ ...files, ".gitignore": "node_modules\nout\n" });
  onTestFinished(place.remove);
  mkdirSync(join(place.path, "out"));
  writeFileSync(join(place.path, "out/files.ts"), "");
  writeFileSync(join(place.path, "new-files.ts"), "");
  return place.path;
}

describe("a file search", () => {
  test("finds what git knows or would take, the best first", async () => {
    const { call } = await bench(openFileSearch);
    const root = await repository();
    const { files: found } = await call("fuzzyFileSearch", { query: "files", roots: [root] });
    expect(found.map(({ path }) => path).sort()).toEqual(["docs/files.md", "new-files.ts", "src/app-server/files.ts"]);
    expect(found[0]).toMatchObject({ root, match_type: "file", file_name: "files.md", path: "docs/files.md" });
    const { files: folders } = await call("fuzzyFileSearch", { query: "appserv", roots: [root] });
    expect(folders[0]).toMatchObject({ path: "src/app-server", match_type: "directory", file_name: "app-server" });
    expect(await call("fuzzyFileSearch", { query: " ", roots: [root] })).toEqual({ files: [] });
    expect(await call("fuzzyFileSearch", { query: "zzz", roots: [root] })).toEqual({ files: [] });
  });

  test("walks where there is no repository, past what nobody looks for", async () => {
    const { call } = await bench(openFileSearch);
    const place = await temporaryDirectory(files);
    onTestFinished(place.remove);
    const { files: found } = await call("fuzzyFileSearch", { query: "files ts", roots: [place.path] });
    expect(found.map(({ path }) => path)).toEqual(["src/app-server/files.ts"]);
  });

  test("gives way to the next with the same token", async () => {
    const { call } = await bench(openFileSearch);
    const roots = [await repository()];
    const cancellationToken = "typing";
    const first = call("fuzzyFileSearch", { query: "f", roots, cancellationToken });
    const second = call("fuzzyFileSearch", { query: "fi", roots, cancellationToken });
    expect((await first).files).toEqual([]);
    expect((await second).files.length).toBeGreaterThan(0);
  });

  test("is refused below what is not there or no directory", async () => {
    const { call } = await bench(openFileSearch);
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

  test("prefers names, beginnings of words and letters that stand together", () => {
    const best = (query: string, ...paths: string[]) =>
      paths.sort((one, other) => (fuzzyMatch(query, other)?.score ?? 0) - (fuzzyMatch(query, one)?.score ?? 0))[0];
    expect(best("model", "model/src/a.ts", "src/model.ts")).toBe("src/model.ts");
    expect(best("ab", "xaxb.ts", "ab.ts", "axb.ts")).toBe("ab.ts");
    expect(best("fs", "offset.ts", "fileSearch.ts")).toBe("fileSearch.ts");
  });
});
