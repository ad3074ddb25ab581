// What works inside the sandbox, and how it starts and ends.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import type { Workspace } from "@agentcli/protocol";
import { SandboxUnavailable, WorkspaceLost } from "@agentcli/protocol/workspace-errors";
import { expect, test } from "vitest";
import { openSandbox } from "../../src/sandbox/launch.ts";
import { hiddenByDefault, personalPaths } from "../../src/sandbox/personal-paths.ts";
import { sandboxPolicy } from "../../src/sandbox/policy.ts";
import { bash, exec, freshId, until } from "../support/commands.ts";
import { openInSandbox, temporaryDirectory, toolEnv, withWorkspace } from "../support/locations.ts";
import { serverProgram } from "../support/server-program.ts";

const writable = (root: string) => openInSandbox({ mode: "workspace-write", root });

test("commands share one private /tmp, which is gone at the end", async () => {
  const name = `/tmp/private-${process.pid}`;
  await withWorkspace(writable, async (workspace) => {
    await bash(workspace, `echo kept > ${name}`);
    expect((await bash(workspace, `cat ${name}`)).stdout).toBe("kept\n");
    expect(existsSync(name)).toBe(false);
  });
  await withWorkspace(writable, async (workspace) => {
    expect((await bash(workspace, `ls ${name}`)).result).toMatchObject({ exitCode: 2 });
  });
});

test("a read-only sandbox reads its root, even under /tmp, and writes to /tmp", () =>
  withWorkspace(
    (root) => openInSandbox({ mode: "read-only", root }),
    async (workspace, root) => {
      writeFileSync(join(root, "a"), "hallo");
      const output = await bash(workspace, "cat a; echo x > a; echo y > /tmp/y && cat /tmp/y");
      expect(output).toMatchObject({ stdout: "halloy\n", stderr: expect.stringContaining("Read-only file system") });
    },
  ));

test("git reads the repository it cannot change", () =>
  withWorkspace(
    async (root) => {
      git(root, "init", "-q", "-b", "main");
      return openInSandbox({ mode: "workspace-write", root, git: "none" });
    },
    async (workspace) => {
      const output = await bash(
        workspace,
        "echo x > new; git status --short; git rev-parse --abbrev-ref HEAD 2>&1; git add new",
      );
      expect(output.stdout).toContain("?? new");
      expect(output.stderr).toContain("Read-only file system");
      expect(await workspace.status()).toMatchObject({ git: { root: workspace.root, branch: "main", commit: null } });
    },
  ));

