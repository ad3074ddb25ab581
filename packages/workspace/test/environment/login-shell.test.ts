// What a login shell adds to the environment of commands.
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openWorkspace } from "../../src/sandbox/launch.ts";
import { sandboxPolicy } from "../../src/sandbox/policy.ts";
import { bash } from "../support/commands.ts";
import { serverProgram } from "../support/server-program.ts";

let home = "";
beforeEach(() => {
  home = mkdtempSync("/var/tmp/login-shell-");
  const profile = "PATH=/profile/bin:/usr/bin\nexport PATH FINE=yes MY_TOKEN=secret DATABASE=postgres://a:b@host/d\n";
  writeFileSync(join(home, ".profile"), profile);
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

async function runAtLogin(script: string, options: { allowLoginShell?: boolean } = {}): Promise<string> {
  const workspace = await openWorkspace(sandboxPolicy({ mode: "read-only", root: home }), {
    serverProgram: await serverProgram(),
    env: { HOME: home, PATH: "/caller/bin:/usr/bin:/bin" },
    incarnation: randomUUID(),
    backEnd: { kind: "bubblewrap", program: "/usr/bin/bwrap", processes: "own" },
    warmLoginShell: "/bin/bash",
    ...options,
  });
  try {
    return (await bash(workspace, script, { loginShell: "/bin/bash" })).stdout;
  } finally {
    await workspace.close();
  }
}

test("PATH is the caller's first, then what the login shell adds; secrets that it adds are left out", async () => {
  const output = await runAtLogin('echo "$PATH"; echo "$FINE $MY_TOKEN $DATABASE"');
  expect(output).toBe("/caller/bin:/usr/bin:/bin:/profile/bin\nyes  \n");
});

test("without login shells a command gets none of it, also if it asks for one", async () => {
  const output = await runAtLogin('echo "$PATH"; echo "$FINE"', { allowLoginShell: false });
  expect(output).toBe("/caller/bin:/usr/bin:/bin\n\n");
});
