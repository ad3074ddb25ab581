// The first minute with the platform, as the README promises it.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { call, cliProgram, eventually, replyWith, startModelServer, waitForExit } from "@agentcli/testkit";
import { openClient } from "@agentcli/testkit/platform";
import { expect, onTestFinished, test } from "vitest";
import { removeData } from "../../scripts/local-platform.mjs";

const script = (name: string): string => fileURLToPath(new URL(`../../scripts/${name}.mjs`, import.meta.url));

test("the demo goes from a prompt to a draft pull request with its diff, and leaves nothing behind", async () => {
  const { code, stdout, stderr } = await waitForExit(spawn(process.execPath, [script("demo")]));
  expect(stdout).toContain("FINISHED after");
  expect(stdout).toMatch(/Draft pull request http\S+\/git\/sample\/pulls\/1/);
  expect(stdout).toContain("+  const last = first + size;");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});

test("the demo of automations goes from a label to one step of the plan, a draft pull request and a comment", async () => {
  const { code, stdout, stderr } = await waitForExit(spawn(process.execPath, [script("demo"), "--automation"]));
  expect(stdout).toMatch(/agent:bc-\S+ comments:\n {2}What I did:/);
  expect(stdout).toMatch(/Draft pull request http\S+\/git\/sample\/pulls\/2/);
  expect(stdout).toContain("+- [x] fix the failing test");
  expect(stdout).toContain("+  const last = first + size;");
  expect(stdout).not.toContain("+Pages are whole");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});

test("a demo that is kept shows its platform until Ctrl-C; npm start continues it, and can reset the sample", async () => {
  const demo = start("demo", ["--keep"]);
  await demo.prints("Ctrl-C");
  expect(demo.printed()).toMatch(/Draft pull request http\S+\/git\/sample\/pulls\/1/);
  const [, data = ""] = /All data is in (\S+)\./.exec(demo.printed()) ?? [];
  onTestFinished(() => removeData(data));
  expect(await demo.interrupt()).toMatchObject({ code: 0, stdout: expect.stringContaining("Stopped, nothing lost.") });

  const again = start("start", ["--reset-sample"], { PLATFORM_DATA: data, PLATFORM_LISTEN: "127.0.0.1:0" });
  await again.prints("Ctrl-C");
  expect(again.printed()).toContain("The branch main of the sample repository is as at the first start.");
  const { url, key } = JSON.parse(readFileSync(join(data, "local.json"), "utf8"));
  expect(await openClient(url, key).getJson("/git/sample/pulls/1")).toMatchObject({ base: "main" });
  const remote = new URL("/git/sample.git", url).href.replace("://", `://${key}@`);
  execFileSync("git", ["clone", "--quiet", remote, join(data, "clone")]);
  const log = execFileSync("git", ["log", "--format=%an %s"], { cwd: join(data, "clone"), encoding: "utf8" });
  expect(log).toBe("Sample Start\n");
  expect(await again.interrupt()).toMatchObject({ code: 0 });
});

/** A script that runs until it is interrupted. */
function start(name: string, args: string[], more: Record<string, string> = {}) {
  const child = spawn(process.execPath, [script(name), ...args], { detached: true, env: { ...process.env, ...more } });
  const ended = waitForExit(child);
  let printed = "";
  child.stdout.on("data", (text) => {
    printed += text;
  });
  return {
    printed: () => printed,
    async prints(text: string) {
      await eventually(() => printed.includes(text) || child.exitCode !== null);
      expect(printed).toContain(text);
    },
    interrupt() {
      process.kill(-(child.pid ?? 0), "SIGINT");
      return ended;
    },
  };
}

test("npm start with a key names model and provider, agents use it, and Ctrl-C stops everything cleanly", async () => {
  const shell = call("exec_command", { cmd: "echo in $PWD" });
  const model = await startModelServer([shell, replyWith("From the configured model."), replyWith("Fixed.")]);
  onTestFinished(() => model.close());
  const data = mkdtempSync(join(tmpdir(), "platform-start-"));
  const settings = { PLATFORM_DATA: data, PLATFORM_LISTEN: "127.0.0.1:0", PLATFORM_OPENAI_BASE_URL: model.url };
  const env = { ...process.env, ...settings, AGENT_API_KEY: "sk-of-the-operator" };
  const child = spawn(process.execPath, [script("start")], { detached: true, env });
  const over = waitForExit(child);
  let printed = "";
  await new Promise<void>((resolve) =>
    child.stdout.on("data", (text) => {
      printed += text;
      if (printed.includes("Ctrl-C")) resolve();
    }),
  );
  expect(printed).toContain(`Model:   gpt-5.4 of openai at ${model.url}`);
  expect(printed.match(/https?:\S+\/login\S*/g)).toHaveLength(1);
  const local = JSON.parse(readFileSync(join(data, "local.json"), "utf8"));
  expect(printed).not.toContain(local.key);
  const client = openClient(/runs at (\S+)\./.exec(printed)?.[1] ?? "", local.key);
  expect(await client.waitForRun(await client.create("hello"))).toMatchObject({
    result: "From the configured model.",
    model: { id: "gpt-5.4", provider: "openai" },
    // A machine of its own, or why there can be none here.
    machine: { reason: expect.stringMatching(/^machines\.provider is auto$|^Machines cannot be made here: /) },
  });
  expect(JSON.stringify(model.requests()[1]?.body)).toContain("in /workspace/workspace");
  expect(model.requests()[0]?.headers.authorization).toBe("Bearer sk-of-the-operator");
  // The printed command, as it stands.
  const command = /^Try it: +npx agentcli (.*)$/m.exec(printed)?.[1] ?? "";
  const tried = await waitForExit(
    spawn("bash", ["-c", `"${process.execPath}" "${cliProgram}" ${command}`], {
      env: { ...env, AGENT_HOME: data, PLATFORM_BACKEND_URL: "", PLATFORM_API_KEY: "" },
    }),
  );
  expect(tried, tried.stderr).toMatchObject({ code: 0, stdout: expect.stringMatching(/^bc-/) });
  expect(tried.stderr).toContain(`Repository ${local.repository}`);
  const pid = child.pid ?? 0;
  // The terminal signals the whole process group, and npm signals its child again.
  process.kill(-pid, "SIGINT");
  process.kill(pid, "SIGINT");
  expect(await over).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining("Stopped, nothing lost") });
  const log = readFileSync(join(data, "server.log"), "utf8");
  expect(log).toContain(`"model":"gpt-5.4 of openai at ${model.url}"`);
  expect(log).toContain('"event":"server.stopped"');
  expect(existsSync(join(data, "postgres", "postmaster.pid"))).toBe(false);
  // Disks of machines have directories that even their owner may not enter.
  const asRoot = process.geteuid?.() === 0 ? [] : ["--user", "--map-root-user"];
  execFileSync("unshare", [...asRoot, "--", "rm", "-rf", data]);
});
