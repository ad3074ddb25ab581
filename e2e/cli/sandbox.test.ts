// The sandbox from a user's view: fallbacks, secrets, leftover processes, and what works inside.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, eventually, jsonLines, replyWith, waitForExit } from "@agentcli/testkit";
import { type Event, itemsOf, openHarness, sessionFiles, toolOutputs } from "@agentcli/testkit/cli";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type OrdinaryUser, ordinaryUser } from "./ordinary-user.ts";
import { forbidden, pathWithoutNamespaces } from "./without-namespaces.ts";

const sandboxOf = (events: Event[]) => events[0]?.sandbox as Record<string, unknown> | undefined;
const writeOutside = call("exec_command", {
  cmd: "echo x > /var/tmp/agentcli-e2e-outside || echo refused; echo y > y",
});

describe("with user namespaces forbidden", () => {
  test("read-only falls back to Landlock with a warning, and is enforced", async () => {
    const { events: run, repository, requests } = await openHarness({ replies: [writeOutside, replyWith("Done.")] });
    const { code, events, stderr } = await run(["write"], { env: { PATH: pathWithoutNamespaces() } });
    expect(code).toBe(0);
    expect(sandboxOf(events)).toMatchObject({ mode: "read-only", backend: "landlock", net: "off", pid: false });
    expect(sandboxOf(events)?.admits).toContain("names, sizes and dates of hidden files can be seen");
    expect(stderr).toContain(`Only Landlock works here. bubblewrap does not work here: ${forbidden}`);
    expect(toolOutputs(requests().at(-1))[0]).toContain("refused");
    expect(readdirSync(repository)).not.toContain("y");
  });

  test("workspace-write is refused with exit code 8 and the flag that accepts Landlock, before any model request", async () => {
    const { run, requests } = await openHarness({ replies: [writeOutside, replyWith("Done.")] });
    const { code, stderr } = await run(["exec", "-s", "workspace-write", "write"], {
      env: { PATH: pathWithoutNamespaces() },
    });
    expect(code).toBe(8);
    expect(stderr).toContain("--sandbox-min landlock");
    expect(requests()).toEqual([]);
  });

  test("workspace-write runs on Landlock where that was accepted, and reports what it cannot protect", async () => {
    const { events: run, repository, requests } = await openHarness({ replies: [writeOutside, replyWith("Done.")] });
    const flags = ["-s", "workspace-write", "--sandbox-min", "landlock"];
    const { code, events } = await run([...flags, "write"], { env: { PATH: pathWithoutNamespaces() } });
    expect(code).toBe(0);
    expect(sandboxOf(events)).toMatchObject({ backend: "landlock", fs: "workspace-write" });
    expect(sandboxOf(events)?.admits).toContainEqual(expect.stringContaining(".git"));
    expect(toolOutputs(requests().at(-1))[0]).toContain("refused");
    expect(readdirSync(repository)).toContain("y");
  });

  test("a run that requires bubblewrap is refused", async () => {
    const { run } = await openHarness();
    const env = { PATH: pathWithoutNamespaces() };
    expect((await run(["exec", "--sandbox-min", "bubblewrap", "hi"], { env })).code).toBe(8);
  });

  test("resuming a run there is refused as well, and its records stay", async () => {
    const { run, records } = await openHarness({ replies: [replyWith("Hello.")] });
    await run(["exec", "-s", "workspace-write", "hello"]);
    const before = records().length;
    const resumed = await run(["exec", "resume", "--last", "go on"], { env: { PATH: pathWithoutNamespaces() } });
    expect(resumed.code).toBe(8);
    expect(records()).toHaveLength(before);
  });
});

