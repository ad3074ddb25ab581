// Confinement by Landlock: its rules, and what works and does not work under them.
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import type { OutputFile } from "@agentcli/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { planRules } from "../../src/sandbox/landlock/plan.ts";
import { launcherPath, probeLandlock } from "../../src/sandbox/landlock/probe.ts";
import { handledRights, rightsOf, ruleAttribute, rulesetAttribute } from "../../src/sandbox/landlock/rights.ts";
import { openSandbox } from "../../src/sandbox/launch.ts";
import { type PolicyOptions, sandboxPolicy } from "../../src/sandbox/policy.ts";
import { bash, exec, freshId, until } from "../support/commands.ts";
import { temporaryDirectory, toolEnv, withWorkspace } from "../support/locations.ts";
import { processesWith } from "../support/processes-alive.ts";
import { serverProgram } from "../support/server-program.ts";

let base = "";
beforeEach(() => {
  base = temporaryDirectory();
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

describe("rights", () => {
  test("are those that each kernel version knows", () => {
    expect([3, 4, 5, 7].map((version) => handledRights(version).toString(16))).toEqual([
      "7fff",
      "7fff",
      "ffff",
      "ffff",
    ]);
    expect(rightsOf("read", "directory", 7)).toBe(0b1101);
    expect(rightsOf("write", "directory", 7).toString(2)).toBe("111011110111111");
    expect(rightsOf("device", "file", 4).toString(16)).toBe("4006");
    expect(rightsOf("device", "file", 5).toString(16)).toBe("c006");
  });

  test("of files leave out what only directories have, or the kernel would refuse the rule", () => {
    expect(rightsOf("read", "file", 7)).toBe(0b101);
    expect(rightsOf("write", "file", 7).toString(2)).toBe("100000000000111");
  });

  test("are passed to the kernel in as many fields as its version has", () => {
    expect(rulesetAttribute(3, "off").toString("hex")).toBe("ff7f000000000000");
    expect(rulesetAttribute(4, "off").toString("hex")).toBe("ff7f0000000000000300000000000000");
    expect(rulesetAttribute(6, "on").toString("hex")).toBe("ffff00000000000000000000000000000300000000000000");
    expect(ruleAttribute(0b101, 7).toString("hex")).toBe("050000000000000007000000");
  });
});

describe("the rules of a policy", () => {
  const rulesOf = (choice: Omit<PolicyOptions, "root">) =>
    planRules(sandboxPolicy({ root: join(base, "w"), ...choice }), { temporary: "/var/tmp/t", euid: 1000 })
      .filter(({ path }) => path.startsWith(base) || path === "/var/tmp/t")
      .map(({ path, grant }) => `${grant} ${path.replace(base, "~")}`);

  test("allow reading everything next to a hidden path, name by name, but no links", () => {
    for (const path of ["w/keys", "w/sources", "w/deep/er", "w/deep/secret"])
      mkdirSync(join(base, path), { recursive: true });
    writeFileSync(join(base, "w/file"), "");
    symlinkSync(join(base, "w/keys"), join(base, "w/link"));
    const hidden = [join(base, "w/keys"), join(base, "w/deep/secret"), join(base, "w/missing")];
    expect(rulesOf({ mode: "read-only", hidden }).sort()).toEqual([
      "read ~/w/deep/er",
      "read ~/w/file",
      "read ~/w/sources",
      "write /var/tmp/t",
    ]);
  });

  test("allow writing where the policy does, and nowhere else", () => {
    for (const path of ["w", "more", "other"]) mkdirSync(join(base, path));
    expect(rulesOf({ mode: "workspace-write", writableRoots: [join(base, "more")] })).toEqual([
      "read ~/w",
      "write ~/w",
      "write ~/more",
      "write /var/tmp/t",
    ]);
  });

  test("allow reading shown paths inside a hidden directory", () => {
    mkdirSync(join(base, "w"));
    mkdirSync(join(base, "home/skills"), { recursive: true });
    const [hidden, shown] = [[join(base, "home")], [join(base, "home/skills")]];
    expect(rulesOf({ mode: "read-only", hidden, shown })).toEqual([
      "read ~/w",
      "read ~/home/skills",
      "write /var/tmp/t",
    ]);
  });

  test("do not open the machine's devices, terminals, run-time or temporary files", () => {
    mkdirSync(join(base, "w"));
    const policy = sandboxPolicy({ mode: "read-only", root: join(base, "w") });
    const paths = planRules(policy, { temporary: "/var/tmp/t", euid: 1000 }).map(({ path }) => path);
    expect(paths.filter((path) => path.startsWith("/dev"))).toEqual([
      "/dev/null",
      "/dev/zero",
      "/dev/full",
      "/dev/random",
      "/dev/urandom",
    ]);
    for (const path of ["/", "/tmp", "/run", "/dev"]) expect(paths).not.toContain(path);
    expect(paths).toContain("/usr");
  });

  test("cannot hide a path inside a writable directory, and throw", () => {
    mkdirSync(join(base, "w/keys"), { recursive: true });
    const hidden = [join(base, "w/keys")];
    expect(() => rulesOf({ mode: "workspace-write", hidden })).toThrow(`cannot hide ${base}/w/keys inside`);
    expect(() => rulesOf({ mode: "workspace-write", writableRoots: ["/nowhere"] })).toThrow("/nowhere does not exist");
  });

  test("are refused when there would be too many", () => {
    mkdirSync(join(base, "w/keys"), { recursive: true });
    for (let count = 0; count < 5000; count += 1) mkdirSync(join(base, `w/${count}`));
    expect(() => rulesOf({ mode: "read-only", hidden: [join(base, "w/keys")] })).toThrow(/would need \d+ rules/);
  });
});

const openUnder = async (choice: PolicyOptions) =>
  openSandbox(sandboxPolicy(choice), {
    serverProgram: await serverProgram(),
    env: toolEnv(),
    incarnation: `landlock-${process.pid}`,
    backEnd: { kind: "landlock", version: 7 },
  });
const writable = (root: string) => openUnder({ mode: "workspace-write", root });

describe("under Landlock", () => {
  test("commands and file tools write the workspace and a temporary directory that is gone at the end", () =>
    withWorkspace(writable, async (workspace, root) => {
      const output = await bash(workspace, 'echo "$TMPDIR"; echo x > "$TMPDIR/x" && echo y > y && cat "$TMPDIR/x" y');
      const [temporary = "", ...rest] = output.stdout.trim().split("\n");
      expect(rest).toEqual(["x", "y"]);
      await workspace.edit({ edits: [{ kind: "add", path: "z", content: "z\n" }] });
      const long = { id: freshId(), start: { argv: ["seq", "1", "1000"] }, fileAfterBytes: 100 };
      const { outputFile } = (await exec(workspace, long)).result as { outputFile: OutputFile };
      expect((await bash(workspace, `tail -1 ${outputFile.path}`)).stdout).toBe("1000\n");
      expect(outputFile.path.startsWith(temporary)).toBe(true);
      expect(readdirSync(root).sort()).toEqual(["y", "z"]);
      await workspace.close();
      expect(existsSync(temporary)).toBe(false);
    }));

  test("file tools have the same restrictions as commands", () =>
    withWorkspace(
      (root) => openUnder({ mode: "read-only", root, hidden: [join(base)] }),
      async (workspace, root) => {
        writeFileSync(join(base, "secret"), "secret");
        writeFileSync(join(root, "plain"), "plain");
        const read = { files: [join(base, "secret"), "plain"].map((path) => ({ path, as: "lines" as const })) };
        expect((await workspace.read(read)).files).toMatchObject([{ code: "denied" }, { lines: ["plain"] }]);
        const edit = await workspace.edit({ edits: [{ kind: "add", path: "new", content: "x\n" }] });
        expect(edit).toMatchObject({ kind: "refused" });
      },
    ));

  test("input, redirections and substitutions work as without it", () =>
    withWorkspace(writable, async (workspace) => {
      const script = "cat; echo e > /dev/stderr; cat <(echo s); echo n > /dev/null";
      const start = { argv: ["bash", "-c", script] };
      const output = await exec(workspace, { id: freshId(), start, input: "in\n", endInput: true });
      expect(output).toMatchObject({ stdout: "in\ns\n", stderr: "e\n" });
    }));

  test("a terminal is refused, and the message advises to run without one", () =>
    withWorkspace(writable, async (workspace) => {
      const { result } = await bash(workspace, "true", { terminal: { columns: 80, rows: 24 } });
      expect(result).toMatchObject({ state: "not-started", message: expect.stringContaining("Run it without one") });
    }));

  test("with the network on a server of the machine can be reached, with it off none can be opened", async () => {
    const server = createServer((socket) => socket.end("hallo"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const script = `cat < /dev/tcp/127.0.0.1/${port}`;
    await withWorkspace(
      (root) => openUnder({ mode: "workspace-write", root, network: "on" }),
      async (workspace) => expect((await bash(workspace, script)).stdout).toBe("hallo"),
    );
    await withWorkspace(writable, async (workspace) => {
      const output = await bash(
        workspace,
        `${script}; "${process.execPath}" -e 'require("net").createServer().listen(0)'`,
      );
      expect(output).toMatchObject({ stdout: "", stderr: expect.stringContaining("EAFNOSUPPORT") });
    });
    server.close();
  });

  test("processes end with the workspace", () =>
    withWorkspace(writable, async (workspace, root) => {
      const word = root.replaceAll("/", "-");
      await bash(workspace, `setsid sh -c 'sleep 300; : ${word}' & sh -c 'sleep 300; : ${word}' &`);
      await until(() => processesWith(word).length >= 2);
      await workspace.close();
      expect(processesWith(word)).toEqual([]);
    }));
});

describe("probing Landlock", () => {
  test("reports the version of this kernel", async () => {
    expect(await probeLandlock({ serverProgram: await serverProgram() })).toEqual({
      kind: "landlock",
      version: expect.any(Number),
    });
  });

  test("names the missing package and the command that installs it", async () => {
    copyFileSync(launcherPath(await serverProgram()), join(base, "landlock-launcher.cjs"));
    expect(await probeLandlock({ serverProgram: join(base, "workspace-server.cjs") })).toEqual({
      backEnd: "landlock",
      reason: `Landlock does not work here: the package @koromix/koffi-linux-${process.arch} is not installed.`,
      remedy: expect.stringContaining(`npm install @koromix/koffi-linux-${process.arch}`),
    });
  });

  test("names a missing launcher", async () => {
    const tried = await probeLandlock({ serverProgram: join(base, "workspace-server.cjs") });
    expect(tried).toMatchObject({ reason: expect.stringContaining(`${base}/landlock-launcher.cjs is missing`) });
    expect(dirname(launcherPath("/a/b"))).toBe("/a");
  });
});
