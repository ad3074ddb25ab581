import { spawnSync } from "node:child_process";
import { readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { inMemory } from "../scripts/in-memory.mjs";
import { plantRepository } from "./planted.ts";
import { repositoryRoot } from "./tree.ts";

const script = pathToFileURL(join(repositoryRoot, "scripts/vitest-run.mjs")).href;

const passes = 'import { test } from "vitest"; test("passes", () => {});';
const fails = 'import { test } from "vitest"; test("fails", () => { throw new Error("no"); });';
/** Fails the first time, and passes once it has left its mark. */
const failsOnce = `import { existsSync, writeFileSync } from "node:fs";
import { test } from "vitest";
test("fails once", () => {
  if (existsSync("mark")) return;
  writeFileSync("mark", "");
  throw new Error("no");
});`;
const rejects =
  'import { test } from "vitest"; test("leaves a rejection", () => void Promise.reject(new Error("late")));';

function runPlanted(files: Record<string, string>) {
  using planted = plantRepository({ ...files, "package.json": '{"type": "module"}' });
  symlinkSync(join(repositoryRoot, "node_modules"), join(planted.root, "node_modules"));
  const code = `import { runTests } from "${script}"; console.log("RESULT " + JSON.stringify(runTests([])));`;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", code], {
    cwd: planted.root,
    encoding: "utf8",
  });
  return { stdout, result: JSON.parse(stdout.split("RESULT ")[1] ?? "null") };
}

test("a test file that passes when run alone makes the run green and is listed as unstable", () => {
  const { stdout, result } = runPlanted({ "a.test.ts": passes, "b.test.ts": failsOnce });
  expect(result).toEqual({ status: 0, unstable: ["b.test.ts"] });
  expect(stdout).toContain("unstable: b.test.ts failed, then passed alone");
});

test("a test file that fails again makes the run red, whatever became of the others", () => {
  const { result } = runPlanted({ "a.test.ts": fails, "b.test.ts": failsOnce });
  expect(result).toEqual({ status: 1, unstable: ["b.test.ts"] });
});

test("an error outside every test is not excused by running a file again", () => {
  const { result } = runPlanted({ "a.test.ts": rejects });
  expect(result).toEqual({ status: 1, unstable: [] });
});

test("a green run has nothing unstable", () => {
  expect(runPlanted({ "a.test.ts": passes }).result).toEqual({ status: 0, unstable: [] });
});

test("what a run keeps in memory is gone when it ends, and what killed runs left as well", () => {
  using memory = plantRepository({
    "platform-tests-999999999-a/left.txt": "of a killed run",
    [`platform-tests-${process.pid}-b/used.txt`]: "of a run that goes on",
    "platform-tests-notes/kept.txt": "of another program",
  });
  const seen = inMemory((directory) => {
    writeFileSync(join(directory ?? "", "row"), "1");
    return readdirSync(memory.root);
  }, memory.root);
  const kept = [`platform-tests-${process.pid}-b`, "platform-tests-notes"];
  expect(seen).toEqual(expect.arrayContaining(kept));
  expect(seen).toHaveLength(kept.length + 1);
  expect(readdirSync(memory.root).sort()).toEqual(kept);
});

test("without a directory in memory the tests use the disk", () => {
  expect(inMemory((directory) => directory, "/dev/no-such-directory")).toBeNull();
});
