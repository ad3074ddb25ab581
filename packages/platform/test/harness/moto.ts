// A server that speaks the wires of AWS and that others have written: moto, installed from PyPI into the cache of the tests.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { unusedPort } from "@agentcli/testkit";

const version = "5.2.5";
const run = promisify(execFile);

/** It may not answer at once. */
export async function startMoto(): Promise<{ endpoint: string; stop(): Promise<unknown> }> {
  const port = await unusedPort();
  const child = spawn(await install(), ["-H", "127.0.0.1", "-p", String(port)], { stdio: "ignore" });
  const exited = once(child, "exit");
  return {
    endpoint: `http://127.0.0.1:${port}`,
    stop() {
      child.kill("SIGKILL");
      return exited;
    },
  };
}

async function install(): Promise<string> {
  const environment = fileURLToPath(new URL(`../../../../node_modules/.cache/moto-${version}`, import.meta.url));
  const program = join(environment, "bin/moto_server");
  if (existsSync(program)) return program;
  await rm(environment, { recursive: true, force: true });
  await run("python3", ["-m", "venv", environment]);
  await run(join(environment, "bin/pip"), ["install", "--quiet", `moto[server]==${version}`]);
  return program;
}
