// A user's clone of the sample repository, and a platform whose agents work on it.
import { execFile, spawn } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { temporaryDirectory } from "@agentcli/testkit";
import { onTestFinished } from "vitest";
import { type Ended, ended, program } from "./harness.ts";
import { type PlatformDesk, platformDesk } from "./platform-harness.ts";

const sample = fileURLToPath(new URL("../examples/sample", import.meta.url));
const execute = promisify(execFile);

export interface CloudDesk {
  platform: PlatformDesk;
  url: string;
  key: string;
  clone: string;
  git(...args: string[]): Promise<string>;
  /** agentcli in the clone, with the key and the address of the platform. */
  run(args: string[], env?: Record<string, string>): Promise<Ended>;
  /** The id of an agent that has worked on a prompt. */
  agent(prompt: string, ...flags: string[]): Promise<string>;
}

export async function cloudDesk(): Promise<CloudDesk> {
  const platform = await platformDesk();
  const home = await temporaryDirectory();
  onTestFinished(home.remove);
  const key = await platform.key();
  const { url } = await platform.serve();
  const copy = join(home.path, "copy");
  cpSync(sample, copy, { recursive: true });
  const { stdout: address } = await platform.run(["repos", "create", "sample", "--from", copy]);
  const clone = join(home.path, "clone");
  const { PATH = "" } = process.env;
  const surroundings = { PATH, HOME: home.path, AGENT_HOME: join(home.path, "agent"), GIT_TERMINAL_PROMPT: "0" };
  const git = async (...args: string[]) =>
    (await execute("git", ["-C", clone, ...args], { env: surroundings })).stdout.trimEnd();
  const withKey = address.trim().replace("://", `://user:${key}@`);
  await execute("git", ["clone", "--quiet", withKey, clone], { env: surroundings });
  const run: CloudDesk["run"] = (args, env = {}) =>
    ended(
      spawn(process.execPath, [program, ...args], {
        cwd: clone,
        env: { ...surroundings, PLATFORM_BACKEND_URL: url, PLATFORM_API_KEY: key, ...env },
        stdio: ["ignore", "pipe", "pipe"],
      }),
    );
  return {
    platform,
    url,
    key,
    clone,
    git,
    run,
    async agent(prompt, ...flags) {
      const { code, stdout, stderr } = await run(["cloud", "exec", "--follow", ...flags, prompt]);
      if (code !== 0) throw new Error(`the agent failed: ${stderr}`);
      return stdout.trim();
    },
  };
}
