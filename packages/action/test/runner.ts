// A runner for composite actions: the steps of action.yml as a user of a scratch root with its own users and sudoers.
// Needs root. Programs come from this machine; /etc, /home and everything that is written are the scratch root's.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ProcessResult, temporaryDirectory, waitForExit } from "@agentcli/testkit";
import { onTestFinished } from "vitest";
import { parse } from "yaml";

const project = fileURLToPath(new URL("../../..", import.meta.url));
const ids = { runner: 1001, agent: 1002 };

interface Step {
  id?: string;
  name: string;
  if?: string;
  run: string;
  env?: Record<string, string>;
}

interface Action {
  inputs: Record<string, { default?: string }>;
  outputs: Record<string, { value: string }>;
  runs: { steps: Step[] };
}

export interface Runner {
  root: string;
  /** Runs a command as a user of the scratch root. */
  shell(script: string, user?: keyof typeof ids, env?: Record<string, string>): Promise<ProcessResult>;
  /** Runs the action with these inputs; its outputs, its log and whether every step succeeded. */
  use(inputs: Record<string, string>, env: Record<string, string>): Promise<ActionResult>;
}

export interface ActionResult {
  outputs: Record<string, string>;
  log: string;
  summary: string;
  ok: boolean;
}

/** `node`: a directory with `bin/node` and `bin/npm`. */
export async function openRunner(node = nodePrefix()): Promise<Runner> {
  const { path: root, remove } = await temporaryDirectory();
  fillRoot(root);
  const holder = spawn("unshare", ["--mount", "--propagation", "private", "sh", "-ec", mounts, "sh", root, node], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(async () => {
    holder.stdin.end();
    await new Promise((resolve) => holder.once("close", resolve));
    await remove();
  });
  await new Promise((resolve, reject) => {
    holder.stdout.once("data", resolve);
    holder.once("exit", () => reject(new Error("The scratch root could not be set up.")));
  });
  const start = (script: string, user: keyof typeof ids, env: Record<string, string>): ChildProcess => {
    const id = String(ids[user]);
    const lowered = ["setpriv", "--reuid", id, "--regid", id, "--init-groups", "--inh-caps=-all"];
    // Runners may write core files of any size.
    const command = ["nsenter", "-t", String(holder.pid), "-m", "--", ...lowered, "bash", "-e", "-c"];
    const words = ["--core=unlimited:unlimited", ...command, `cd /home/runner/work\n${script}`];
    return spawn("prlimit", words, { env: { ...base(user), ...env }, stdio: ["ignore", "pipe", "pipe"] });
  };
  const shell: Runner["shell"] = (script, user = "runner", env = {}) => waitForExit(start(script, user, env));
  return { root, shell, use: (inputs, env) => useAction({ root, shell }, inputs, env) };
}

const base = (user: string): Record<string, string> => ({
  PATH: "/opt/node/bin:/usr/bin:/bin",
  HOME: `/home/${user}`,
  LANG: "C.UTF-8",
  npm_config_offline: "true",
});

const nodePrefix = (): string => join(dirname(process.execPath), "..");

// pivot_root, not chroot: in a chroot no sandbox can be opened. Settings of this machine's kernel stay as they are.
const mounts = `root=$1; mount --bind "$root" "$root"
for name in usr bin sbin lib lib64; do [ -e "/$name" ] && { mkdir -p "$root/$name"; mount --rbind "/$name" "$root/$name"; }; done
mkdir -p "$root/opt/node" "$root/old"; mount --rbind "$2" "$root/opt/node"
mount --rbind /dev "$root/dev"; mount -t proc proc "$root/proc"; mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,ro,bind "$root/proc/sys"
cd "$root"; pivot_root . old; umount -l /old; echo ready; exec cat`;

function fillRoot(root: string): void {
  const write = (path: string, text: string, mode = 0o644) => writeFileSync(join(root, path), text, { mode });
  for (const path of [
    "etc/sudoers.d",
    "etc/pam.d",
    "home/runner/work",
    "home/runner/temp",
    "home/agent",
    "proc",
    "dev",
    "run",
    "var/log",
    "opt",
  ])
    mkdirSync(join(root, path), { recursive: true });
  for (const path of ["tmp", "var/tmp"]) spawnSync("install", ["-d", "-m", "1777", join(root, path)]);
  for (const path of ["etc/ld.so.cache", "etc/ld.so.conf", "etc/nsswitch.conf", "etc/resolv.conf", "etc/alternatives"])
    spawnSync("cp", ["-aL", `/${path}`, join(root, path)]);
  const users = Object.entries(ids).map(([name, id]) => `${name}:x:${id}:${id}::/home/${name}:/bin/bash`);
  write("etc/passwd", ["root:x:0:0:root:/root:/bin/bash", ...users, ""].join("\n"));
  write(
    "etc/group",
    ["root:x:0:", "sudo:x:27:runner,other", "docker:x:998:runner", "runner:x:1001:", "agent:x:1002:", ""].join("\n"),
  );
  write("etc/shadow", ["root:*:19000::::::", "runner:*:19000::::::", "agent:*:19000::::::", ""].join("\n"), 0o640);
  write("etc/hosts", "127.0.0.1 localhost\n10.1.2.3 build.internal\n");
  for (const name of ["sudo", "other"])
    write(
      `etc/pam.d/${name}`,
      "auth required pam_permit.so\naccount required pam_permit.so\nsession required pam_permit.so\n",
    );
  write(
    "etc/sudoers",
    "Defaults env_reset\nDefaults secure_path=/usr/sbin:/usr/bin:/sbin:/bin\nroot ALL=(ALL:ALL) ALL\n%sudo ALL=(ALL:ALL) NOPASSWD: ALL\n@includedir /etc/sudoers.d\n",
    0o440,
  );
  write("etc/sudoers.d/runner", "runner ALL=(ALL) NOPASSWD:ALL\n", 0o440);
  spawnSync("chmod", ["755", root]);
  for (const [name, id] of Object.entries(ids)) spawnSync("chown", ["-R", `${id}:${id}`, join(root, "home", name)]);
  for (const file of ["action.yml", "packages/action/clean-path.sh", "packages/action/dist"])
    cpSync(join(project, file), join(root, "opt/action", file), { recursive: true });
  packCli(join(root, "opt"));
}

/** With the packages that it needs inside, so that npm installs it without a network. */
function packCli(folder: string): void {
  const draft = join(folder, "draft");
  mkdirSync(draft);
  const { name, version, bin } = JSON.parse(readFileSync(join(project, "packages/cli/package.json"), "utf8"));
  for (const part of ["bin", "dist"])
    cpSync(join(project, "packages/cli", part), join(draft, part), { recursive: true });
  const needed = ["@koromix/koffi-linux-x64", "@lydell/node-pty", "@lydell/node-pty-linux-x64"];
  for (const each of needed)
    cpSync(join(project, "node_modules", each), join(draft, "node_modules", each), { recursive: true });
  const dependencies = Object.fromEntries(needed.map((each) => [each, "*"]));
  writeFileSync(
    join(draft, "package.json"),
    JSON.stringify({ name, version, bin, dependencies, bundleDependencies: needed }),
  );
  const { status, stderr } = spawnSync("npm", ["pack", "--silent", "--pack-destination", folder], {
    cwd: draft,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`npm pack failed: ${stderr}`);
  spawnSync("mv", [join(folder, `${name}-${version}.tgz`), join(folder, "agentcli.tgz")]);
  spawnSync("rm", ["-rf", draft]);
}

async function useAction(
  { root, shell }: Pick<Runner, "root" | "shell">,
  inputs: Record<string, string>,
  env: Record<string, string>,
): Promise<ActionResult> {
  const action: Action = parse(readFileSync(join(root, "opt/action/action.yml"), "utf8"));
  const defaults = Object.fromEntries(
    Object.entries(action.inputs).map(([name, input]) => [name, input.default ?? ""]),
  );
  const context: ExpressionContext = {
    inputs: { ...defaults, ...inputs },
    steps: {},
    github: { action_path: "/opt/action", token: env.GITHUB_TOKEN ?? "" },
  };
  let [ok, log] = [true, ""];
  const temp = "/home/runner/temp";
  for (const [index, step] of action.runs.steps.entries()) {
    if (!ok && !step.if?.includes("always()")) continue;
    const output = join(root, temp, `output-${index}`);
    spawnSync("install", ["-o", "1001", "-m", "600", "/dev/null", output]);
    const values = Object.fromEntries(
      Object.entries(step.env ?? {}).map(([name, text]) => [name, resolve(text, context)]),
    );
    const files = {
      GITHUB_OUTPUT: `${temp}/output-${index}`,
      GITHUB_STEP_SUMMARY: `${temp}/summary.md`,
      RUNNER_TEMP: temp,
    };
    const result = await shell(step.run, "runner", {
      ...env,
      GITHUB_WORKSPACE: "/home/runner/work",
      ...files,
      ...values,
    });
    log += `${step.name}\n${result.stdout}${result.stderr}`;
    ok &&= result.code === 0;
    if (step.id) context.steps[step.id] = readOutputs(readFileSync(output, "utf8"));
  }
  const outputs = Object.entries(action.outputs).map(([name, { value }]) => [name, resolve(value, context)]);
  const summary = await shell(`cat ${temp}/summary.md || true`);
  return { outputs: Object.fromEntries(outputs), log, summary: summary.stdout, ok };
}

interface ExpressionContext {
  inputs: Record<string, string>;
  github: Record<string, string>;
  steps: Record<string, Record<string, string>>;
}

/** The expressions that action.yml uses; any other one is a mistake in it. */
function resolve(text: string, { inputs, github, steps }: ExpressionContext): string {
  return text.replace(/\$\{\{ (\w+)\.([\w-]+)(?:\.outputs\.([\w-]+))? \}\}/g, (expression, scope, name, output) => {
    const value =
      scope === "steps" ? (steps[name]?.[output] ?? "") : { inputs, github }[scope as "inputs" | "github"]?.[name];
    if (value === undefined) throw new Error(`action.yml uses ${expression}, which does not exist.`);
    return value;
  });
}

const readOutputs = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/^(.+)<<(ghadelimiter_\S+)\n([\s\S]*?)\n\2$/gm)].map(([, name, , value]) => [name, value]),
  );