test("the repository of a linked working tree is protected, even where another writable directory holds it", async () => {
  const base = temporaryDirectory();
  const [main, tree] = [join(base, "main"), join(base, "tree")];
  mkdirSync(main);
  git(main, "init", "-q", "-b", "main");
  git(main, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first");
  git(main, "worktree", "add", "-q", tree);
  const workspace = await openInSandbox({ mode: "workspace-write", root: tree, writableRoots: [main], git: "none" });
  try {
    const output = await bash(
      workspace,
      `git log --format=%s; echo x >> ${main}/.git/config; git branch other; echo x > .git`,
    );
    expect(output.stdout).toBe("first\n");
    expect(output.stderr.match(/Read-only file system/g)).toHaveLength(3);
    expect((await workspace.status()).git).toMatchObject({ root: tree, branch: "tree", commit: expect.any(String) });
  } finally {
    await workspace.close();
    rmSync(base, { recursive: true });
  }
});

test("a protected name that is a symlink is refused, and nothing is left behind", async () => {
  const root = temporaryDirectory();
  mkdirSync(join(root, "elsewhere"));
  symlinkSync("elsewhere", join(root, ".git"));
  const opening = writable(root);
  await expect(opening).rejects.toThrow(SandboxUnavailable);
  await expect(opening).rejects.toThrow(`${root}/.git is a symbolic link`);
  expect(readdirSync(root).sort()).toEqual([".git", "elsewhere"]);
  rmSync(root, { recursive: true });
});

test("a link to a folder that several tools share does not prevent the sandbox from opening", () =>
  withWorkspace(
    async (root) => {
      mkdirSync(join(root, ".agents"));
      symlinkSync(".agents", join(root, ".claude"));
      return writable(root);
    },
    async (workspace, root) => {
      await workspace.close();
      expect(readdirSync(root).sort()).toEqual([".agents", ".claude"]);
    },
  ));

test("placeholders for missing protected names are created and removed, but existing ones are kept", () =>
  withWorkspace(
    async (root) => {
      mkdirSync(join(root, ".agents"));
      return writable(root);
    },
    async (workspace, root) => {
      expect(readdirSync(root).sort()).toEqual([".agentcli", ".agents", ".claude", ".codex", ".git", ".platform"]);
      await workspace.close();
      expect(readdirSync(root)).toEqual([".agents"]);
    },
  ));

test("a placeholder left by a killed run is reused and removed", () =>
  withWorkspace(
    async (root) => {
      mkdirSync(join(root, ".git"));
      chmodSync(join(root, ".git"), 0o1555);
      return writable(root);
    },
    async (workspace, root) => {
      expect((await bash(workspace, "touch .git/x")).result).toMatchObject({ exitCode: 1 });
      await workspace.close();
      expect(readdirSync(root)).toEqual([]);
    },
  ));

test("of two sandboxes in one workspace the first to end does not unprotect the other", () =>
  withWorkspace(writable, async (first, root) => {
    const second = await writable(root);
    await first.close();
    const output = await bash(second, "rmdir .git; mkdir -p .git/hooks");
    expect(output.result).toMatchObject({ exitCode: 1 });
    expect(existsSync(join(root, ".git/hooks"))).toBe(false);
    await second.close();
    expect(readdirSync(root)).toEqual([]);
  }));

test("everything the server needs may be under /tmp", async () => {
  const base = temporaryDirectory();
  const program = join(base, "dist/workspace-server.cjs");
  cpSync(dirname(await serverProgram()), dirname(program), { recursive: true });
  const modules = join(base, "node_modules/@lydell");
  const installed = realpathSync(join(import.meta.dirname, "../../../../node_modules/@lydell"));
  cpSync(installed, modules, { recursive: true });
  mkdirSync(join(base, "bin"));
  writeFileSync(join(base, "bin/mine"), "#!/bin/sh\necho mine\n", { mode: 0o755 });
  cpSync(process.execPath, join(base, "bin/node"));
  mkdirSync(join(base, "root"));
  const env = { ...toolEnv(), PATH: `${join(base, "bin")}:${process.env.PATH}` };
  const policy = sandboxPolicy({ mode: "read-only", root: join(base, "root") });
  const options = { serverProgram: program, nodePath: join(base, "bin/node"), env, incarnation: "under-tmp" };
  const workspace = await openSandbox(policy, options);
  try {
    const terminal = { columns: 70, rows: 20 };
    expect((await bash(workspace, "mine; stty size", { terminal })).all).toBe("mine\r\n20 70\r\n");
  } finally {
    await workspace.close();
    rmSync(base, { recursive: true });
  }
});

test("with the network on, a server of the host can be reached", async () => {
  const server = createServer((socket) => socket.end("hallo"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  await withWorkspace(
    (root) => openInSandbox({ mode: "workspace-write", root, network: "on" }),
    async (workspace) => {
      expect((await bash(workspace, `cat < /dev/tcp/127.0.0.1/${port}`)).stdout).toBe("hallo");
    },
  );
  server.close();
});

test("unix sockets work where the policy allows them", () => {
  const script = `${process.execPath} -e 'const s = require("net").createServer().listen("/tmp/s", () => { console.log("ok"); s.close(); })'`;
  return withWorkspace(
    (root) => openInSandbox({ mode: "workspace-write", root, unixSockets: "allowed" }),
    async (workspace) => {
      expect((await bash(workspace, script)).stdout).toBe("ok\n");
    },
  );
});

test("every usual location of credentials, histories and profiles in a home is hidden", async () => {
  const home = temporaryDirectory();
  const all = [...new Set([...alsoHidden, ...personalPaths])];
  const paths = all.filter((path) => !all.some((other) => other.startsWith(`${path}/`)));
  for (const path of [...paths, "ordinary"]) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), "readable\n");
  }
  const hidden = hiddenByDefault(home, join(home, ".agentcli"));
  const workspace = await openInSandbox({ mode: "read-only", root: home, hidden });
  try {
    const names = [...paths, "ordinary"].map((path) => `'${join(home, path)}'`).join(" ");
    const { stdout } = await bash(workspace, `grep -l readable ${names}`);
    expect(stdout).toBe(`${join(home, "ordinary")}\n`);
  } finally {
    await workspace.close();
    rmSync(home, { recursive: true });
  }
});