describe("an ordinary user", () => {
  let user: OrdinaryUser;
  beforeAll(() => {
    user = ordinaryUser();
  });
  afterAll(() => user.remove());

  /** Like `run` of the harness, but as the user and optionally inside another program. */
  async function runThere(args: string[], inside: string[]) {
    const harness = await openHarness({ replies: [writeOutside, replyWith("Done.")] });
    for (const directory of [harness.repository, harness.home]) user.own(directory);
    const env = {
      PATH: process.env.PATH ?? "",
      HOME: harness.home,
      AGENT_HOME: join(harness.home),
      SHELL: "/bin/bash",
    };
    const ended = await user.run(["exec", "--json", ...args, "write"], { cwd: harness.repository, env, inside });
    return { ...ended, ...harness, events: jsonLines(ended.stdout) as Event[] };
  }
  const outer = ["bwrap", "--unshare-user", "--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc"];

  test("runs in bubblewrap", async () => {
    const { code, events, requests, stderr } = await runThere(["-s", "workspace-write"], []);
    expect(stderr).not.toContain("ERROR");
    expect(code).toBe(0);
    expect(sandboxOf(events)).toMatchObject({ backend: "bubblewrap", pid: true, syscalls: true });
    expect(toolOutputs(requests().at(-1))[0]).toContain("refused");
  });

  test("runs under Landlock, or is refused, where the kernel forbids user namespaces", async () => {
    const inside = [...outer, "--disable-userns", "--"];
    const { code, events, stderr, requests } = await runThere([], inside);
    expect(stderr).toContain("Only Landlock works here.");
    expect(code).toBe(0);
    expect(sandboxOf(events)).toMatchObject({ backend: "landlock" });
    expect(toolOutputs(requests().at(-1))[0]).toContain("refused");
    expect((await runThere(["-s", "workspace-write"], inside)).code).toBe(8);
  });

  test("runs in bubblewrap without a process namespace in a container that masks /proc", async () => {
    const { code, events, requests } = await runThere(
      ["-s", "workspace-write"],
      [...outer, "--tmpfs", "/proc/tty", "--"],
    );
    expect(code).toBe(0);
    expect(sandboxOf(events)).toMatchObject({ backend: "bubblewrap", pid: false });
    expect(toolOutputs(requests().at(-1))[0]).toContain("refused");
  });

  test("runs nothing where no sandbox works: exit code 8, no request, no session", async () => {
    const withoutAnything = [...outer, "--disable-userns", "--tmpfs", join(user.modules, "@koromix"), "--"];
    const { code, requests, home, stderr } = await runThere([], withoutAnything);
    expect(code).toBe(8);
    expect(stderr).toContain("The read-only sandbox is not available here. bubblewrap does not work here");
    expect(stderr).toContain("Landlock does not work here: the package @koromix/koffi-linux-");
    expect(requests()).toEqual([]);
    expect(sessionFiles(home)).toEqual([]);
  });

  test("withstands every attempt to break out, except those it reports", async () => {
    const harness = await openHarness();
    for (const directory of [harness.repository, harness.home]) user.own(directory);
    const env = { PATH: process.env.PATH ?? "", HOME: harness.home, AGENT_HOME: harness.home };
    const { code, stdout } = await user.run(["sandbox", "selftest", "--json"], { cwd: harness.repository, env });
    const findings = jsonLines(stdout) as { name: string; outcome: string }[];
    expect(findings.filter(({ outcome }) => outcome === "ESCAPED")).toEqual([]);
    expect(findings.length).toBeGreaterThan(90);
    expect(code).toBe(0);
  });
});

describe("the key of the model", () => {
  // Reversed, because known secrets would be redacted from output and records anyway.
  const looks = [
    "env | rev; export -p | rev; set | rev",
    "cat /proc/self/environ /proc/$PPID/environ /proc/1/environ /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | rev",
    "ulimit -c unlimited; sh -c 'kill -SEGV $$'; cat core* /tmp/core* 2>/dev/null | tr -c '[:print:]' '\\n' | rev",
    'cat "$AGENT_HOME"/* "$AGENT_HOME"/*/* ~/.agentcli/* agent-home/* 2>/dev/null | rev',
    "tr -c '[:print:]' '\\n' < /proc/$PPID/mem 2>/dev/null | rev; ps eww 2>/dev/null | rev",
  ];

  test.each([["bubblewrap"], ["landlock"]])("cannot be read by any tool on %s", async (backend) => {
    const canary = "canary-4711-0815-sesame";
    const reversed = [...canary].reverse().join("");
    const tools = [
      ...looks.map((cmd) => call("exec_command", { cmd })),
      call("read_file", { path: "agent-home/auth.json" }),
      call("view_image", { path: "agent-home/auth.json" }),
      call("grep_files", { pattern: "canary", path: "agent-home" }),
    ];
    const harness = await openHarness({
      replies: [...tools, replyWith("Found nothing.")],
      config: 'env_key = "MODEL_CREDENTIAL"\n',
    });
    writeFileSync(join(harness.home, "auth.json"), JSON.stringify({ AGENT_API_KEY: canary }));
    symlinkSync(harness.home, join(harness.repository, "agent-home"));
    const env = {
      MODEL_CREDENTIAL: canary,
      AGENT_API_KEY: canary,
      SOME_TOKEN: canary,
      ...(backend === "landlock" && { PATH: pathWithoutNamespaces() }),
    };
    const { code, stdout, stderr, events } = await harness.events(["look for it"], { env });
    expect(code, stderr).toBe(0);
    expect(sandboxOf(events)).toMatchObject({ backend });
    expect(harness.requests()).toHaveLength(tools.length + 1);
    expect(harness.requests()[0]?.headers.authorization).toBe(`Bearer ${canary}`);
    const bodies = harness.requests().map(({ body }) => JSON.stringify(body));
    const sessions = sessionFiles(harness.home).map((path) => readFileSync(path, "utf8"));
    for (const text of [...bodies, stdout, stderr, ...sessions]) {
      expect(text).not.toContain(canary);
      expect(text).not.toContain(reversed);
    }
  });
});

