// A user's clone of the sample repository, and a platform whose agents work on it.

import { execFile, spawn } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { cliProgram, type ProcessResult, temporaryDirectory, waitForExit } from "@agentcli/testkit";
import { openPlatformForTest, type PlatformHarness } from "@agentcli/testkit/platform";
import { onTestFinished } from "vitest";

const sample = fileURLToPath(new URL("../../examples/sample", import.meta.url));
const execute = promisify(execFile);

export interface CloudHarness {
  platform: PlatformHarness;
  url: string;
  key: string;
  clone: string;
  git(...args: string[]): Promise<string>;
  /** agentcli in the clone, with the key and the URL of the platform. */
  run(args: string[], env?: Record<string, string>): Promise<ProcessResult>;
  /** Runs an agent on a prompt; returns its id. */
  agent(prompt: string, ...flags: string[]): Promise<string>;
}

/** A server that tests share, each with a team of its own. */
export interface SharedPlatform {
  platform: PlatformHarness;
  url: string;
}

let teams = 0;

/** With a platform of its own, unless one is given. */
export async function openCloudHarness(shared?: SharedPlatform): Promise<CloudHarness> {
  const platform = shared?.platform ?? (await openPlatformForTest());
  const home = await temporaryDirectory();
  onTestFinished(home.remove);
  teams += 1;
  const team = shared ? ["--team", `team-${teams}`] : [];
  const key = await platform.key(...team);
  const url = shared?.url ?? (await platform.serve()).url;
  const copy = join(home.path, "copy");
  cpSync(sample, copy, { recursive: true });
  const name = shared ? `sample-${teams}` : "sample";
  const { stdout: address } = await platform.run(["repos", "create", name, "--from", copy, ...team]);
  const clone = join(home.path, "clone");
  const { PATH = "" } = process.env;
  const environment = { PATH, HOME: home.path, AGENT_HOME: join(home.path, "agent"), GIT_TERMINAL_PROMPT: "0" };
  const git = async (...args: string[]) =>
    (await execute("git", ["-C", clone, ...args], { env: environment })).stdout.trimEnd();
  const withKey = address.trim().replace("://", `://user:${key}@`);
  await execute("git", ["clone", "--quiet", withKey, clone], { env: environment });
  const run: CloudHarness["run"] = (args, env = {}) =>
    waitForExit(
      spawn(process.execPath, [cliProgram, ...args], {
        cwd: clone,
        env: { ...environment, PLATFORM_BACKEND_URL: url, PLATFORM_API_KEY: key, ...env },
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
