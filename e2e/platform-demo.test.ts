// The first minute with the platform, as the README promises it.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { ended } from "./harness.ts";

const script = (name: string): string => fileURLToPath(new URL(`../scripts/${name}.mjs`, import.meta.url));

test("the demo goes from a prompt to a draft pull request with its diff, and leaves nothing behind", async () => {
  const { code, stdout, stderr } = await ended(spawn(process.execPath, [script("demo")]));
  expect(stdout).toContain("FINISHED after");
  expect(stdout).toMatch(/Draft pull request http\S+\/git\/sample\/pulls\/1/);
  expect(stdout).toContain("+  const last = first + size;");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
}, 120_000);

test("Ctrl-C ends what npm start began in good order, with its database", async () => {
  const data = mkdtempSync(join(tmpdir(), "platform-start-"));
  const env = { ...process.env, PLATFORM_DATA: data, PLATFORM_LISTEN: "127.0.0.1:0" };
  const child = spawn(process.execPath, [script("start")], { detached: true, env });
  const over = ended(child);
  await new Promise<void>((resolve) => child.stdout.on("data", (text) => `${text}`.includes("Ctrl-C") && resolve()));
  const pid = child.pid ?? 0;
  // The terminal tells the whole group, and npm its child once more.
  process.kill(-pid, "SIGINT");
  process.kill(pid, "SIGINT");
  expect(await over).toMatchObject({ code: 0, stderr: "" });
  expect(readFileSync(join(data, "server.log"), "utf8")).toContain('"event":"server.stopped"');
  expect(existsSync(join(data, "postgres", "postmaster.pid"))).toBe(false);
  rmSync(data, { recursive: true });
}, 120_000);
