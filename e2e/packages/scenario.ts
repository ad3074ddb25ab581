// What a user does with installed packages, on one version of Node: every program and both libraries work.
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "vitest";

const run = promisify(execFile);

export async function useInstalled(folder: string, node: string): Promise<void> {
  const home = join(folder, "home");
  mkdirSync(join(home, "agent"), { recursive: true });
  const env = { PATH: process.env.PATH, HOME: home, AGENT_HOME: join(home, "agent"), SHELL: "/bin/bash" };
  const execute = async (...args: string[]) => (await run(node, args, { cwd: folder, env })).stdout;
  const program = (path: string) => join(folder, "node_modules", path);

  const agentcli = program("agentcli/bin/agentcli.cjs");
  expect(await execute(agentcli, "--version")).toMatch(/\d+\.\d+\.\d+/);
  const flags = ["--skip-git-repo-check", "--model", "practice", "--sandbox", "workspace-write"];
  const prompt = "create hello.txt containing Hello, then run cat hello.txt";
  expect(await execute(agentcli, "exec", ...flags, prompt)).toContain("2 steps done");
  expect(await execute(program("@agentcli/worker/bin/agent.cjs"), "--help")).toContain("Usage");

  writeFileSync(join(folder, "scenario.mjs"), scenario);
  expect(JSON.parse(await execute("scenario.mjs"))).toEqual({ sdk: "1 step done", platformSdk: "function" });

  const platform = program("@agentcli/platform/bin/platform.mjs");
  const key = await execute(platform, "keys", "create", "--name", "laptop", "--data", join(folder, "data"));
  expect(key).toMatch(/^plt_\w+/m);
}

const scenario = `import { Client } from "@agentcli/sdk";
import { Agent } from "@agentcli/platform-sdk";
const thread = new Client().startThread({ skipGitRepoCheck: true, model: "practice" });
const { finalResponse } = await thread.run("run true");
console.log(JSON.stringify({ sdk: /\\d+ steps? done/.exec(finalResponse)[0], platformSdk: typeof Agent.create }));
`;
