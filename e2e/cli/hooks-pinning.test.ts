// An agent rewrites what a trusted hook runs: the hook runs its private copy, or nothing.
import { chmodSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, jsonLines, type Reply, replyWith } from "@agentcli/testkit";
import { type Event, type Harness, itemsOf, openHarness, toolOutputs } from "@agentcli/testkit/cli";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { agentcliHooks, openTrustingHarness, run, write } from "./hook-harness.ts";
import { type OrdinaryUser, ordinaryUser } from "./ordinary-user.ts";
import { pathWithoutNamespaces } from "./without-namespaces.ts";

/** Says which file runs, and where it finds the project. */
const honest = '#!/bin/sh\n. "$(dirname "$0")/lib.sh"\nreport "$0"\n';
const library = 'report() { echo "honest $1 ($(stat -c %a "$(dirname "$1")")) in $AGENT_PROJECT_DIR" >> ran.txt; }\n';
const evil = "#!/bin/sh\\necho evil >> ran.txt\\n";

const files = (command: string) => ({
  "tools/x.sh": honest,
  "tools/lib.sh": library,
  ".agentcli/hooks.json": agentcliHooks({ PreToolUse: [{ command }] }),
});

const forms = {
  direct: "sh tools/x.sh",
  timeout: "timeout 10 sh tools/x.sh",
  "another directory": "cd tools && (cd .. && sh tools/x.sh)",
  guarded: "test -r tools/x.sh && sh tools/x.sh",
};

const plant = (path: string) => `printf '${evil}' > ${path}`;
const patchOf = (path: string): Reply =>
  call("apply_patch", {
    input: `*** Begin Patch\n*** Update File: ${path}\n@@\n-#!/bin/sh\n+#!/bin/sh\n+echo evil >> ran.txt\n*** End Patch\n`,
  });

const ran = ({ repository }: Pick<Harness, "repository">): string =>
  existsSync(join(repository, "ran.txt")) ? readFileSync(join(repository, "ran.txt"), "utf8") : "";

const writing = ["-s", "workspace-write"];

