// A Docker daemon of its own for tests: its files in a temporary directory, root of its containers mapped to other users, and
// no network.
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { eventually } from "../eventually.ts";

export interface DockerDaemon {
  socketPath: string;
  /** Names of its containers. */
  containers(): Promise<string[]>;
  stop(): Promise<void>;
}

const firstId = 300_000;
const installLine = "sudo apt-get install -y --no-install-recommends docker.io";

/** Needs root, and dockerd. `mapped: false`: root of its containers is that of the host. */
export async function startDockerDaemon({ mapped = true } = {}): Promise<DockerDaemon> {
  const directory = mkdtempSync("/var/tmp/docker-");
  // Root of its containers must be able to enter it.
  chmodSync(directory, 0o711);
  const socketPath = join(directory, "socket");
  writeFileSync(join(directory, "ids"), `daemon:${firstId}:65536\n`);
  const child = spawn(
    "unshare",
    ["--mount", "--net", "--", "/bin/sh", "-c", script, "docker", directory, mapped ? "daemon:daemon" : ""],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  const log = tailOf(child);
  let ended = false;
  const end = new Promise<void>((resolve) => child.once("close", () => resolve())).then(() => {
    ended = true;
  });
  await eventually(async () => ended || (await ask(socketPath, "/_ping")) === "OK");
  if (ended) throw new Error(`dockerd ended. Is it installed (${installLine})? ${log()}`);
  return {
    socketPath,
    async containers() {
      const found = JSON.parse(await ask(socketPath, "/containers/json?all=true")) as { Names: string[] }[];
      return found.flatMap(({ Names }) => Names);
    },
    async stop() {
      process.kill(Number(readFileSync(join(directory, "pid"), "utf8")), "SIGTERM");
      await end;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** The lists of ids are those of the host: covered, not changed. */
const script = [
  'mount --bind "$1/ids" /etc/subuid; mount --bind "$1/ids" /etc/subgid',
  'exec dockerd --data-root "$1/data" --exec-root "$1/run" --pidfile "$1/pid" --host "unix://$1/socket" --iptables=false --bridge=none --storage-driver=overlay2 --default-ulimit nofile=20000:20000 ${2:+--userns-remap="$2"}',
].join("\n");

function tailOf(child: ChildProcess): () => string {
  let text = "";
  child.stderr?.on("data", (data: Buffer) => {
    text = (text + data).slice(-2000);
  });
  return () => text;
}

/** The answer; empty while nothing listens. */
function ask(socketPath: string, path: string): Promise<string> {
  return new Promise((resolve) => {
    const sent = request({ socketPath, path }, (response) => {
      let text = "";
      response.on("data", (data: Buffer) => {
        text += data;
      });
      response.on("end", () => resolve(text));
    });
    sent.on("error", () => resolve(""));
    sent.end();
  });
}
