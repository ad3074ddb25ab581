// The first minute with the platform, as the README promises it.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { ended } from "./harness.ts";

const demo = fileURLToPath(new URL("../scripts/demo.mjs", import.meta.url));

test("the demo goes from a prompt to a draft pull request with its diff, and leaves nothing behind", async () => {
  const { code, stdout, stderr } = await ended(spawn(process.execPath, [demo]));
  expect(stdout).toContain("FINISHED after");
  expect(stdout).toMatch(/Draft pull request http\S+\/git\/sample\/pulls\/1/);
  expect(stdout).toContain("+  const last = first + size;");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
}, 120_000);
