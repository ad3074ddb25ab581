// A machine for tests: Debian with its own systemd, users and network, started by systemd-nspawn. Other machines are reached
// through pasta, and nothing of it is reached from outside. Needs root.
import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { eventually } from "@agentcli/testkit";
import { installQuickly, requirePrograms } from "./base.ts";

const run = promisify(execFile);

export interface Machine {
  root: string;
  /** Runs a command line as root in the machine; its standard output and standard error. Questions are answered with yes. */
  execute(line: string): Promise<string>;
  /** Starts a program of the computer that tests run on in the network of the machine. */
  startBeside(program: string, args: string[]): ChildProcess;
  stop(): Promise<void>;
}

const suite = "bookworm";
const basis = ["systemd", "systemd-sysv", "dbus", "ca-certificates", "procps"];

/** In an empty directory, which becomes free again with `stop`. */
export async function startMachine(directory: string): Promise<Machine> {
  requirePrograms({ debootstrap: "debootstrap", "systemd-nspawn": "systemd-container", pasta: "passt" });
  const root = join(directory, "root");
  await run("debootstrap", ["--variant=minbase", `--include=${basis.join(",")}`, suite, root]);
  prepare(root);
  const network = join(directory, "network");
  const started = [await openNetwork(network)];
  const enter = ["nsenter", `--net=${network}`];
  const startBeside: Machine["startBeside"] = (program, args) => {
    const child = spawn(enter[0] ?? "", [...enter.slice(1), program, ...args], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    started.push(child);
    return child;
  };
  const flags = ["--boot", "--quiet", "--register=no", "--keep-unit", "--resolv-conf=off", "--console=pipe"];
  // What it keeps in /run is gone with it.
  const isolated = ["--mount", "sh", "-c", 'mount -t tmpfs none /run && exec "$@"', "sh"];
  const machine = startBeside("unshare", [...isolated, "systemd-nspawn", "--directory", root, ...flags]);
  machine.stdout?.resume();
  const init = await eventually(() => findInit(machine));
  const execute: Machine["execute"] = (line) => executeIn(init, line);
  await eventually(async () => /running|degraded/.test(await execute("systemctl is-system-running || true")));
  return {
    root,
    execute,
    startBeside,
    async stop() {
      await execute("systemctl poweroff").catch(() => ""); // The connection ends with the machine.
      await exited(machine);
      for (const child of started) child.kill("SIGKILL");
      await Promise.all(started.map(exited));
      await run("umount", ["--lazy", network]);
    },
  };
}

const exited = async (child: ChildProcess) => {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
};

/** Certificates of this computer, where a proxy of its network has one of its own; its name server. */
function prepare(root: string): void {
  const certificates = process.env.MACHINE_CA_CERTS ?? process.env.NODE_EXTRA_CA_CERTS;
  if (certificates && existsSync(certificates)) {
    cpSync(certificates, join(root, "usr/local/share/host-certificates.pem"));
    writeFileSync(join(root, "root/.npmrc"), "cafile=/usr/local/share/host-certificates.pem\n");
  }
  cpSync("/etc/resolv.conf", join(root, "etc/resolv.conf"), { dereference: true });
  writeFileSync(join(root, "etc/hostname"), "machine\n");
  writeFileSync(join(root, "etc/hosts"), "127.0.0.1 localhost machine\n");
  installQuickly(root);
}

/** A network of its own, kept by the file; connections to other machines go out through this process of the computer. */
async function openNetwork(file: string): Promise<ChildProcess> {
  writeFileSync(file, "");
  execFileSync("unshare", [`--net=${file}`, "true"]);
  const closed = ["--tcp-ports", "none", "--udp-ports", "none", "--tcp-ns", "none", "--udp-ns", "none"];
  const flags = ["--foreground", "--quiet", "--config-net", "--runas", "0", ...closed, "--netns-only", "--netns", file];
  const child = spawn("pasta", flags, { stdio: "ignore" });
  await eventually(async () => (await run("nsenter", [`--net=${file}`, "ip", "route"])).stdout.includes("default"));
  return child;
}

/** The first process of the machine, as this computer numbers it. */
async function findInit(machine: ChildProcess): Promise<string> {
  if (machine.exitCode !== null) throw new Error(`systemd-nspawn ended with ${machine.exitCode}.`);
  return (await run("pgrep", ["--parent", String(machine.pid)])).stdout.trim();
}

async function executeIn(init: string, line: string): Promise<string> {
  const enter = ["-t", init, "--mount", "--uts", "--ipc", "--pid", "--net", "--cgroup"];
  const path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  const variables = ["env", "-i", path, "HOME=/root", "LANG=C.UTF-8", "DEBIAN_FRONTEND=noninteractive"];
  const child = run("nsenter", [...enter, ...variables, "bash", "-c", line], { maxBuffer: 1 << 26 });
  child.child.stdin?.on("error", () => {}); // It asked less than it was answered.
  child.child.stdin?.end("y\n".repeat(10));
  const { stdout, stderr } = await child;
  return `${stdout}${stderr}`;
}
