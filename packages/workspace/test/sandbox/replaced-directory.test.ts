// A directory that another process replaces by a link between the plan of a sandbox and its mounts.
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openSandbox } from "../../src/sandbox/launch.ts";
import { sandboxPolicy } from "../../src/sandbox/policy.ts";
import { bash } from "../support/commands.ts";
import { serverProgram } from "../support/server-program.ts";

let base = "";
beforeEach(() => {
  base = realpathSync(mkdtempSync("/var/tmp/replaced-"));
  for (const name of ["work/pkg/lib", "elsewhere/lib"]) {
    mkdirSync(join(base, name), { recursive: true });
    execFileSync("git", ["init", "--quiet", join(base, name)]);
  }
  execFileSync("git", ["init", "--quiet", join(base, "work")]);
  symlinkSync(join(base, "elsewhere"), join(base, "work/link"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** A bubblewrap before which something else happens, as if it came first in a race. */
function bubblewrapAfter(command: string): string {
  const program = join(base, "bwrap");
  writeFileSync(program, `#!/bin/sh\ncd ${base}/work && ${command}\nexec /usr/bin/bwrap "$@"\n`, { mode: 0o755 });
  return program;
}

const open = async (command: string) =>
  openSandbox(sandboxPolicy({ mode: "workspace-write", root: join(base, "work") }), {
    serverProgram: await serverProgram(),
    env: { PATH: process.env.PATH ?? "", HOME: base },
    incarnation: randomUUID(),
    backEnd: { kind: "bubblewrap", program: bubblewrapAfter(command), processes: "own" },
  });

test.each([
  ["above a nested repository", "mv pkg kept && ln -s ../elsewhere pkg"],
  ["above the .git of a nested repository", "mv pkg/lib pkg/kept && ln -s ../../elsewhere/lib pkg/lib"],
  ["that is the .git of a nested repository", "mv pkg/lib/.git kept && ln -s ../../../elsewhere/lib/.git pkg/lib/.git"],
])("a directory %s that becomes a link while the sandbox starts closes the sandbox", async (_, command) => {
  await expect(
    (async () => {
      const workspace = await open(command);
      try {
        await bash(workspace, "echo changed > pkg/written; echo changed > pkg/lib/written");
      } finally {
        await workspace.close();
      }
    })(),
  ).rejects.toThrow("was replaced while the sandbox started");
  expect([existsSync(join(base, "elsewhere/written")), existsSync(join(base, "elsewhere/lib/written"))]).toEqual([
    false,
    false,
  ]);
});

test("a sandbox whose directories stay as they are starts", async () => {
  const workspace = await open("true");
  try {
    expect((await bash(workspace, "echo x > pkg/written && cat pkg/written")).all).toBe("x\n");
  } finally {
    await workspace.close();
  }
});
