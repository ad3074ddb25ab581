// A secret that is bound to a host: the host gets the value, and the machine of the agent has a placeholder and nothing else.
import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { open, readFile, readlink } from "node:fs/promises";
import { createServer as createPlain } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { join } from "node:path";
import { call, replyWith } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { openLog } from "../../src/foundation/telemetry/index.ts";
import { findLeaks } from "../harness/leaks.ts";
import { openRunHarness } from "../runs/run-harness.ts";

const value = "ghp_Zr81ypQ0cKm4LtXw9BvN2sHd7fGj5aTe";
const fixture = (name: string) => realpathSync(join(import.meta.dirname, "../../../../e2e/platform/fixtures", name));

async function listen(server: Server & { closeAllConnections(): void }): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

interface Found {
  withPlaceholder: Set<string>;
  withValue: Set<string>;
}

/** Reads the memory of every process in a sandbox: this process and the platform in it are in none. */
async function searchProcesses(placeholder: string): Promise<Found> {
  const found: Found = { withPlaceholder: new Set(), withValue: new Set() };
  const namespaceOf = (pid: string) => readlink(`/proc/${pid}/ns/pid`).catch(() => null);
  const own = await namespaceOf("self");
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    if ([own, null].includes(await namespaceOf(pid))) continue;
    for await (const part of memoryOf(pid)) {
      if (part.includes(placeholder)) found.withPlaceholder.add(pid);
      if (part.includes(value)) found.withValue.add(pid);
    }
  }
  return found;
}

async function* memoryOf(pid: string): AsyncGenerator<Buffer> {
  const maps = (await readFile(`/proc/${pid}/maps`, "utf8").catch(() => "")).split("\n");
  const memory = await open(`/proc/${pid}/mem`).catch(() => null);
  for (const line of memory === null ? [] : maps) {
    const [, from = "0", to = "0"] = /^(\w+)-(\w+) rw/.exec(line) ?? [];
    const [start, size] = [Number.parseInt(from, 16), Number.parseInt(to, 16) - Number.parseInt(from, 16)];
    const read = await memory?.read(Buffer.alloc(size), 0, size, start).catch(() => null);
    if (read) yield read.buffer.subarray(0, read.bytesRead);
  }
  await memory?.close();
}

test("the host that a secret is bound to gets the value; no process, file, other host, record or log of the run has it", async () => {
  const received: string[] = [];
  let found: Found = { withPlaceholder: new Set(), withValue: new Set() };
  const seen: string[] = [];
  const api = createServer(
    { key: readFileSync(fixture("tls-key.pem")), cert: readFileSync(fixture("tls-cert.pem")) },
    async (request, response) => {
      const { authorization = "" } = request.headers;
      received.push(authorization);
      // While the program waits for the answer.
      if (request.url === "/slow") found = await searchProcesses(seen.at(-1) ?? "");
      const isRight = authorization === `Bearer ${value}`;
      response.writeHead(isRight ? 200 : 401, { "x-echo": authorization });
      response.end(isRight ? `welcome, ${authorization}` : "who are you?");
    },
  );
  const other = createPlain((request, response) => {
    seen.push((request.headers.authorization ?? "").replace("Bearer ", ""));
    response.end("noted");
  });
  const [port, otherPort] = [await listen(api), await listen(other)];
  const bearer = '-H "Authorization: Bearer $TOKEN"';
  const replies = [
    call("exec_command", { cmd: `curl -sS --noproxy '' ${bearer} http://127.0.0.1:${otherPort}/` }),
    call("exec_command", { cmd: `curl -sSi --noproxy '' ${bearer} https://localhost:${port}/slow` }),
    call("exec_command", {
      cmd: `curl -sS --noproxy '' -u "x:$TOKEN" https://localhost:${port}/basic; env; grep -rl ghp_ / 2> /dev/null`,
    }),
    call("exec_command", {
      cmd: `curl -sS --noproxy '' --proxy socks5h://127.0.0.1:8081 ${bearer} https://localhost:${port}/socks`,
    }),
    replyWith("Done."),
  ];
  const logged: string[] = [];
  const log = openLog({ write: (line) => logged.push(line), now: () => new Date() });
  const variables = { PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: fixture("tls-cert.pem") };
  const { client, requests, fixture: platform } = await openRunHarness({ replies, settings: { variables } }, log);
  const allowlist = [`localhost:${port}`, `127.0.0.1:${port}`, `127.0.0.1:${otherPort}`];
  await client.send("PATCH", "/v1/team/settings", { egress: { mode: "allowlist_only", allowlist, locked: true } });
  const set = await client.send("PUT", "/v1/team/secrets/TOKEN", { value, hosts: [`localhost:${port}`] });
  expect(JSON.parse(set.text)).toMatchObject({ hosts: [`localhost:${port}`], uses: ["bearer", "basic"] });
  const ids = await client.create({ prompt: { text: "go" } });
  const shown = await client.streamText(ids);
  const sent = JSON.stringify(requests().map(({ body }) => body));

  const [placeholder = ""] = seen;
  expect(placeholder).toMatch(/^ghp_\w{32}$/);
  expect(placeholder).not.toBe(value);
  expect(received).toEqual([
    `Bearer ${value}`,
    `Basic ${Buffer.from(`x:${value}`).toString("base64")}`,
    `Bearer ${value}`,
  ]);
  // The program that sends it, and the server of the sandbox that starts programs.
  expect(found.withPlaceholder.size).toBeGreaterThan(1);
  expect([...found.withValue]).toEqual([]);
  expect(sent).toContain(`welcome, Bearer ${placeholder}`);
  expect(sent).toContain(`TOKEN=${placeholder}`);
  for (const text of [shown, sent, logged.join("\n")]) expect(text).not.toContain(value);
  expect(await findLeaks({ ...platform, key: async () => platform.key }, logged, [value])).toEqual([]);
});
