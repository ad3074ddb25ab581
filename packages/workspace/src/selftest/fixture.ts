// The fixture of the selftest: a workspace, secrets around it, servers to reach, an open descriptor.
import { randomBytes } from "node:crypto";
import { createSocket } from "node:dgram";
import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { identifyPeer } from "../sandbox/index.ts";

export interface EscapeFixture {
  secret: string;
  /** A word nothing else on the machine carries. */
  word: string;
  root: string;
  /** What a hook runs, inside the root. */
  hookScript: string;
  /** More writable directories; the second is a linked working tree of the repository `linked` in the root. */
  second: string;
  tree: string;
  /** Readable, not writable. */
  outside: string;
  home: string;
  agentHome: string;
  /** The process that started the sandbox. */
  hostPid: number;
  /** Open for writing in that process. */
  descriptorFile: string;
  port: number;
  /** Answers unconfined processes only, as the app server does. */
  guardedPort: number;
  datagrams: { port: number; received: string[] };
  abstractName: string;
  /** Like those of an agent for keys, and of a container engine. */
  agentSocket: string;
  engineSocket: string;
  remove(): void;
}

export interface FixtureOptions {
  /** The test suite puts it into the environment of the host. */
  secret?: string;
  descriptorFile?: string;
}

export async function openFixture({
  secret = randomBytes(12).toString("hex"),
  descriptorFile,
}: FixtureOptions): Promise<EscapeFixture> {
  // Not under /tmp, which is private inside: what is merely not there proves nothing.
  const base = realpathSync(mkdtempSync("/var/tmp/agent-selftest-"));
  const at = (...names: string[]) => join(base, ...names);
  const marker = mkdtempSync(join(tmpdir(), "agent-selftest-marker-"));
  makeFiles(base, secret);
  const servers = openServers(secret);
  const abstractName = `\0agent-selftest-${process.pid}-${randomBytes(4).toString("hex")}`;
  const { port } = await servers.listen({ port: 0, host: "127.0.0.1" });
  const { port: guardedPort } = await servers.listen({ port: 0, host: "127.0.0.1" }, isUnconfined);
  for (const path of [abstractName, at("home/agent.sock"), at("outside/engine.sock")]) await servers.listen({ path });
  const datagrams = await servers.receive();
  return {
    secret,
    word: `word-${randomBytes(8).toString("hex")}`,
    root: at("root"),
    hookScript: at("root/tools/deep/hook.sh"),
    second: at("second"),
    tree: at("tree"),
    outside: at("outside"),
    home: at("home"),
    agentHome: at("agent"),
    hostPid: process.pid,
    descriptorFile: descriptorFile ?? at("outside/descriptor"),
    port,
    guardedPort,
    datagrams,
    abstractName,
    agentSocket: at("home/agent.sock"),
    engineSocket: at("outside/engine.sock"),
    remove() {
      servers.close();
      for (const path of [base, marker]) rmSync(path, { recursive: true, force: true });
    },
  };
}

const repository = { HEAD: "ref: refs/heads/main\n", config: "original", "hooks/kept": "original" };

function makeFiles(base: string, secret: string): void {
  const linked = join(base, "root/linked");
  const files: Record<string, string> = {
    ...inDirectory("root/.git", repository),
    ...inDirectory("second/.git", repository),
    ...inDirectory("root/linked", repository),
    ...inDirectory("root/below/nested/.git", repository),
    "root/linked/worktrees/tree/HEAD": "ref: refs/heads/tree\n",
    "root/linked/worktrees/tree/commondir": "../..\n",
    "tree/.git": `gitdir: ${linked}/worktrees/tree\n`,
    "root/.agentcli/config.toml": "original",
    "root/tools/deep/hook.sh": "original",
    "root/tools/deep/other.sh": "original",
    "root/hidden-inside/file": secret,
    "root/directory/file": "inside",
    "home/.ssh/id": secret,
    "home/.netrc": secret,
    "agent/auth.json": secret,
    "outside/readable": "original",
    "outside/linked-before": "original",
    "outside/descriptor": "",
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(base, name)), { recursive: true });
    writeFileSync(join(base, name), text);
  }
  linkSync(join(base, "outside/linked-before"), join(base, "root/linked-before"));
}

const inDirectory = (directory: string, files: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [`${directory}/${name}`, text]));

/** Servers of the machine that answer with the secret, and one that records what it receives. */
function openServers(secret: string) {
  const servers: Server[] = [];
  const socket = createSocket("udp4");
  return {
    async listen(
      where: { port: number; host: string } | { path: string },
      admits: (connection: Socket) => Promise<boolean> = async () => true,
    ): Promise<{ port: number }> {
      const server = createServer(async (connection) => {
        connection.on("error", () => {});
        connection.end((await admits(connection)) ? secret : "");
      });
      servers.push(server);
      await new Promise<void>((resolve) => server.listen(where, resolve));
      const address = server.address();
      return { port: typeof address === "object" && address !== null ? address.port : 0 };
    },
    async receive(): Promise<EscapeFixture["datagrams"]> {
      const received: string[] = [];
      socket.on("message", (message) => received.push(message.toString()));
      await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
      return { port: socket.address().port, received };
    },
    close() {
      socket.close();
      for (const server of servers) server.close();
    },
  };
}

const isUnconfined = async (connection: Socket) => (await identifyPeer(connection)) === "unconfined";
