// A container engine for tests: dockerd of Debian's package docker.io, with a network, files and a socket of its own.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "@agentcli/testkit";
import { requirePrograms, run } from "./base.ts";

export interface Engine {
  docker(...args: string[]): string;
  compose(files: string[], ...args: string[]): string;
  /** Runs a program of this machine in the network of the engine, where published ports are. */
  inNetwork(program: string, ...args: string[]): string;
  stop(): Promise<void>;
}

export async function startEngine(directory: string): Promise<Engine> {
  requirePrograms({ dockerd: "docker.io", "docker-compose": "docker-compose" });
  mkdirSync(directory, { recursive: true });
  const host = `unix://${join(directory, "docker.sock")}`;
  const paths = ["data-root", "exec-root", "pidfile"].flatMap((name) => [`--${name}`, join(directory, name)]);
  const daemon = ["dockerd", "--host", host, ...paths, "--default-ulimit", "nofile=20000:20000"];
  const script = 'ip link set lo up && mount -t tmpfs none /run/containerd 2>/dev/null; exec "$@"';
  const child = spawn("unshare", ["--net", "--mount", "sh", "-c", script, "sh", ...daemon], { stdio: "ignore" });
  const exited = once(child, "exit");
  process.env.DOCKER_HOST = host;
  const docker = (...args: string[]) => run("docker", args);
  await eventually(async () => isUp(docker, child));
  return {
    docker,
    compose: (files, ...args) => run("docker-compose", [...files.flatMap((file) => ["--file", file]), ...args]),
    inNetwork: (program, ...args) => run("nsenter", ["--net", `--target=${child.pid}`, program, ...args]),
    async stop() {
      child.kill("SIGTERM");
      await exited;
      delete process.env.DOCKER_HOST;
    },
  };
}

function isUp(docker: Engine["docker"], child: ChildProcess): boolean {
  if (child.exitCode !== null) throw new Error(`dockerd ended with ${child.exitCode}.`);
  try {
    docker("info");
    return true;
  } catch {
    return false; // Not listening yet.
  }
}
