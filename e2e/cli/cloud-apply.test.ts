// `agentcli apply` on a working tree: all or nothing, and nothing outside of it.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cliProgram, eventually, waitForExit } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { add, agentId, answering, everything, itemOf, tree } from "./apply-harness.ts";

const link = (path: string, target: string): string =>
  `${add(path, "120000").replace("+x\n", `+${target}\n`)}\\ No newline at end of file\n`;
const remove = (path: string): string =>
  `diff --git a/${path} b/${path}\ndeleted file mode 100644\n--- a/${path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-s\n`;
const move = (from: string, to: string, verb = "rename"): string =>
  `diff --git a/${from} b/${to}\nsimilarity index 100%\n${verb} from ${from}\n${verb} to ${to}\n`;
const copy = (from: string, to: string): string => move(from, to, "copy");
const change = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n";

test.each([
  ["a file above", add("../evil"), ""],
  ["a file above, by a detour", add("sub/../../evil"), ""],
  ["a file anywhere", add("/evil"), ""],
  ["a hook", add(".git/hooks/post-checkout", "100755"), ""],
  ["a hook where case does not count", add(".GIT/hooks/post-checkout", "100755"), ""],
  ["the configuration of a repository below", add("sub/.git/config"), ""],
  ["a removal above", remove("../secret"), ""],
  ["a move from above", move("../secret", "mine"), ""],
  ["a copy from above", copy("../secret", "mine"), ""],
  ["a copy of what git keeps", copy(".git/config", "mine"), ""],
  ["a move into what git keeps", move("f", ".git/f"), ""],
  ["a link, and a file behind it", link("l", "..") + add("l/evil"), ""],
  ["a link in place of a folder, and a file behind it", remove("sub/s") + link("sub", "..") + add("sub/evil"), ""],
  ["a file behind a link of the user's", add("l/evil"), "ln -s .. l"],
  ["a removal behind a link of the user's", remove("l/secret"), "ln -s .. l; git add l"],
  ["a copy from behind a link of the user's", copy("l/secret", "mine"), "ln -s .. l; git add l"],
])("a patch with %s is refused whole", async (_, patch, setup) => {
  const { home, apply } = await tree(`echo s > ../secret; ${setup}`);
  const before = everything(home);
  const { code, stderr } = await apply(change + patch);
  expect(stderr).toContain("nothing was changed");
  expect(code).toBe(1);
  expect(everything(home)).toEqual(before);
});

test.each([
  ["a changed line", change, "printf 'a\\nmine\\nc\\n' > f"],
  ["a staged change", change, "printf 'a\\nmine\\nc\\n' > f; git add f"],
  ["a file that is gone", change, "rm f"],
  ["a new file of the same name", add("n"), "echo mine > n"],
  ["an ignored file of the same name", add("n"), "echo mine > n; echo n > .gitignore"],
  ["a file where a folder has to be", add("notes/n"), "echo mine > notes"],
  ["a folder where a file has to be", add("notes"), "mkdir notes; echo mine > notes/n"],
  ["a file in a folder that has to go", remove("sub/s") + add("sub"), "echo mine > sub/n"],
])("%s conflicts: nothing is changed, not even the index", async (_, patch, setup) => {
  const { home, apply } = await tree(setup);
  const before = everything(home);
  const { code, stderr } = await apply(add("a-first") + add("new/folder/first") + patch);
  expect(stderr).toContain("do not apply to this working tree, so nothing was changed");
  expect(code).toBe(1);
  expect(everything(home)).toEqual(before);
});

test("changes elsewhere, or further down in the same file, do not conflict", async () => {
  const { root, sh, apply } = await tree("seq 1 20 >> f; echo mine >> sub/s; echo mine > untracked; git add untracked");
  expect(await apply(change + add("new folder/ü"), "sub")).toMatchObject({ code: 0 });
  expect(readFileSync(join(root, "f"), "utf8").startsWith("a\nB\nc\n1\n2\n")).toBe(true);
  expect(readFileSync(join(root, "new folder/ü"), "utf8")).toBe("x\n");
  expect(sh("git status --short --porcelain")).toBe(' M f\n M sub/s\nA  untracked\n?? "new folder/"\n');
});

test("every kind of git change is applied byte for byte, and a second time changes nothing", async () => {
  const { root, sh, apply, diff } = await tree(zoo);
  sh(
    `git checkout -qb work; ${keeper}; git add -A; git update-index --add --cacheinfo 160000,${"2".repeat(40)},module`,
  );
  const patch = execFileSync("git", ["-C", root, "diff", "--cached", "--binary", "--full-index", "-M", "HEAD"]);
  expect((await diff(patch)).equals(patch)).toBe(true);
  sh("git commit -qm work; git checkout -qf main 2>&1 || git checkout -qf master; git clean -fdq");
  expect(await apply(patch)).toMatchObject({ code: 0, stderr: expect.stringMatching(/^Applied: \d+ files changed/) });
  const after = everything(root);
  expect(sh("rmdir module; git add -A; git diff --cached --raw work")).toMatch(/^:160000 000000 2+ 0+ D\tmodule\n$/);
  sh("git reset -q; mkdir module");
  expect(await apply(patch)).toMatchObject({ code: 0, stderr: expect.stringContaining("Already there") });
  expect(Object.keys(everything(root)).filter((path) => !path.includes("/.git/"))).toEqual(
    Object.keys(after).filter((path) => !path.includes("/.git/")),
  );
});

