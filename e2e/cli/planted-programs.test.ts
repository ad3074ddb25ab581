// Programs that an agent left in the repository, which npm run and direnv put on PATH, do not run outside the sandbox.
import { execFile } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { call, replyWith } from "@agentcli/testkit";
import { type Harness, openHarness } from "@agentcli/testkit/cli";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openMemoryTerminal, openTmux } from "../support/terminal.ts";
import { type OrdinaryUser, ordinaryUser } from "./ordinary-user.ts";

const execute = promisify(execFile);
const names = ["git", "rg", "bwrap", "mkfifo", "bash", "sh", "env", "grep", "xdg-open", "true", "cat", "xclip"];
const folders = ["node_modules/.bin", "tools"];

/** Each leaves a mark in the agent home, which nothing inside the sandbox can write, and then does its work. */
function plant({ repository, home }: Harness): string {
  for (const folder of folders) {
    mkdirSync(join(repository, folder), { recursive: true });
    for (const name of names) {
      const script = `#!/bin/sh\necho ${name} >> ${join(home, "ran")}\nexec /usr/bin/${name} "$@"\n`;
      writeFileSync(join(repository, folder, name), script, { mode: 0o755 });
    }
  }
  return [...folders.map((folder) => join(repository, folder)), ".", process.env.PATH].join(":");
}

const ranOutside = ({ home }: Harness): string =>
  existsSync(join(home, "ran")) ? readFileSync(join(home, "ran"), "utf8") : "";