/** Stated apart from the table, some of them files in a directory that is hidden as a whole. */
const alsoHidden = `.oci/config .kaggle/kaggle.json .huggingface/token .cache/huggingface/token .config/age/keys.txt
  .config/sops/age/keys.txt .config/solana/id.json .netlify/config.json .config/netlify/config.json .amazonq/x
  .aws/amazonq/x .crush/x .config/crush/crush.json .config/op/config .config/rclone/rclone.conf .config/hub
  .config/glab-cli/config.yml .vercel/auth.json .fly/config.yml .railway/config.json .pulumi/credentials.json
  .terraform.d/credentials.tfrc.json .cargo/credentials .cargo/credentials.toml .gem/credentials .m2/settings.xml
  .gradle/gradle.properties .config/gcloud/credentials.db .config/containers/auth.json .config/doctl/config.yaml
  .wrangler/x .config/.wrangler/config/default.toml .s3cfg .boto .pgpass .my.cnf .mylogin.cnf`.split(/\s+/);

test("the table of hidden locations is tidy: relative, without repetition, none below another", () => {
  const below = personalPaths.filter((path) => personalPaths.some((other) => path.startsWith(`${other}/`)));
  const odd = personalPaths.filter((path) => /^\/|^~|\.\.|\/$|\/\/|^$/.test(path));
  expect({ below, odd }).toEqual({ below: [], odd: [] });
  expect(personalPaths).toEqual([...new Set(personalPaths)]);
});

test("a part of a hidden directory can be shown", () =>
  withWorkspace(
    async (root) => {
      mkdirSync(join(root, "home/skills"), { recursive: true });
      writeFileSync(join(root, "home/auth"), "secret");
      writeFileSync(join(root, "home/skills/one"), "skill");
      const [hidden, shown] = [[join(root, "home")], [join(root, "home/skills")]];
      return openInSandbox({ mode: "workspace-write", root, hidden, shown });
    },
    async (workspace) => {
      const output = await bash(workspace, "cat home/skills/one; ls home; echo x > home/skills/one");
      expect(output).toMatchObject({ stdout: "skillskills\n", stderr: expect.stringContaining("Read-only") });
    },
  ));

test("a command that kills every node process does not kill the workspace", () =>
  withWorkspace(writable, async (workspace) => {
    for (const command of ["pkill -9 node", "pkill -9 -f node"]) {
      const id = freshId();
      await exec(workspace, {
        id,
        start: { argv: [process.execPath, "-e", "setInterval(() => {}, 1000)"] },
        waitMs: 0,
      });
      await until(async () => (await bash(workspace, command)).result.state === "exited" && isOver(workspace, id));
    }
    expect((await bash(workspace, "echo alive")).stdout).toBe("alive\n");
  }));

const isOver = async (workspace: Workspace, id: string) =>
  (await exec(workspace, { id, waitMs: 0 })).result.state === "exited";

test("a command that kills everything is reported as a lost workspace", () =>
  withWorkspace(writable, async (workspace) => {
    const killed = bash(workspace, "kill -9 -1");
    await expect(killed).rejects.toThrow(WorkspaceLost);
    await expect(killed).rejects.toThrow(/its process exited with code \d+/);
    await expect(exec(workspace, { id: freshId() })).rejects.toThrow(WorkspaceLost);
  }));

test("without bubblewrap the error names it and the command that installs it", async () => {
  const root = temporaryDirectory();
  const fake = join(root, "bwrap");
  writeFileSync(fake, "#!/bin/sh\n", { mode: 0o755 });
  const env = { ...toolEnv(), PATH: `${root}:/nowhere` };
  const options = { serverProgram: await serverProgram(), env, incarnation: "none" };
  const opening = openSandbox(sandboxPolicy({ mode: "workspace-write", root }), options);
  await expect(opening).rejects.toThrow("apt-get install bubblewrap");
  rmSync(root, { recursive: true });
});

test("a server that does not start is reported with its stderr", async () => {
  const root = temporaryDirectory();
  const program = join(root, "broken.cjs");
  writeFileSync(program, "console.error('no such luck'); process.exit(3)");
  const options = { serverProgram: program, env: toolEnv(), incarnation: "broken" };
  const opening = openSandbox(sandboxPolicy({ mode: "workspace-write", root }), options);
  await expect(opening).rejects.toThrow(/exited with code 3.*no such luck/);
  expect(readdirSync(root)).toEqual(["broken.cjs"]);
  rmSync(root, { recursive: true });
});

const git = (root: string, ...words: string[]) => execFileSync("git", ["-C", root, ...words]);
