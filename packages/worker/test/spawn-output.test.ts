// What the program that starts workers prints, on the terminal of its controller.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Controller } from "../src/controller-types.ts";
import { spawnWorker } from "../src/spawn.ts";

function captured(stream: NodeJS.WriteStream): () => string {
  const before = stream.isTTY;
  stream.isTTY = true;
  const write = vi.spyOn(stream, "write").mockReturnValue(true);
  onTestFinished(() => {
    write.mockRestore();
    stream.isTTY = before;
  });
  return () => write.mock.calls.map(([text]) => text).join("");
}

test("what the spawn program prints is shown on a terminal instead of obeyed, from both of its outputs on standard error", async () => {
  const directory = await temporaryDirectory();
  onTestFinished(directory.remove);
  const printed = String.raw`printf '\033]0;t\007\033[31mERROR:\033[39m'`;
  const spawn = join(directory.path, "spawn");
  writeFileSync(spawn, `#!/bin/sh\n${printed}\n${printed} >&2\nexit 1\n`, { mode: 0o755 });
  const [out, err] = [captured(process.stdout), captured(process.stderr)];
  const environment = { variables: process.env, cwd: directory.path };
  const controller = { options: { spawn, url: "http://x", readKey: () => "key" }, program: { environment } };
  await spawnWorker(controller as unknown as Controller, { request: null, workerId: "w", pool: "p" });
  const shown = "\\u001b]0;t\\u0007ERROR:";
  await expect.poll(() => [out(), err()]).toEqual(["", `${shown}${shown}`]);
});

test("the spawn program finds no program that npx has put on PATH", async () => {
  const directory = await temporaryDirectory();
  onTestFinished(directory.remove);
  const at = (path: string) => join(directory.path, path);
  mkdirSync(at("node_modules/.bin"), { recursive: true });
  writeFileSync(at("node_modules/.bin/cat"), `#!/bin/sh\necho planted >> ${at("ran")}\n`, { mode: 0o755 });
  writeFileSync(at("spawn"), `#!/bin/sh\necho "$PLATFORM_AGENT_WORKER_ID" | cat >> ${at("ran")}\n`, { mode: 0o755 });
  const variables = { ...process.env, PATH: `${at("node_modules/.bin")}:${process.env.PATH}` };
  const environment = { variables, cwd: directory.path };
  const controller = {
    options: { spawn: at("spawn"), url: "http://x", readKey: () => "key" },
    program: { environment },
  };
  await spawnWorker(controller as unknown as Controller, { request: null, workerId: "w", pool: "p" });
  expect(readFileSync(at("ran"), "utf8")).toBe("w\n");
});