test("code that a command plants in a submodule is not run outside the sandbox", async () => {
  const plant = [
    "cd inner && git init -q . && git config user.name x && git config user.email x@x",
    "git add . && git commit -qm inner && git rev-parse HEAD",
  ].join("; ");
  const files = { "inner/file": "original\n" };
  const harness = await openHarness({
    files,
    replies: [call("exec_command", { cmd: "touch inner/file" }), replyWith("Spent.")],
  });
  const { stdout } = spawnSync("bash", ["-c", plant], { cwd: harness.repository, encoding: "utf8" });
  await harness.git("rm", "-rq", "--cached", "inner");
  await harness.git("update-index", "--add", "--cacheinfo", `160000,${stdout.trim()},inner`);
  await harness.git("commit", "-qm", "Point to a submodule");
  const inner = join(harness.repository, "inner/.git");
  writeFileSync(join(inner, "info/attributes"), "* filter=planted\n");
  const filter = `[filter "planted"]\n\tclean = "touch ${harness.home}/planted; cat"\n`;
  writeFileSync(join(inner, "config"), filter, { flag: "a" });
  expect((await harness.run(["exec", "-s", "workspace-write", "--budget", "turns=2", "work"])).code).toBe(5);
  expect(readdirSync(harness.home)).not.toContain("planted");
});

describe("when the program is killed in the middle of a command", () => {
  const modes: [string, string[], () => Record<string, string>][] = [
    ["bubblewrap", ["-s", "workspace-write"], () => ({})],
    ["Landlock", ["-s", "workspace-write", "--sandbox-min", "landlock"], () => ({ PATH: pathWithoutNamespaces() })],
    ["no sandbox", ["-s", "danger-full-access"], () => ({})],
  ];
  const signals = ["SIGTERM", "SIGINT", "SIGHUP", "SIGKILL"] as const;

  describe.each(modes)("on %s", (_, flags, environment) => {
    test.each(signals)("by %s no process is left", async (signal) => {
      const word = `leftover-${process.pid}-${signal}-${Math.random().toString(36).slice(2)}`;
      const sleeper = `sh -c 'sleep 1000; : ${word}'`;
      const cmd = `${sleeper} & setsid ${sleeper} & (setsid ${sleeper} &) ; ${sleeper}; true`;
      const { start } = await openHarness({ replies: [call("exec_command", { cmd }), replyWith("Done.")] });
      const child = start(["exec", ...flags, "sleep"], { env: environment() });
      const end = waitForExit(child);
      await eventually(() => processesWith(word).length >= 5);
      child.kill(signal);
      await end;
      await eventually(() => expect(processesWith(word)).toEqual([]));
    });
  });
});

describe("inside the sandbox", () => {
  test("a server started by one command answers the next", async () => {
    const server = `require("http").createServer((q, r) => r.end("still here")).listen(8123, "127.0.0.1", () => console.log("up"))`;
    const client = `const ask = () => require("http").get("http://127.0.0.1:8123", (r) => r.pipe(process.stdout)).on("error", () => setTimeout(ask, 50)); ask()`;
    const replies = [
      call("exec_command", { cmd: `node -e '${server}'`, yield_time_ms: 1500 }),
      call("exec_command", { cmd: `node -e '${client}'` }),
      replyWith("Done."),
    ];
    const { run, requests } = await openHarness({ replies });
    expect((await run(["exec", "-s", "workspace-write", "serve"])).code).toBe(0);
    expect(toolOutputs(requests().at(-1))[1]).toContain("still here");
  });

  test("npm test of a project that opens ports passes", async () => {
    const files = {
      "package.json": JSON.stringify({ name: "ports", private: true, scripts: { test: "node --test" } }),
      "ports.test.js": `const test = require("node:test"), http = require("node:http"), assert = require("node:assert");
        test("answers on its own port", async () => {
          const server = http.createServer((q, r) => r.end("pong")).listen(0, "127.0.0.1");
          await new Promise((resolve) => server.once("listening", resolve));
          const text = await fetch("http://127.0.0.1:" + server.address().port).then((r) => r.text());
          assert.equal(text, "pong");
          server.close();
        });`,
    };
    const replies = [call("exec_command", { cmd: "npm test", yield_time_ms: 30_000 }), replyWith("Passed.")];
    const { events: run } = await openHarness({ replies, files });
    const { code, events } = await run(["-s", "workspace-write", "test"]);
    expect(code).toBe(0);
    const [item] = itemsOf(events, "command_execution");
    expect(item, String(item?.aggregated_output)).toMatchObject({ exit_code: 0 });
    expect(item?.aggregated_output).toContain("pass 1");
  });
});

