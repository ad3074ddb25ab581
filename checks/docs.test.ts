import { sampleOf } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { findBrokenCommands, pagesOf, readCommands } from "./docs.ts";
import { plantRepository } from "./planted.ts";
import { repositoryRoot } from "./tree.ts";

/** A third of the pages, others each day; README always. */
const pages = sampleOf(pagesOf(repositoryRoot), { every: 3, isNeeded: (page) => page === "README.md" });

test.each(pages)("every command of %s works", { timeout: 1_800_000 }, (page) => {
  expect(findBrokenCommands(repositoryRoot, [page])).toEqual([]);
});

const sample = { "examples/sample/a.txt": "a\n", "package.json": '{"scripts": {"build": "x"}}' };
const program = 'console.log(process.argv.slice(2).join(" ")); process.exit(process.env.AGENT_HOME ? 0 : 1);';

test("lines run in a repository made from the sample, one after the other", () => {
  using planted = plantRepository({
    ...sample,
    "packages/cli/bin/agentcli.cjs": program,
    "README.md":
      "```sh\ncat a.txt && git log --oneline\n# a comment\nagentcli exec \\\n  hello > out.txt\ntest \"$(cat out.txt)\" = 'exec hello'\nnpm run build\n```\n",
    "docs/more.md": "```sh\ntest ! -e out.txt\n```\n```console\n$ exit 1\n```\n```ts\nexit(1)\n```\n",
  });
  expect(findBrokenCommands(planted.root)).toEqual([]);
});

test("commands of a block share the directory that they change to, and the next block begins at the top", () => {
  using planted = plantRepository({
    ...sample,
    "packages/cli/bin/agentcli.cjs": program,
    "README.md":
      "```sh\nmkdir -p deep && cd deep\ntest ! -e a.txt\nnpx agentcli exec\n```\n```sh\ntest -e a.txt\n```\n",
  });
  expect(findBrokenCommands(planted.root)).toEqual([]);
});

test("a command that fails is named with its file, its line and what it printed", () => {
  using planted = plantRepository({
    ...sample,
    "README.md": "Text.\n\n```sh\ntrue\necho oh no; exit 3\nnpm run missing\nnpm frobnicate\n```\n",
  });
  expect(findBrokenCommands(planted.root)).toEqual([
    expect.stringMatching(/^README\.md:5: `echo oh no; exit 3` failed \(exit code 3\)\.\noh no/),
    expect.stringContaining("README.md:6: `npm run missing` needs the script missing"),
    expect.stringContaining("README.md:7: `npm frobnicate` is not an npm command"),
  ]);
});

test("a missing README is a problem", () => {
  using planted = plantRepository(sample);
  expect(findBrokenCommands(planted.root)).toEqual(["README.md is missing."]);
});

test("fences of other kinds and longer fences are ignored", () => {
  expect(readCommands("````md\n```sh\nno\n```\n````\n```sh\nyes\n```\n~~~\nno\n~~~")).toEqual([
    { line: 7, text: "yes", block: 1 },
  ]);
});
