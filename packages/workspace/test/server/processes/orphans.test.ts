// Nothing outlives the host, even when it is killed with SIGKILL.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { until } from "../../support/commands.ts";
import { temporaryDirectory } from "../../support/locations.ts";
import { processesWith } from "../../support/processes-alive.ts";
import { buildProgram, serverProgram } from "../../support/server-program.ts";

test.each(["danger-full-access", "workspace-write"])("a host killed in %s leaves no process behind", async (mode) => {
  const directory = temporaryDirectory();
  const program = join(directory, "host.mjs");
  await buildProgram(join(import.meta.dirname, "orphan-host.ts"), program);
  const word = randomUUID();
  const argv = [program, mode, directory, await serverProgram(), word];
  const host = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => host.on("exit", resolve));
  let output = "";
  host.stdout.on("data", (data) => {
    output += data;
  });
  await until(() => output.includes("ready") && processesWith(word).length >= 4);
  host.kill("SIGKILL");
  await ended;
  await until(() => processesWith(word).length === 0);
  expect(processesWith(word)).toEqual([]);
  rmSync(directory, { recursive: true });
});
