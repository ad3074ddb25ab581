// What ignore files name is hidden from commands by the kernel, stays as it is, and is not lost from commits.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { withIgnored } from "../../src/sandbox/ignore-files.ts";
import { type PolicyOptions, sandboxPolicy } from "../../src/sandbox/policy.ts";
import { bash } from "../support/commands.ts";
import { openInSandbox, openUnderLandlock, sandboxes } from "../support/locations.ts";

let base = "";
const at = (name: string) => join(base, "work", name);
const canary = "canary-4711";

function write(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), text);
  }
}

beforeEach(() => {
  base = realpathSync(mkdtempSync("/var/tmp/ignore-files-"));
  mkdirSync(join(base, "work"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

async function run(open: typeof openInSandbox, command: string, more: Partial<PolicyOptions> = {}): Promise<string> {
  const workspace = await open({ mode: "read-only", root: join(base, "work"), ...more });
  try {
    return (await bash(workspace, command)).all;
  } finally {
    await workspace.close();
  }
}

const project = {
  ".agentignore": "*.pem\n!public.pem\n/secrets/\n",
  "api/.platformignore": "local.json\n",
  "key.pem": canary,
  "public.pem": "for everyone",
  "api/deep/key.pem": canary,
  "api/local.json": canary,
  "secrets/db/password": canary,
  "docs/secrets/list.md": "not a secret",
};
const readAll =
  "cat $(find . -type f) public.pem docs/secrets/list.md 2>&1; ls secrets; cat secrets/db/password; cp key.pem /tmp/copy && cat /tmp/copy";

describe.each(sandboxes)("with %s", (_, open) => {
  test("commands read nothing that ignore files name, and everything else", async () => {
    write(project);
    const shown = await run(open, readAll);
    expect(shown).not.toContain(canary);
    expect(shown).toContain("for everyone");
    expect(shown).toContain("not a secret");
  });

  test("a link does not lead to what is ignored, and what an ignored link leads to is hidden", async () => {
    write({ ".agentignore": "*.pem\nlinked\n", "key.pem": canary, "elsewhere/value": canary });
    symlinkSync("key.pem", at("harmless.txt"));
    symlinkSync("elsewhere/value", at("linked"));
    expect(await run(open, "cat harmless.txt linked elsewhere/value")).not.toContain(canary);
  });

  test("an ignore file that is a link, or matches too much, opens no sandbox and says what to do", async () => {
    write({ "real-ignore": "*.pem\n" });
    symlinkSync("real-ignore", at(".agentignore"));
    await expect(run(open, "true")).rejects.toThrow(/\.agentignore cannot be read: it must be a regular file/);
    rmSync(at(".agentignore"));
    write({ ".agentignore": "*.txt\n" });
    for (let index = 0; index < 1001; index += 1) writeFileSync(at(`${index}.txt`), "");
    await expect(run(open, "true")).rejects.toThrow(/match more than 1000 files and directories/);
  });
});

test("a start below the top of the repository hides what the top names", async () => {
  write({ ...project, "api/code.txt": "code" });
  mkdirSync(at(".git"));
  execFileSync("git", ["init", "-q"], { cwd: join(base, "work") });
  const shown = await run(openInSandbox, "cat code.txt local.json deep/key.pem ../key.pem", { root: at("api") });
  expect(shown).toContain("code");
  expect(shown).not.toContain(canary);
});

test("commands that write can neither read what is ignored nor change the ignore files", async () => {
  write(project);
  const attempts =
    "rm -f .agentignore; echo > .agentignore; mv api moved; mv key.pem other; rm -rf secrets; ln key.pem hard; cat hard";
  const shown = await run(openInSandbox, `${attempts}; ${readAll}`, { mode: "workspace-write" });
  expect(shown).not.toContain(canary);
  expect(readFileSync(at(".agentignore"), "utf8")).toBe(project[".agentignore"]);
  expect(readFileSync(at("key.pem"), "utf8")).toBe(canary);
  expect(await run(openInSandbox, readAll)).not.toContain(canary);
});

test.each(["machine", "system"] as const)(
  "what is ignored is not moved to where the next run would read it, with the view of a %s",
  async (view) => {
    write({ ".agentignore": "/a/b/key.pem\n/a/secrets/\n", "a/b/key.pem": canary, "a/secrets/list": canary });
    await run(
      openInSandbox,
      "mv a moved; mv a/b moved; mv a/secrets moved; mv a/b/key.pem moved; echo new > a/b/new.txt",
      {
        mode: "workspace-write",
        view,
      },
    );
    const shown = await run(openInSandbox, "cat $(find . -type f)", { view });
    expect(shown).not.toContain(canary);
    expect(shown).toContain("new");
  },
);

test("Landlock cannot hide files in a directory that commands write, and says so", async () => {
  write(project);
  const opening = run(openUnderLandlock, "true", { mode: "workspace-write" });
  await expect(opening).rejects.toThrow(/Landlock cannot hide .* inside the writable directory/);
});

test("where commands see only the system and their workspace, ignored paths are hidden too", async () => {
  write(project);
  const shown = await run(openInSandbox, readAll, { mode: "workspace-write", view: "system" });
  expect(shown).not.toContain(canary);
  expect(shown).toContain("for everyone");
});

test.each(["read-only", "workspace-write"] as const)(
  "of several repositories in %s each has its own ignore files, and those of the agent's home hide nothing",
  async (mode) => {
    write({
      "one/.agentignore": "*.pem\n",
      "one/key.pem": canary,
      "two/.platformignore": "/local.json\n",
      "two/local.json": canary,
      "two/public.pem": "for everyone",
      ".home/.agentignore": "*\n",
      ".home/notes": "not a secret",
    });
    const repositories = [at("one"), at("two")];
    const writableRoots = mode === "workspace-write" ? [...repositories, at(".home")] : [];
    const shown = await run(openInSandbox, "cat one/* two/* .home/notes", {
      mode,
      view: "system",
      writableRoots,
      ignoreTops: repositories,
    });
    expect(shown).not.toContain(canary);
    expect(shown).toContain("for everyone");
    expect(shown).toContain("not a secret");
  },
);

test("a writable directory below the working directory has ignore files of its own", async () => {
  write({ "one/.agentignore": "*.pem\n", "one/key.pem": canary });
  const shown = await run(openInSandbox, "cat one/*", { mode: "workspace-write", writableRoots: [at("one")] });
  expect(shown).not.toContain(canary);
});

test("a pattern of thousands of characters opens no sandbox, and its line is named", async () => {
  write({ ".agentignore": `*.pem\n${"**/".repeat(1_000)}x\n` });
  await expect(run(openInSandbox, "true")).rejects.toThrow(/Line 2 of .*\.agentignore is longer than 1024 characters/);
});

test("other work goes on while thousands of patterns are matched with one path", async () => {
  const name = "a".repeat(200);
  write({ ".agentignore": `${"*a".repeat(50)}b\n`.repeat(3_000), [name]: "" });
  let turns = 0;
  const count = () => {
    turns += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  const found = await withIgnored(sandboxPolicy({ mode: "read-only", root: join(base, "work") }));
  clearImmediate(next);
  expect(found.hidden).toEqual([]);
  expect(turns).toBeGreaterThan(10);
});

test("a commit of everything keeps tracked files that are hidden, and adds none that are not tracked", async () => {
  write({ ...project, "space [x] .pem": canary });
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@example.com", ...args], {
      cwd: join(base, "work"),
      encoding: "utf8",
    });
  git("init", "-q");
  git("add", "key.pem", "secrets", ".agentignore", "public.pem");
  git("commit", "-qm", "first");
  const commit =
    "git status --porcelain; echo new > new.txt; git add -A && git -c user.name=A -c user.email=a@example.com commit -qm second";
  const shown = await run(openInSandbox, commit, { mode: "workspace-write" });
  expect(shown).not.toContain("key.pem");
  expect(git("show", "--name-only", "--format=%s", "HEAD").split("\n").filter(Boolean).sort()).toEqual(
    ["api/.platformignore", "docs/secrets/list.md", "new.txt", "second"].sort(),
  );
  expect(git("show", "HEAD:key.pem")).toBe(canary);
  expect(git("status", "--porcelain").split("\n").filter(Boolean).sort()).toEqual(
    ['?? "space [x] .pem"', "?? api/deep/", "?? api/local.json"].sort(),
  );
});
