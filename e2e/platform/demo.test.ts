// The first minute with the platform, as the README promises it.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { waitForExit } from "@agentcli/testkit";
import { expect, test } from "vitest";

const script = (name: string): string => fileURLToPath(new URL(`../../scripts/${name}.mjs`, import.meta.url));

test("the demo goes from a prompt to a draft pull request with its diff, and leaves nothing behind", async () => {
  const { code, stdout, stderr } = await waitForExit(spawn(process.execPath, [script("demo")]));
  expect(stdout).toContain("FINISHED after");
  expect(stdout).toMatch(/Draft pull request http\S+\/git\/sample\/pulls\/1/);
  expect(stdout).toContain("+  const last = first + size;");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});

test("Ctrl-C stops npm start and its database cleanly", async () => {
  const data = mkdtempSync(join(tmpdir(), "platform-start-"));
  const env = { ...process.env, PLATFORM_DATA: data, PLATFORM_LISTEN: "127.0.0.1:0" };
  const child = spawn(process.execPath, [script("start")], { detached: true, env });
  const over = waitForExit(child);
  await new Promise<void>((resolve) => child.stdout.on("data", (text) => `${text}`.includes("Ctrl-C") && resolve()));
  const pid = child.pid ?? 0;
  // The terminal signals the whole process group, and npm signals its child again.
  process.kill(-pid, "SIGINT");
  process.kill(pid, "SIGINT");
  expect(await over).toMatchObject({ code: 0, stderr: "" });
  expect(readFileSync(join(data, "server.log"), "utf8")).toContain('"event":"server.stopped"');
  expect(existsSync(join(data, "postgres", "postmaster.pid"))).toBe(false);
  rmSync(data, { recursive: true });
});