describe("agentcli sandbox", () => {
  test("probe reports what works here, as text and as JSON", async () => {
    const { run } = await openHarness();
    const text = await run(["sandbox", "probe"]);
    expect(text.code).toBe(0);
    expect(text.stdout).toMatch(/^bubblewrap +works/m);
    expect(text.stdout).toMatch(/^landlock +works \(version \d+ of the interface\)$/m);
    const { stdout } = await run(["sandbox", "probe", "--json"], { env: { PATH: pathWithoutNamespaces() } });
    expect(JSON.parse(stdout)).toMatchObject({
      backend: "landlock",
      tried: [{ backEnd: "bubblewrap", reason: expect.stringContaining(forbidden) }, { kind: "landlock" }],
      modes: [
        { mode: "read-only", pid: false },
        { mode: "workspace-write" },
        { mode: "danger-full-access", backend: "none" },
      ],
      limits: { memory: { by: expect.any(String) } },
    });
  });

  test("run passes input, output and exit code through", async () => {
    const { run, repository } = await openHarness();
    const echo = await run(["sandbox", "run", "--", "cat"], { stdin: "hello\nworld\n" });
    expect(echo).toMatchObject({ code: 0, stdout: "hello\nworld\n" });
    const script = "echo out; echo err >&2; echo x > made; echo x > /var/tmp/not-made-e2e; exit 7";
    const ran = await run(["sandbox", "run", "-s", "workspace-write", "--", "sh", "-c", script]);
    expect(ran).toMatchObject({ code: 7, stdout: "out\n" });
    expect(ran.stderr).toMatch(/^err\n.*Read-only file system/);
    expect(readdirSync(repository)).toContain("made");
  });

  test("run writes to directories that were added, and only with workspace-write", async () => {
    const { run, home } = await openHarness();
    const more = join(home, "..", `more-${process.pid}`);
    mkdirSync(more);
    onTestFinished(() => rmSync(more, { recursive: true }));
    const command = ["--", "sh", "-c", `echo x > ${more}/x`];
    expect((await run(["sandbox", "run", "--add-dir", more, ...command])).code).not.toBe(0);
    expect((await run(["sandbox", "run", "-s", "workspace-write", "--add-dir", more, ...command])).code).toBe(0);
    expect(readdirSync(more)).toEqual(["x"]);
  });

  test("run reports repositories that the command created, and prints no control characters of their names", async () => {
    const { run, repository } = await openHarness();
    spawnSync("git", ["init", "-q", repository]);
    const script = `n=$(printf 'v\\302\\233x\\342\\200\\256'); exec 2>/dev/null; git init -q "$n"; git -C "$n" config core.fsmonitor ./evil
      git -C "$n" commit -q --allow-empty -m x; git add "$n"; exit 3`;
    const ran = await run(["sandbox", "run", "-s", "workspace-write", "--", "sh", "-c", script]);
    expect(ran).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("warning: This run created the git repository"),
    });
    expect(ran.stderr).toContain("Its .git was renamed to .git.untrusted");
    expect(ran.stderr).toContain('"v\ufffdx\ufffd" is a git repository');
    expect(ran.stderr).not.toMatch(/[\u009b\u202e]/);
    expect(readdirSync(join(repository, "v\u009bx\u202e"))).toEqual([".git.untrusted"]);
  });

  test("run reports what is missing", async () => {
    const { run } = await openHarness();
    expect(await run(["sandbox", "run"])).toMatchObject({ code: 2, stderr: expect.stringContaining("after --") });
    expect(await run(["sandbox", "run", "--", "no-such-program"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("no-such-program was not found on PATH"),
    });
  });
});

function processesWith(word: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(word);
    } catch {
      return false;
    }
  });
}
