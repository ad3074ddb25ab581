// A small world to break out of: a workspace, secrets around it, servers to reach, a descriptor left open.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";

export const secret = "sesame-4711";

export interface Fixture {
  root: string;
  /** A second writable directory. */
  second: string;
  /** Readable, not writable. */
  outside: string;
  home: string;
  agentHome: string;
  port: number;
  abstractName: string;
  socketPath: string;
  /** Open for writing in the process that starts the sandbox. */
  descriptorFile: string;
  remove(): void;
}

/** Not under /tmp, which is private inside: what is merely not there proves nothing. */
export async function openFixture(descriptorFile: string): Promise<Fixture> {
  const base = realpathSync(mkdtempSync("/var/tmp/escapes-"));
  const at = (...names: string[]) => join(base, ...names);
  for (const path of [
    "root/.git",
    "root/.agentcli",
    "root/hidden-inside",
    "second/.git",
    "outside",
    "home/.ssh",
    "agent",
  ]) {
    mkdirSync(at(path), { recursive: true });
  }
  for (const path of ["root/.git/config", "second/.git/config"]) writeFileSync(at(path), "original");
  for (const path of [
    "home/.ssh/id",
    "home/.netrc",
    "agent/auth.json",
    "root/hidden-inside/file",
    "outside/readable",
  ]) {
    writeFileSync(at(path), secret);
  }
  const servers: Server[] = [];
  const listen = (where: { port: number; host: string } | { path: string }) =>
    new Promise<Server>((resolve) => {
      const server = createServer((socket) => socket.end(secret));
      servers.push(server);
      server.listen(where, () => resolve(server));
    });
  const address = (await listen({ port: 0, host: "127.0.0.1" })).address();
  const abstractName = `\0escape-${process.pid}`;
  await listen({ path: abstractName });
  await listen({ path: at("outside/socket") });
  return {
    root: at("root"),
    second: at("second"),
    outside: at("outside"),
    home: at("home"),
    agentHome: at("agent"),
    port: typeof address === "object" && address !== null ? address.port : 0,
    abstractName,
    socketPath: at("outside/socket"),
    descriptorFile,
    remove() {
      for (const server of servers) server.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
}
