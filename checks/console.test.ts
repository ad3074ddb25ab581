import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findWrongCommands, readConsole } from "./console.ts";
import { pagesOf } from "./docs.ts";
import { plantRepository } from "./planted.ts";
import { repositoryRoot } from "./tree.ts";

test("every command that the documentation shows is one that there is, with flags that there are", {
  timeout: 300_000,
}, () => {
  expect(findWrongCommands()).toEqual([]);
});

/** Of README and guides: the test that runs every command of the page. */
const executedBy: Record<string, string> = {
  "README.md": "e2e/cli/documented-models.test.ts",
  "docs/ci.md": "e2e/cli/ci-script.test.ts",
  "docs/guide-models.md": "e2e/cli/documented-models.test.ts",
  "docs/guide-vm.md": "e2e/packages/long/guide-vm.test.ts",
};

test("every guide with such commands has a test that runs them", () => {
  const read = (path: string) => readFileSync(join(repositoryRoot, path), "utf8");
  const guides = pagesOf(repositoryRoot).filter((page) => /README\.md$|\/(?:guide-.*|ci)\.md$/.test(page));
  expect(guides.filter((page) => readConsole(read(page)).length > 0)).toEqual(Object.keys(executedBy));
  for (const [page, file] of Object.entries(executedBy)) expect(read(file), page).toContain(`"${page}"`);
});

test("commands, flags and programs that are not there are named with file and line, and so are other lines", () => {
  using planted = plantRepository({
    "README.md": [
      "```console",
      "agentcli exce hello",
      "agentcli exec --jsn hello",
      "agentcli exec hello | frobnicate",
      "agentcli exec 'hello' )",
      "platform keys",
      "agent worker start --pol fast",
      "A word of output",
      "```",
      "",
    ].join("\n"),
  });
  expect(findWrongCommands(planted.root)).toEqual([
    expect.stringMatching(/^README\.md:2: `agentcli exce hello`: There is no command "exce"/),
    expect.stringMatching(/^README\.md:3: .*Unknown flag --jsn/),
    expect.stringMatching(/^README\.md:4: .*frobnicate: command not found/),
    expect.stringMatching(/^README\.md:5: .*syntax error/),
    expect.stringMatching(/^README\.md:6: .*incomplete/),
    expect.stringMatching(/^README\.md:7: .*Unknown flag --pol/),
    expect.stringMatching(/^README\.md:8: .*A: command not found/),
  ]);
});

test("pipes, variables before a program, quotes over lines and comments are read as the shell reads them", () => {
  using planted = plantRepository({
    "README.md":
      '```console\nKEY=… agentcli exec "a\nb" | agentcli exec - # why\nagentcli exec \\\n  --json hello > out.txt\n```\n',
    "packages/cli/README.md": "```console\nagentcli exec --jsn\n```\n",
  });
  expect(findWrongCommands(planted.root)).toEqual([expect.stringMatching(/^packages\/cli\/README\.md:2: /)]);
});

test("where a block has prompts, other lines are output", () => {
  expect(
    readConsole("```console\n$ one \\\n  more\noutput\n$ two\n```\n\n   ```console\n   # three\n   ```\n"),
  ).toEqual([
    { line: 2, text: "one \\\n  more" },
    { line: 5, text: "two" },
    { line: 9, text: "three" },
  ]);
});