/** Shells that wait for the end of a terminal interface there. */
const waitingIn = (directory: string): string[] =>
  readdirSync("/proc").filter((pid) => {
    try {
      const isThere = /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`) === directory;
      return isThere && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("released");
    } catch {
      return false;
    }
  });

const hooks = JSON.stringify({ hooks: { SessionStart: [{ hooks: [{ type: "command", command: "git --version" }] }] } });
const server = '[mcp_servers.planted]\ncommand = "git"\nargs = ["--version"]\n';
const commit = call("exec_command", { cmd: "git add a.txt && git commit -m planted; rg one ." });

const open = () =>
  openHarness({
    replies: [commit, replyWith("Done."), replyWith("Done.")],
    files: { "a.txt": "one\n", ".agentcli/hooks.json": hooks },
    config: server,
  });

const commands: [string, string[]][] = [
  ["a run that commits", ["exec", "-s", "workspace-write", "--dangerously-bypass-hook-trust", "go on"]],
  ["a run in a worktree", ["exec", "--worktree", "go on"]],
  ["the end of a turn", ["exec", "-c", 'notify=["true"]', "go on"]],
  ["a review", ["exec", "review", "--uncommitted"]],
  ["a look at the machine", ["doctor"]],
];

test.each(commands)("%s does not run a planted program outside the sandbox", async (_name, args) => {
  const harness = await open();
  const { code, stderr } = await harness.run(args, { env: { PATH: plant(harness), HOME: harness.home } });
  expect({ code, stderr, ran: ranOutside(harness) }).toEqual({ code: 0, stderr: expect.any(String), ran: "" });
});

test("a trusted hook does not load code that variables name in the repository", async () => {
  const python = "import os\nopen(os.environ['MARK'], 'a').write('python ')\n";
  const command = "python3 hooks/check.py; node hooks/check.cjs; bash hooks/check.sh";
  const hooks = { hooks: { SessionStart: [{ hooks: [{ type: "command", command }] }] } };
  const harness = await openHarness({
    replies: [replyWith("Done.")],
    files: {
      ".agentcli/hooks.json": JSON.stringify(hooks),
      "hooks/check.py": "import json\n",
      "hooks/check.cjs": "",
      "hooks/check.sh": "#!/bin/bash\ntrue\n",
      "json.py": python,
      "env.sh": 'printf "bash " >> "$MARK"\n',
      ".pnp.cjs": "require('fs').appendFileSync(process.env.MARK, 'node ')",
    },
  });
  const { repository, home, run } = harness;
  const mark = join(home, "ran");
  const env = {
    MARK: mark,
    PYTHONPATH: ":/opt/lib",
    // Not a preloaded one: the program itself would load it at its start.
    NODE_OPTIONS: `--no-warnings --require ${join(repository, ".pnp.cjs")}`,
    BASH_ENV: join(repository, "env.sh"),
  };
  await run(["exec", "--dangerously-bypass-hook-trust", "go on"], { env: { ...env, NODE_OPTIONS: "" } });
  expect(existsSync(mark)).toBe(false);
  await run(["exec", "--dangerously-bypass-hook-trust", "go on"], { env });
  expect(readFileSync(mark, "utf8")).toBe("node ");
});

test("programs of the repository are not used outside the sandbox where variables and settings name them", async () => {
  const hooks = {
    hooks: { SessionStart: [{ hooks: [{ type: "command", command: "/usr/bin/python3 hooks/check.py" }] }] },
  };
  const harness = await openHarness({
    replies: [call("exec_command", { cmd: "echo two >> a.txt" }), replyWith("Done.")],
    files: {
      "a.txt": "one\n",
      ".gitattributes": "*.txt filter=x\n",
      ".agentcli/hooks.json": JSON.stringify(hooks),
      "hooks/check.py": "",
    },
  });
  const { repository, home, run } = harness;
  plant(harness);
  const program = join(repository, "tools/cat");
  const settings = `[filter "x"]\n\tclean = ${program}\n`;
  mkdirSync(join(repository, ".config/git"), { recursive: true });
  for (const name of [".gitconfig", ".config/git/config"]) writeFileSync(join(repository, name), settings);
  const { stdout: version } = await execute("/usr/bin/python3", [
    "-c",
    "import sys; print('%d.%d' % sys.version_info[:2])",
  ]);
  const site = join(repository, `lib/python${version.trim()}/site-packages`);
  mkdirSync(site, { recursive: true });
  writeFileSync(join(site, "usercustomize.py"), `import os\nos.system("${program} < /dev/null")\n`);
  const env = {
    HOME: home,
    SHELL: join(repository, "tools/bash"),
    GIT_CONFIG_GLOBAL: join(repository, ".gitconfig"),
    XDG_CONFIG_HOME: join(repository, ".config"),
    PYTHONUSERBASE: repository,
  };
  const notify = `notify=[${JSON.stringify(program)}]`;
  const flags = ["-s", "workspace-write", "--dangerously-bypass-hook-trust", "-c", notify];
  const stopped = await run(["exec", ...flags, "--budget", "turns=1", "go on"], { env });
  const completed = await run(["exec", ...flags, "go on"], { env });
  expect([stopped.code, completed.code, ranOutside(harness)]).toEqual([5, 0, ""]);
  expect(completed.stderr).toContain(`the program of notify was not started: an agent can change ${program}`);
});

test("a program of notify and a helper for headers load nothing from the workspace", async () => {
  const { startHttpMcpServer } = await import("@agentcli/testkit/mcp");
  const server = await startHttpMcpServer();
  const helper = `python3 -c "import json; print(json.dumps({'x-key': 'abc'}))"`;
  const config = `[mcp_servers.web]\nurl = "${server.url}"\nhttp_headers_helper = ${JSON.stringify(helper)}\n`;
  const harness = await openHarness({ replies: [replyWith("Done.")], config });
  const { repository, home, run } = harness;
  writeFileSync(join(repository, "json.py"), `open("${join(home, "ran")}", "a").write("json ")\n`);
  const received = join(home, "received");
  const program = `import json, os, sys; open(sys.argv[1], "x").write(os.getcwd())`;
  const { code } = await run(["exec", "-c", `notify=${JSON.stringify(["python3", "-c", program, received])}`, "go on"]);
  await expect.poll(() => existsSync(received) && readFileSync(received, "utf8")).toBe("/");
  expect([code, server.requests[0]?.headers["x-key"], ranOutside(harness)]).toEqual([0, "abc", ""]);
});

test("the terminal interface does not run a planted editor, pager or reader of the clipboard", async () => {
  const harness = await openHarness({ replies: [replyWith("All of it.")] });
  const { repository, home } = harness;
  const env = { PATH: plant(harness), AGENT_HOME: home, EDITOR: "true", PAGER: "python3 -m json.tool" };
  writeFileSync(join(repository, "json.py"), `open("${join(home, "ran")}", "a").write("json ")\n`);
  const terminal = openMemoryTerminal({ cwd: repository, env });
  await expect.poll(terminal.screen).toContain("Ask for a change");
  terminal.type("go on\r");
  await expect.poll(terminal.screen).toContain("All of it.");
  // The editor, the pager with the first text of the list, the clipboard.
  terminal.type("\u0007\u000f");
  await expect.poll(terminal.screen).toContain("Read all of");
  terminal.type("\r\u0016");
  await expect.poll(terminal.screen).toContain("No image was found on the clipboard");
  expect(ranOutside(harness)).toBe("");
});

test("a terminal interface that is killed leaves nothing that runs a planted program", async () => {
  const harness = await openHarness({ replies: [] });
  const { repository, home } = harness;
  const folder = join(repository, "node_modules/.bin");
  mkdirSync(folder, { recursive: true });
  // The shell around asks for the modes with -a.
  const script = `#!/bin/sh\n[ "$1" = sane ] && echo stty >> ${join(home, "ran")}\nexec /usr/bin/stty "$@"\n`;
  writeFileSync(join(folder, "stty"), script, { mode: 0o755 });
  const PATH = `${folder}:${process.env.PATH}`;
  const terminal = openTmux({ cwd: repository, env: { PATH, AGENT_HOME: home } });
  await expect.poll(terminal.screen).toContain("Ask for a change");
  await expect.poll(() => waitingIn(repository)).toHaveLength(1);
  process.kill(terminal.processId(), "SIGKILL");
  await expect.poll(terminal.screen).toContain("exit code 137");
  await expect.poll(() => waitingIn(repository)).toEqual([]);
  expect(ranOutside(harness)).toBe("");
});

test.each(["", "home"])("with a home in the workspace (%j), nothing that an agent wrote there runs", async (folder) => {
  const hooks = { hooks: { SessionStart: [{ hooks: [{ type: "command", command: "true" }] }] } };
  const files = {
    "a.txt": "one\n",
    ".gitattributes": "*.txt filter=x\n",
    ".agentcli/hooks.json": JSON.stringify(hooks),
  };
  const harness = await openHarness({ replies: [replyWith("Done."), replyWith("Done.")], files });
  const { repository, run } = harness;
  plant(harness);
  const program = join(repository, "tools/cat");
  const user = join(repository, folder);
  mkdirSync(join(user, ".config/git"), { recursive: true });
  for (const name of [".profile", ".bash_profile", ".bashrc", ".zshenv"])
    writeFileSync(join(user, name), `${program} < /dev/null\n`);
  for (const name of [".gitconfig", ".config/git/config"])
    writeFileSync(join(user, name), `[filter "x"]\n\tclean = ${program}\n`);
  writeFileSync(join(repository, "a.txt"), "two\n");
  const hooked = await run(["exec", "--dangerously-bypass-hook-trust", "go on"], { env: { HOME: user, SHLVL: "0" } });
  expect([hooked.code, hooked.stderr]).toEqual([0, expect.stringContaining("hook: SessionStart")]);
  expect(await run(["exec", "review", "--uncommitted"], { env: { HOME: user } })).toMatchObject({ code: 0 });
  expect(ranOutside(harness)).toBe("");
});

/** Login files of a home outside the workspace that lead into it: a link, a relative PATH, and a file that they read. */
const loginFiles = [".profile", ".bash_profile", ".bashrc", ".zshenv"];
const leading: [string, (home: string, repository: string) => void][] = [
  [
    "are links into it",
    (home, repository) => forLoginFiles((name) => symlinkSync(join(repository, "evil"), join(home, name))),
  ],
  [
    "bring back a relative PATH",
    (home) => forLoginFiles((name) => writeFileSync(join(home, name), "PATH=./tools:$PATH\n")),
  ],
  [
    "read a file of it",
    (home, repository) => forLoginFiles((name) => writeFileSync(join(home, name), `. ${repository}/evil\n`)),
  ],
];
const forLoginFiles = (write: (name: string) => void) => loginFiles.forEach(write);

async function openWithLoginFiles(write: (typeof leading)[number][1]) {
  const hooks = { hooks: { SessionStart: [{ hooks: [{ type: "command", command: "cat > /dev/null" }] }] } };
  const harness = await openHarness({
    replies: [replyWith("Done.")],
    files: { ".agentcli/hooks.json": JSON.stringify(hooks) },
  });
  plant(harness);
  writeFileSync(join(harness.repository, "evil"), `${join(harness.repository, "tools/cat")} < /dev/null\n`);
  const home = join(harness.home, "user");
  mkdirSync(home);
  write(home, harness.repository);
  return { harness, home };
}

const hookRan = { code: 0, stderr: expect.stringContaining("hook: SessionStart") };
const bypass = ["exec", "--dangerously-bypass-hook-trust", "go on"];

test.each(leading)("hooks run nothing of the workspace where login files %s", async (_, write) => {
  const { harness, home } = await openWithLoginFiles(write);
  expect(await harness.run(bypass, { env: { HOME: home, SHLVL: "0" } })).toMatchObject(hookRan);
  expect(ranOutside(harness)).toBe("");
});

describe("an ordinary user", () => {
  let user: OrdinaryUser;
  beforeAll(() => {
    user = ordinaryUser();
  });
  afterAll(() => user.remove());

  test.each(leading)("has hooks that run nothing of the workspace where login files %s", async (_, write) => {
    const { harness, home } = await openWithLoginFiles(write);
    for (const directory of [harness.repository, harness.home]) user.own(directory);
    const env = { PATH: process.env.PATH ?? "", HOME: home, AGENT_HOME: harness.home, SHELL: "/bin/bash", SHLVL: "0" };
    expect(await user.run(bypass, { cwd: harness.repository, env })).toMatchObject(hookRan);
    expect(ranOutside(harness)).toBe("");
  });

  test("is not given a planted program, nor one of a directory that all users can write", async () => {
    const harness = await open();
    const path = plant(harness);
    const shared = join(harness.home, "shared");
    mkdirSync(shared);
    writeFileSync(join(shared, "git"), readFileSync(join(harness.repository, "tools/git")), { mode: 0o755 });
    for (const directory of [harness.repository, harness.home]) user.own(directory);
    chmodSync(shared, 0o777);
    const env = { PATH: `${shared}:${path}`, HOME: harness.home, AGENT_HOME: harness.home, SHELL: "/bin/bash" };
    const { code, stderr } = await user.run(["exec", "--worktree", "go on"], { cwd: harness.repository, env });
    expect({ code, stderr, ran: ranOutside(harness) }).toEqual({ code: 0, stderr: expect.any(String), ran: "" });
  });
});
