// Flags of the worker, as its operator gives them.
import { parseCommandLine } from "@agentcli/command-line";
import { temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { controllerCommand, debugCommand, startCommand, workerFlags } from "../src/commands.ts";
import { readWorkerOptions } from "../src/options.ts";

const syntax = { program: "agent", commands: [startCommand, debugCommand, controllerCommand], flags: workerFlags };

async function optionsOf(...args: string[]) {
  const folder = await temporaryDirectory();
  onTestFinished(folder.remove);
  const line = parseCommandLine(["worker", "start", ...args], syntax);
  if (line.kind !== "command") throw new Error(`a command was expected, not ${line.kind}`);
  const variables = { PLATFORM_BACKEND_URL: "https://platform.example.com", PLATFORM_API_KEY: "plt_key" };
  return readWorkerOptions(line.invocation, {
    variables: { ...variables, XDG_DATA_HOME: folder.path },
    cwd: folder.path,
    userHome: folder.path,
  });
}

test.each([
  { args: ["--pool"], pool: "default" },
  { args: ["--pool", "--name", "laptop"], pool: "default" },
  { args: ["--pool", "fast"], pool: "fast" },
  { args: ["--pool-name=fast"], pool: "fast" },
  { args: [], pool: undefined },
])("$args serves the pool $pool", async ({ args, pool }) => {
  expect((await optionsOf(...args)).pool).toBe(pool);
});

test.each([
  { args: ["--pool", "a", "--pool-name", "b"], message: "A worker serves one pool." },
  { args: ["--pool="], message: "--pool has an empty value." },
  { args: ["--pool-name", ""], message: "--pool-name has an empty value." },
  { args: ["--share-desktop", "wave"], message: "--share-desktop wave: choose one of view, view_and_control." },
  { args: ["--computer-use"], message: "--computer-use cannot be used" },
  { args: ["--display", ":1"], message: "--display cannot be used" },
  { args: ["--share-desktop"], message: "--share-desktop cannot be used" },
])("$args is refused: $message", async ({ args, message }) => {
  await expect(optionsOf(...args)).rejects.toThrow(message);
});

test("--clone-git-repos asks for the token of the repository, and not for secrets", async () => {
  const { receives } = await optionsOf("--pool", "fast", "--clone-git-repos");
  expect(receives).toEqual({ secrets: false, githubToken: true, clones: true });
  expect((await optionsOf("--pool", "fast")).receives).toEqual({ secrets: false, githubToken: false, clones: false });
});

test("--clone-git-repos without a pool is refused, and the message says what to add", async () => {
  await expect(optionsOf("--clone-git-repos")).rejects.toThrow(
    "--clone-git-repos is for workers of a pool. Add --pool",
  );
});
