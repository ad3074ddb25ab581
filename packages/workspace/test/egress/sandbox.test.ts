// Commands in a real sandbox and the network: through the proxy to listed hosts, and nowhere else.
import { randomUUID } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Denial } from "../../src/egress/dial.ts";
import type { OpenedWorkspace } from "../../src/lifecycle/lazy.ts";
import { openSandbox } from "../../src/sandbox/launch.ts";
import { type PolicyOptions, sandboxPolicy } from "../../src/sandbox/policy.ts";
import { bash } from "../support/commands.ts";
import { temporaryDirectory, toolEnv } from "../support/locations.ts";
import { serverProgram } from "../support/server-program.ts";

let upstream: Server;
let other: Server;
const ports = { upstream: 0, other: 0 };
beforeAll(async () => {
  upstream = createServer((incoming, response) => response.end(`served ${incoming.url}`));
  other = createServer((_incoming, response) => response.end("never to be seen"));
  for (const [name, server] of Object.entries({ upstream, other })) {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    ports[name as keyof typeof ports] = (server.address() as { port: number }).port;
  }
});
afterAll(() => {
  for (const server of [upstream, other]) {
    server.closeAllConnections();
    server.close();
  }
});

let root = "";
let denials: Denial[] = [];
let workspace: OpenedWorkspace | undefined;
beforeEach(() => {
  root = temporaryDirectory();
  denials = [];
});
afterEach(async () => {
  await workspace?.close();
  workspace = undefined;
  rmSync(root, { recursive: true, force: true });
});

async function open(choice: Partial<PolicyOptions> = {}, env = toolEnv()): Promise<OpenedWorkspace> {
  const policy = sandboxPolicy({
    mode: "workspace-write",
    root,
    network: "proxy",
    allowedDomains: [`127.0.0.1:${ports.upstream}`, "allowed.invalid"],
    ...choice,
  });
  const options = { serverProgram: await serverProgram(), env, incarnation: randomUUID() };
  workspace = await openSandbox(policy, { ...options, onDenied: (denial) => void denials.push(denial) });
  return workspace;
}

/** Clients bypass the proxy for loopback names unless configured otherwise. */
const curl = "curl -sS --noproxy ''";

test("a listed server is reached through the proxy variables, over HTTP, CONNECT and SOCKS", async () => {
  const inside = await open();
  const url = `http://127.0.0.1:${ports.upstream}`;
  const output = await bash(
    inside,
    `${curl} ${url}/plain; echo; ${curl} -p ${url}/tunnel; echo; ${curl} -x socks5h://127.0.0.1:8081 ${url}/socks`,
  );
  expect(output).toMatchObject({ stdout: "served /plain\nserved /tunnel\nserved /socks", stderr: "" });
  expect(denials).toEqual([]);
});

test("a host that is not listed is refused by name and reported to the host process", async () => {
  const inside = await open();
  const output = await bash(
    inside,
    `${curl} -i http://127.0.0.1:${ports.other}/ | grep -v '^date'; ${curl} -p https://evil.example/; ${curl} http://allowed.invalid/`,
  );
  expect(output.stdout).toContain("x-proxy-error: blocked-by-allowlist");
  expect(output.stdout).toContain(
    `127.0.0.1:${ports.other} is not in allowed_domains (127.0.0.1:${ports.upstream}, allowed.invalid)`,
  );
  expect(output.stdout).not.toContain("never to be seen");
  expect(output.stderr).toMatch(/403/);
  expect(output.stdout).toContain("allowed.invalid:80 could not be reached");
  expect(denials).toMatchObject([
    { host: "127.0.0.1", port: ports.other, by: "allowlist" },
    { host: "evil.example", port: 443, by: "allowlist" },
  ]);
});

test("the note for a command that is refused without end names the first hosts, and how many more there were at least", async () => {
  const inside = await open();
  const many = await bash(inside, `${curl} -o /dev/null 'http://n[1-1010].evil.example/'`);
  expect(many.stderr).toMatch(
    /The network rules refused a connection of curl: n1\.evil\.example[\s\S]*n2\.evil\.example[\s\S]*n3\.evil\.example[\s\S]*\nAt least 997 more were refused\.\n$/,
  );
  expect(denials).toHaveLength(1010);
  const two = await bash(inside, `${curl} -o /dev/null 'http://m[1-5].evil.example/'`);
  expect(two.stderr).toMatch(/\n2 more were refused\.\n$/);
});