describe("a trusted hook", () => {
  test.each([
    ["direct", forms.direct],
    ["timeout", forms.timeout],
    ["guarded", forms.guarded],
  ])("runs from a private copy that no other user can enter, and finds its project: %s", async (_, command) => {
    const harness = await openTrustingHarness({ replies: [run("echo 1"), replyWith("Done.")], files: files(command) });
    const { events, stderr } = await harness.events([...writing, "go on"]);
    expect(itemsOf(events, "hook")).toMatchObject([{ status: "completed" }]);
    expect(ran(harness)).toMatch(/^honest \S+\/hook-copies\/\S+\/tools\/x\.sh \(700\) in /);
    expect(ran(harness)).toContain(` in ${harness.repository}\n`);
    expect(ran(harness)).not.toContain(`honest ${harness.repository}`);
    expect(stderr).not.toContain("not pinned");
    expect(readdirSync(join(harness.home, "hook-copies"))).toEqual([]);
  });

  test("runs what was verified, even if the file is replaced before the shell opens it", async () => {
    const harness = await openTrustingHarness({
      replies: [run("echo 1"), replyWith("Done.")],
      files: files(forms.direct),
    });
    const shell = join(harness.home, "bash");
    const racing = `#!/bin/bash\ncase "$2" in *x.sh*) ${plant("tools/x.sh")};; esac\nexec /bin/bash "$@"\n`;
    write(harness.home, "bash", racing);
    chmodSync(shell, 0o755);
    await harness.events(["--dangerously-bypass-approvals-and-sandbox", "go on"], { env: { SHELL: shell } });
    expect(readFileSync(join(harness.repository, "tools/x.sh"), "utf8")).toContain("evil");
    expect(ran(harness)).toMatch(/^honest /);
    expect(ran(harness)).not.toContain("evil");
  });

  test("runs the verified copy of a script that another one names by the variable of the project", async () => {
    const harness = await openTrustingHarness({
      replies: [run("echo 1"), replyWith("Done.")],
      files: {
        ...files("sh hooks/check.sh"),
        "hooks/check.sh": '#!/bin/sh\nsh "$AGENT_PROJECT_DIR/tools/x.sh"\n',
      },
    });
    const shell = join(harness.home, "bash");
    write(
      harness.home,
      "bash",
      `#!/bin/bash\ncase "$2" in *check.sh*) ${plant("tools/x.sh")};; esac\nexec /bin/bash "$@"\n`,
    );
    chmodSync(shell, 0o755);
    await harness.events(["--dangerously-bypass-approvals-and-sandbox", "go on"], { env: { SHELL: shell } });
    expect(readFileSync(join(harness.repository, "tools/x.sh"), "utf8")).toContain("evil");
    expect(ran(harness)).toMatch(/^honest \S+\/hook-copies\//);
    expect(ran(harness)).not.toContain("evil");
  });

  test.each([
    ["a command", run(plant("tools/x.sh"))],
    ["a file that it loads", run(plant("tools/lib.sh"))],
    ["a patch", patchOf("tools/x.sh")],
    ["a new name for its directory", run(`mv tools old && mkdir tools && ${plant("tools/x.sh")}`)],
    [
      "a link",
      run(`printf '${evil}' > e.sh; ln -sf ../e.sh tools/x.sh || (rm -rf tools && ln -s . tools && ${plant("x.sh")})`),
    ],
    ["a file moved over it", run(`printf '${evil}' > e.sh; mv -f e.sh tools/x.sh`)],
  ])("is not replaced by %s of an agent in workspace-write", async (_, attack) => {
    const harness = await openTrustingHarness({
      replies: [attack, run("echo 1"), run("echo 2"), replyWith("Done.")],
      files: files(forms.direct),
    });
    const { code } = await harness.events([...writing, "go on"]);
    expect(code).toBe(0);
    expect(readFileSync(join(harness.repository, "tools/x.sh"), "utf8")).toBe(honest);
    expect(ran(harness).match(/honest/g)).toHaveLength(3);
    expect(ran(harness)).not.toContain("evil");
  });

  test.each([
    ["node that it starts", "node hooks/c.cjs", "hooks/c.cjs", 'require("child_process").execSync("node tools/y.js")'],
    ["a process that it forks", "node hooks/c.cjs", "hooks/c.cjs", 'require("child_process").fork("./tools/y.js")'],
    ["python that it starts", "python3 hooks/c.py", "hooks/c.py", 'import os\nos.system("python3 tools/y.js")'],
    ["perl that it starts", "sh hooks/c.sh", "hooks/c.sh", "perl tools/y.js"],
    ["a shell without a first line", "hooks/c", "hooks/c", ". tools/y.js"],
  ])("keeps an agent from changing the program of %s", async (_, command, path, script) => {
    const harness = await openHarness({
      replies: [run("echo evil > tools/y.js"), replyWith("Done.")],
      files: {
        ".agentcli/hooks.json": agentcliHooks({ PreToolUse: [{ command }] }),
        [path]: `${script}\n`,
        "tools/y.js": "",
      },
    });
    chmodSync(join(harness.repository, path), 0o755);
    expect(await harness.run(["hooks", "trust", "--all"])).toMatchObject({ code: 0, stderr: "" });
    await harness.events([...writing, "go on"]);
    expect(readFileSync(join(harness.repository, "tools/y.js"), "utf8")).toBe("");
  });

  test("is not replaced by a sub-agent", async () => {
    const child = "You do one piece";
    const replies = [
      { ...replyWith("The child is done."), when: { bodyIncludes: "subagent_notification" } },
      { ...replyWith("Tried."), when: { bodyIncludes: "tried it" } },
      { ...run(`${plant("tools/x.sh")}; echo tried it`), when: { bodyIncludes: child } },
      { ...run("sleep 0.2"), when: { bodyIncludes: "agent_id" } },
      call("spawn_agent", { message: "write it", agent_type: "worker" }),
    ];
    const harness = await openTrustingHarness({ replies: { replies, repeat: "always" }, files: files(forms.direct) });
    const { code } = await harness.events([...writing, "--budget", "turns=60", "delegate it"]);
    expect(code).toBe(0);
    expect(readFileSync(join(harness.repository, "tools/x.sh"), "utf8")).toBe(honest);
    expect(ran(harness)).not.toContain("evil");
  });

  test("denies under Landlock once an agent has changed it, and the run reports that it can", async () => {
    const harness = await openTrustingHarness({
      replies: [run(plant("tools/x.sh")), run("echo 1"), replyWith("Done.")],
      files: files(forms.direct),
    });
    const { code, events } = await harness.events([...writing, "--sandbox-min", "landlock", "go on"], {
      env: { PATH: pathWithoutNamespaces() },
    });
    expect(code).toBe(0);
    expect(ran(harness)).not.toContain("evil");
    expect(itemsOf(events, "hook")).toMatchObject([
      { status: "completed" },
      { status: "blocked", reason: "hook modified" },
    ]);
    expect(JSON.stringify(events)).toContain("files that hooks run can be changed in the workspace");
  });
});

describe("a hook that cannot be pinned", () => {
  const unpinned = files("npm run --silent check");
  const replies = [run("echo 1"), replyWith("Done.")];

  test("is refused at trust time, and neither trust by hash nor trust from before makes it run", async () => {
    const harness = await openHarness({ replies, files: unpinned });
    const refused = await harness.run(["hooks", "trust", "--all"]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("what `npm` runs or loads from the workspace is not known");
    expect(refused.stderr).toContain("--unpinned");
    const { hash, key } = JSON.parse((await harness.run(["hooks", "list", "--json"])).stdout);
    const state = `[hooks.state.${JSON.stringify(key)}]\ntrusted_hash = "${hash}"\n`;
    writeFileSync(
      join(harness.home, "config.toml"),
      `${readFileSync(join(harness.home, "config.toml"), "utf8")}\n${state}`,
    );
    const { events } = await harness.events([...writing, "--trust-hooks", hash, "go on"]);
    const reason = expect.stringMatching(/^cannot be pinned: .*agentcli hooks trust --unpinned/);
    expect(itemsOf(events, "hook")).toMatchObject([{ status: "skipped", reason }]);
  });

  test.each([["agentcli"], ["platform"]])(
    "of the %s dialect runs with --unpinned, and every run reports it",
    async (dialect) => {
      const platform = { version: 1, hooks: { beforeShellExecution: [{ command: "npm run --silent check" }] } };
      const definitions = dialect === "agentcli" ? unpinned : { ".platform/hooks.json": JSON.stringify(platform) };
      const script = { scripts: { check: 'echo \'{"permission": "allow"}\' | tee ran.txt' } };
      const harness = await openHarness({ replies, files: { ...definitions, "package.json": JSON.stringify(script) } });
      const trusting = await harness.run(["hooks", "trust", "--all", "--unpinned"]);
      expect(trusting).toMatchObject({ code: 0, stderr: "" });
      const { events } = await harness.events([...writing, "go on"]);
      expect(ran(harness)).toContain("allow");
      expect(JSON.stringify(events)).toContain("runs outside the sandbox and is not pinned: what `npm` runs");
      const text = await harness.run(["exec", ...writing, "go on"]);
      expect(text.stderr).toContain("is not pinned");
    },
  );
});

describe("a hook whose script", () => {
  test("loads a file that does not exist yet is refused with the line, and reported where it runs unpinned", async () => {
    const script = "#!/bin/sh\n[ -f ./.env ] && . ./.env\necho honest >> ran.txt\n";
    const harness = await openHarness({
      replies: [run("echo 1"), replyWith("Done.")],
      files: { ...files("sh tools/x.sh"), "tools/x.sh": script },
    });
    const refused = await harness.run(["hooks", "trust", "--all"]);
    const reason = `in line 2 of ${harness.repository}/tools/x.sh, there is no file ./.env`;
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(reason);
    expect((await harness.run(["hooks", "trust", "--all", "--unpinned"])).code).toBe(0);
    const { events } = await harness.events([...writing, "go on"]);
    expect(JSON.stringify(events)).toContain(`is not pinned: ${reason}`);
    expect(ran(harness)).toBe("honest\n");
  });

  test("loads a link beside it blocks as it does by hand", async () => {
    const harness = await openHarness({
      replies: [run("echo 1 > done.txt"), replyWith("Done.")],
      files: {
        ...files("sh tools/x.sh"),
        "tools/x.sh": '#!/bin/sh\n. "$(dirname "$0")/guard.sh"\nrefuse\n',
        "src/guard.sh": "refuse() { echo no >&2; exit 2; }\n",
      },
    });
    symlinkSync("../src/guard.sh", join(harness.repository, "tools/guard.sh"));
    expect((await harness.run(["hooks", "trust", "--all"])).code).toBe(0);
    const { events } = await harness.events([...writing, "go on"]);
    expect(itemsOf(events, "hook")).toMatchObject([{ status: "blocked", reason: "no" }]);
    expect(existsSync(join(harness.repository, "done.txt"))).toBe(false);
  });
});

/** What hooks in other languages may look like, with a program that only their run shows. */
const byVariable = {
  "hooks/a.mjs":
    'import { spawnSync } from "node:child_process";\nconst tool = ["tools", "x.sh"].join("/");\nspawnSync(tool);\n',
  "hooks/a.py": 'import subprocess\ntool = "tools/x.sh"\nsubprocess.run([tool])\n',
  "hooks/a.pl": 'my $tool = "tools/x.sh";\nsystem($tool);\n',
};

describe("a hook whose code", () => {
  test.each([
    ["node hooks/a.mjs", []],
    ["python3 hooks/a.py", ["--sandbox-min", "landlock"]],
    ["perl hooks/a.pl", []],
  ])(
    "starts what a variable names is not trusted, and what an agent writes there does not run: %s",
    async (command, flags) => {
      const harness = await openHarness({
        replies: [run(`${plant("tools/x.sh")}; chmod +x tools/x.sh`), run("echo 1"), replyWith("Done.")],
        files: { ...files(command), ...byVariable },
      });
      const refused = await harness.run(["hooks", "trust", "--all"]);
      expect(refused.code).toBe(2);
      expect(refused.stderr).toMatch(
        /in line [23] of \S+\/hooks\/a\.\w+, what `\S+ runs or loads is known only when it runs/,
      );
      const env: Record<string, string> = flags.length > 0 ? { PATH: pathWithoutNamespaces() } : {};
      const { events } = await harness.events([...writing, ...flags, "go on"], { env });
      expect(itemsOf(events, "hook").map(({ status }) => status)).toEqual(["skipped"]);
      expect(readFileSync(join(harness.repository, "tools/x.sh"), "utf8")).toContain("evil");
      expect(ran(harness)).toBe("");
    },
  );
});

describe("trust from before other files were covered", () => {
  const trustAsBefore = async (harness: Harness) => {
    const { hash, key, script } = JSON.parse((await harness.run(["hooks", "list", "--json"])).stdout);
    const state = `[hooks.state.${JSON.stringify(key)}]\ntrusted_hash = "${hash}"\nscript_hash = "${script.hash}"\n`;
    writeFileSync(
      join(harness.home, "config.toml"),
      `${readFileSync(join(harness.home, "config.toml"), "utf8")}\n${state}`,
    );
  };

  test("holds for a script that is alone", async () => {
    const alone = { ...files("sh tools/x.sh"), "tools/x.sh": "echo honest >> ran.txt\n", "tools/lib.sh": "" };
    const { "tools/lib.sh": _, ...single } = alone;
    const harness = await openHarness({ replies: [run("echo 1"), replyWith("Done.")], files: single });
    await trustAsBefore(harness);
    await harness.events([...writing, "go on"]);
    expect(ran(harness)).toBe("honest\n");
  });

  test("ends where the script has other files, and the reason says what to do", async () => {
    const harness = await openHarness({ replies: [run("echo 1"), replyWith("Done.")], files: files("sh tools/x.sh") });
    await trustAsBefore(harness);
    const { events } = await harness.events([...writing, "go on"]);
    const reason = expect.stringMatching(/^trusted before the other files .* agentcli hooks trust/);
    expect(itemsOf(events, "hook")).toMatchObject([{ status: "skipped", reason }]);
    expect(ran(harness)).toBe("");
  });
});

describe("for an ordinary user", () => {
  let user: OrdinaryUser;
  beforeAll(() => {
    user = ordinaryUser();
  });
  afterAll(() => user.remove());

  async function runTrusted(replies: Reply[], { flags, inside }: { flags: string[]; inside: string[] }) {
    const harness = await openHarness({ replies, files: files(forms.timeout) });
    for (const directory of [harness.repository, harness.home]) user.own(directory);
    const env = { PATH: process.env.PATH ?? "", HOME: harness.home, AGENT_HOME: harness.home, SHELL: "/bin/bash" };
    const options = { cwd: harness.repository, env };
    expect((await user.run(["hooks", "trust", "--all"], options)).code).toBe(0);
    const { code, stdout } = await user.run(["exec", "--json", ...flags, "go on"], { ...options, inside });
    expect(code).toBe(0);
    return { harness, events: jsonLines(stdout) as Event[] };
  }

  test("denies under Landlock once an agent has changed it", async () => {
    const replies = [run(plant("tools/x.sh")), run("echo 1"), replyWith("Done.")];
    const flags = [...writing, "--sandbox-min", "landlock"];
    const outer = ["bwrap", "--unshare-user", "--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc"];
    const { harness, events } = await runTrusted(replies, { flags, inside: [...outer, "--disable-userns", "--"] });
    expect(events[0]).toMatchObject({ sandbox: { backend: "landlock" } });
    expect(ran(harness)).not.toContain("evil");
    expect(itemsOf(events, "hook")).toMatchObject([
      { status: "completed" },
      { status: "blocked", reason: "hook modified" },
    ]);
  });

  test("a trusted hook is not replaced either", async () => {
    const replies = [run(`mv tools old; ${plant("tools/x.sh")}`), run("echo 1"), replyWith("Done.")];
    const { harness, events } = await runTrusted(replies, { flags: writing, inside: [] });
    expect(itemsOf(events, "hook")).toMatchObject([{ status: "completed" }, { status: "completed" }]);
    expect(toolOutputs(harness.requests().at(-1))[0]).toMatch(/busy|Read-only/);
    expect(ran(harness).match(/honest \S+hook-copies/g)).toHaveLength(2);
    expect(ran(harness)).not.toContain("evil");
  });
});