const zoo = `
  head -c 3000 /dev/urandom > bin; seq 1 50 > old; seq 1 30 > 'same content'; echo bye > gone; : > empty
  printf '#!/bin/sh\\n' > run.sh; printf 'a\\r\\nb\\r\\n' > crlf; printf 'no newline' > nonl; ln -s old link
  for name in 'with space' 'ünï' 'quo"te' "$(printf 'tab\\tname')" '-dash' 'back\\slash'; do echo x > "./$name"; done
  printf 'lat\\351n\\n' > latin1; echo f > becomes-link; ln -s gone becomes-file; echo x > becomes-folder
  git add -A; git commit -qm zoo`;

const keeper = `
  head -c 5000 /dev/urandom > bin; head -c 70000 /dev/urandom > 'new bin'; mv old 'new name'; echo more >> 'new name'
  mkdir -p 'moved/deep er'; mv 'same content' 'moved/deep er/ß'; rm gone empty; : > new-empty; chmod +x run.sh
  printf 'a\\r\\nB\\r\\nc\\r\\n' > crlf; printf 'no newline, changed' > nonl; ln -sfn crlf link; ln -s 'no"where' new-link
  for name in 'with space' 'ünï' 'quo"te' "$(printf 'tab\\tname')" '-dash' 'back\\slash'; do echo y >> "./$name"; done
  printf 'lat\\351n\\nneu \\374\\n' > latin1; printf x > "$(printf 'new\\nline')"; mkdir -p a/b/c; echo deep > a/b/c/d
  ln -sf crlf becomes-link; rm becomes-file; echo now > becomes-file; rm becomes-folder; mkdir becomes-folder
  echo in > becomes-folder/file; rm -r sub; printf ' \\t\\n\\n' >> f`;

test("of several repositories only the changes of this one are applied, also where there are none", async () => {
  const { root, apply } = await tree("git remote add up git@Host.example:O/R.git");
  const mine = (patch: string) => itemOf("host.example/o/r", patch);
  const other = itemOf("host.example/x/y", add("not-mine"));
  expect(await apply([other, mine("")])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("has changed nothing in host.example/o/r"),
  });
  expect(await apply([other, other])).toMatchObject({ code: 2, stderr: expect.stringContaining("none of them") });
  expect(readdirSync(root)).toEqual([".git", "f", "sub"]);
  expect(await apply([other, mine(add("mine"))])).toMatchObject({ code: 0 });
  expect(readdirSync(root)).toEqual([".git", "f", "mine", "sub"]);
});

test("a directory that only looks like a repository is refused", async () => {
  const { home, apply } = await tree("mkdir -p inner/.git; echo 'ref: refs/heads/x' > inner/.git/HEAD; cp f inner/f");
  const before = everything(home);
  expect(await apply(change, "inner")).toMatchObject({ code: 2, stderr: expect.stringContaining("part of another") });
  expect(everything(home)).toEqual(before);
});

test("killed with its process group while writing, it still applies the whole patch", async () => {
  const { root, start } = await tree();
  const paths = Array.from({ length: 3000 }, (_, index) => `many/${String(index).padStart(4, "0")}`);
  const running = await start(paths.map((path) => add(path)).join(""));
  await eventually(() => existsSync(join(root, "many/0000")), { intervalMs: 1 });
  running.kill();
  await running.ended;
  const written = () => readdirSync(join(root, "many")).length;
  // A file is there before its content.
  await eventually(() => written() === paths.length && readFileSync(join(root, "many/2999"), "utf8") === "x\n");
});

test("a response that is not from a platform is not applied", async () => {
  const { home, root, sh } = await tree();
  const before = everything(home);
  for (const answer of [[], null, "text", { id: agentId }, {}]) {
    const url = await answering(() => answer);
    const env = { PATH: process.env.PATH ?? "", HOME: home, PLATFORM_BACKEND_URL: url, PLATFORM_API_KEY: "key" };
    const { code, stderr } = await waitForExit(
      spawn(process.execPath, [cliProgram, "apply", agentId], { cwd: root, env }),
    );
    expect([code, stderr]).toEqual([2, expect.stringContaining("did not respond like a platform server")]);
  }
  writeFileSync(join(root, "seen"), sh("git status --porcelain"));
  expect(Object.keys(everything(home)).length).toBe(Object.keys(before).length + 1);
});