test("the proxy cannot be bypassed: no route, no names, no datagrams", async () => {
  const inside = await open();
  const output = await bash(
    inside,
    `env -u http_proxy -u HTTP_PROXY curl -sS --noproxy '*' http://127.0.0.1:${ports.upstream}/ 2>&1
     curl -sS --noproxy '*' --connect-timeout 5 http://1.1.1.1/ 2>&1
     getent hosts exfiltrated-data.example.com || echo no-name
     (echo data > /dev/udp/8.8.8.8/53) 2>&1
     ${process.execPath} -e 'require("dns").setServers(["8.8.8.8"]); require("dns").resolve("a.example.com", (e) => console.log(e.code))'`,
    { timeoutMs: 50_000 },
  );
  expect(output.stdout).toMatch(/Failed to connect to 127\.0\.0\.1|Could not connect to server/);
  expect(output.stdout).toMatch(/1\.1\.1\.1.*(unreachable|Couldn't connect|Failed to connect)/i);
  expect(output.stdout).toContain("no-name");
  expect(output.stdout).toMatch(/\/dev\/udp.*unreachable/i);
  expect(output.stdout).toMatch(/ECONNREFUSED|ETIMEOUT|ENETUNREACH|ESERVFAIL/);
});

test("servers started by commands are reached on loopback, without the proxy", async () => {
  const inside = await open();
  const serve = `${process.execPath} -e 'require("http").createServer((q, a) => a.end("mine")).listen(5000, "127.0.0.1", () => console.log("up"))'`;
  const output = await bash(
    inside,
    `${serve} > log & until grep -q up log 2>/dev/null; do :; done; curl -sS http://127.0.0.1:5000/; kill %1`,
  );
  expect(output.stdout).toBe("mine");
  expect(denials).toEqual([]);
});

test("a hundred connections at once are all served", async () => {
  const inside = await open();
  const urls = `http://127.0.0.1:${ports.upstream}/[1-100]`;
  const output = await bash(
    inside,
    `${curl} -Z --parallel-max 100 -o '#1.out' '${urls}' 2>err; cat *.out | grep -o 'served' | wc -l; rm -f *.out`,
  );
  expect(output.stdout.trim()).toBe("100");
});

test("the bridge is not passed on to commands", async () => {
  const inside = await open();
  const output = await bash(inside, "for f in /proc/$$/fd/*; do readlink $f; done | grep -c socket");
  expect(output.stdout).toBe("0\n");
});

test("a shell profile cannot override the proxy variables", async () => {
  mkdirSync(join(root, "home"));
  writeFileSync(join(root, "home/.bash_profile"), "export HTTP_PROXY=http://10.0.0.1:1 https_proxy=x NO_PROXY='*'\n");
  const inside = await open({}, { ...toolEnv(), HOME: join(root, "home") });
  const output = await bash(inside, 'echo "$HTTP_PROXY $https_proxy $NO_PROXY $ALL_PROXY"', {
    loginShell: "/bin/bash",
  });
  const proxy = "http://127.0.0.1:3128";
  expect(output.stdout).toBe(`${proxy} ${proxy} localhost,127.0.0.1,::1 ${proxy}\n`);
});

test("invalid domains are refused before a process is started", async () => {
  await expect(open({ allowedDomains: ["http://x"] })).rejects.toThrow('Invalid domain "http://x"');
});

test("a connection ends with the workspace", async () => {
  const closed = new Promise<void>((resolve) => {
    upstream.once("connection", (socket) => socket.once("close", () => resolve()));
  });
  const inside = await open();
  const id = randomUUID();
  const hold = `exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT 127.0.0.1:${ports.upstream} HTTP/1.1\\r\\n\\r\\n' >&3; head -1 <&3; sleep 100`;
  const chunks: string[] = [];
  const { promise: connected, resolve: onConnected } = withResolvers();
  const running = inside.exec(
    { id, start: { argv: ["bash", "-c", hold] } },
    (chunk) => {
      chunks.push(chunk.text);
      if (chunks.join("").includes("200")) onConnected();
    },
    new AbortController().signal,
  );
  running.catch(() => {});
  await connected;
  await inside.close();
  await closed;
});

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
