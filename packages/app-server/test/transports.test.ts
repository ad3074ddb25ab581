import { spawn } from "node:child_process";
import { createHash, createHmac } from "node:crypto";
import { once } from "node:events";
import { chmodSync, existsSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { type ClientOptions, WebSocket } from "ws";
import { openAgent } from "../../cli/src/app-server/agent.ts";
import type { Methods } from "../src/method.ts";
import { openServer } from "../src/server.ts";
import { type Access, readAccess } from "../src/transports/access.ts";
import { type Address, parseAddress } from "../src/transports/address.ts";
import { serveStdio } from "../src/transports/stdio.ts";
import { serveWebSocket } from "../src/transports/websocket.ts";
import { introduction, invocationOf, listener, partOf, testProgram } from "./harness.ts";

const emptyPage = { data: [], nextCursor: null };
const models: Methods = { "model/list": () => emptyPage };

interface Served {
  where: string;
  stop(): Promise<void>;
}

async function serveOn(
  address: Extract<Address, { kind: "tcp" | "unix" }>,
  options: { access?: Access; methods?: Methods } = {},
): Promise<Served> {
  const stop = new AbortController();
  const program = testProgram(stop.signal);
  const server = openServer(program, openAgent(invocationOf(), program), [partOf(options.methods ?? models)]);
  let served: Promise<void> = Promise.resolve();
  const where = await new Promise<string>((onListening, reject) => {
    served = serveWebSocket(server, { address, access: options.access ?? null, onListening, signal: stop.signal });
    served.catch(reject);
  });
  const end = async () => {
    stop.abort();
    await served.finally(() => server.close());
  };
  onTestFinished(end);
  return { where, stop: end };
}

const loopback = { kind: "tcp", host: "127.0.0.1", port: 0 } as const;

function dial(url: string, options: ClientOptions = {}) {
  const socket = new WebSocket(url.startsWith("unix://") ? `ws+unix:${url.slice("unix://".length)}:/` : url, options);
  const seat = listener();
  socket.on("message", (data) => seat.take(String(data)));
  onTestFinished(() => socket.terminate());
  return { ...seat, socket, send: (message: object) => socket.send(JSON.stringify(message)) };
}

/** Status and text of an upgrade that is refused. */
function refusedUpgrade(url: string, headers: Record<string, string>): Promise<{ status?: number; text: string }> {
  const socket = new WebSocket(url, { headers });
  socket.on("error", () => {});
  return new Promise((resolve) => {
    socket.on("unexpected-response", (_, response) => {
      response.setEncoding("utf8");
      let text = "";
      response.on("data", (piece: string) => {
        text += piece;
      });
      response.on("end", () => resolve({ status: response.statusCode, text: text.trim() }));
    });
    socket.on("open", () => resolve({ status: 101, text: "" }));
  });
}

function get(url: string, headers: Record<string, string> = {}): Promise<{ status?: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(url.replace(/^ws/, "http"), { headers }, (response) => {
      let text = "";
      response.on("data", (piece) => {
        text += piece;
      });
      response.on("end", () => resolve({ status: response.statusCode, text }));
    });
    sent.on("error", reject);
    sent.end();
  });
}

async function converse(url: string): Promise<void> {
  const { socket, send, answerTo } = dial(url);
  await once(socket, "open");
  send(introduction);
  send({ id: 1, method: "model/list" });
  expect(await answerTo(1)).toEqual({ id: 1, result: emptyPage });
}

test("clients connect over a port", async () => {
  const { where } = await serveOn(loopback);
  expect(where).toMatch(/^ws:\/\/127\.0\.0\.1:\d+$/);
  await converse(where);
});

test("clients connect over a socket file that only its owner can open", async () => {
  const home = await temporaryDirectory();
  onTestFinished(home.remove);
  const path = join(home.path, "made", "control.sock");
  const { where, stop } = await serveOn({ kind: "unix", path });
  expect(where).toBe(`unix://${path}`);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await converse(where);
  await stop();
  expect(existsSync(path)).toBe(false);
});

test("a socket file left by a server that died is replaced, one in use is not", async () => {
  const home = await temporaryDirectory();
  onTestFinished(home.remove);
  const path = join(home.path, "control.sock");
  const listening = 'require("net").createServer().listen(process.argv[1], () => console.log("up"))';
  const doomed = spawn(process.execPath, ["-e", listening, path], { stdio: ["ignore", "pipe", "inherit"] });
  await once(doomed.stdout, "data");
  doomed.kill("SIGKILL");
  await once(doomed, "exit");
  expect(existsSync(path)).toBe(true);
  await serveOn({ kind: "unix", path });
  await expect(serveOn({ kind: "unix", path })).rejects.toThrow(/Another server listens on .*control\.sock/);
});

test("a file that is not a socket is never replaced by one", async () => {
  const home = await temporaryDirectory();
  onTestFinished(home.remove);
  const path = join(home.path, "notes.txt");
  writeFileSync(path, "important");
  await expect(serveOn({ kind: "unix", path })).rejects.toThrow(`${path} is not a socket. Name another path.`);
  expect(readFileSync(path, "utf8")).toBe("important");
  const link = join(home.path, "link.sock");
  symlinkSync(path, link);
  await expect(serveOn({ kind: "unix", path: link })).rejects.toThrow(`${link} is not a socket. Name another path.`);
  expect(readFileSync(link, "utf8")).toBe("important");
});

test("what has replaced the socket file of a server stays when it ends", async () => {
  const directory = await temporaryDirectory();
  onTestFinished(directory.remove);
  const path = join(directory.path, "app.sock");
  const first = await serveOn({ kind: "unix", path });
  rmSync(path);
  const second = await serveOn({ kind: "unix", path });
  await first.stop();
  await once(dial(second.where).socket, "open");
  rmSync(path);
  writeFileSync(path, "precious");
  await second.stop();
  expect(readFileSync(path, "utf8")).toBe("precious");
});

test("a refused client that keeps its end open is disconnected", async () => {
  const { where } = await serveOn(loopback, { access: () => "invalid bearer token" });
  const socket = connect({ port: Number(new URL(where).port), host: "127.0.0.1", allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  const head = ["GET / HTTP/1.1", "Host: localhost", "Connection: Upgrade", "Upgrade: websocket"];
  const key = ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "", ""];
  socket.write([...head, ...key].join("\r\n"));
  const [answer] = await once(socket, "data");
  expect(String(answer)).toMatch(/^HTTP\/1.1 401 /);
  // A connection that the server has closed answers bytes with a reset.
  const error = once(socket, "close").catch((reason: Error) => reason);
  const writing = setInterval(() => socket.write("x"), 50);
  onTestFinished(() => clearInterval(writing));
  await error;
  expect(socket.destroyed).toBe(true);
});

test("probes get an empty answer, pages are refused, and everything else must be WebSocket", async () => {
  const { where } = await serveOn(loopback);
  expect(await get(`${where}/healthz`)).toEqual({ status: 200, text: "" });
  expect(await get(`${where}/readyz`)).toEqual({ status: 200, text: "" });
  expect(await get(`${where}/healthz`, { origin: "https://example.com" })).toMatchObject({ status: 403 });
  expect(await get(where)).toMatchObject({ status: 426 });
  expect(await refusedUpgrade(where, { origin: "https://example.com" })).toMatchObject({ status: 403 });
});

test("a port in use is reported", async () => {
  const { where } = await serveOn(loopback);
  const port = Number(new URL(where).port);
  await expect(serveOn({ kind: "tcp", host: "127.0.0.1", port })).rejects.toThrow(
    `Cannot listen on ws://127.0.0.1:${port}`,
  );
});

/** Whether the flags admit a client with this token. */
async function knock(flags: string[], token: string | null): Promise<{ status?: number; text: string }> {
  const { check } = readAccess(invocationOf(...flags), loopback, "/agent-home");
  const { where } = await serveOn(loopback, { access: check ?? undefined });
  return refusedUpgrade(where, token === null ? {} : { authorization: `Bearer ${token}` });
}

const opened = { status: 101, text: "" };
const refused = (text: string) => ({ status: 401, text });

test("a capability token is accepted by its hash or from a file, and another is not", async () => {
  const home = await temporaryDirectory();
  onTestFinished(home.remove);
  const file = join(home.path, "token");
  writeFileSync(file, "open-sesame\n");
  const hash = createHash("sha256").update("open-sesame").digest("hex");
  for (const flags of [
    ["--ws-auth", "capability-token", "--ws-token-sha256", hash],
    ["--ws-auth", "capability-token", "--ws-token-file", file],
  ]) {
    expect(await knock(flags, null)).toEqual(refused("missing bearer token"));
    expect(await knock(flags, "open")).toEqual(refused("invalid bearer token"));
    expect(await knock(flags, "open-sesame")).toEqual(opened);
  }
});

/** The access of a port, and the token file in the agent home. */
async function portAccess(...flags: string[]) {
  const home = await temporaryDirectory();
  onTestFinished(home.remove);
  const path = join(home.path, "app-server-control", "ws-token");
  const read = (address: Address = loopback) => readAccess(invocationOf(...flags), address, home.path);
  return { path, read };
}

test("a port needs a token by default, and the server makes one that only its owner can read", async () => {
  for (const flags of [[], ["--ws-auth", "capability-token"]]) {
    const { path, read } = await portAccess(...flags);
    const { check, notes } = read();
    expect(notes.join()).toContain(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const token = readFileSync(path, "utf8").trim();
    expect(Buffer.from(token, "base64url")).toHaveLength(32);
    expect(notes.join()).not.toContain(token);
    expect([check?.(null), check?.("guess"), check?.(token)]).toEqual([
      "missing bearer token",
      "invalid bearer token",
      null,
    ]);
    expect(read().check?.(token)).toBe(null);
  }
});

test.each([
  ["capability-token", "ws-token-file"],
  ["signed-bearer-token", "ws-shared-secret-file"],
])("with %s, a file that other users can read is warned of", async (kind, flag) => {
  const directory = await temporaryDirectory();
  onTestFinished(directory.remove);
  const file = join(directory.path, "secret");
  writeFileSync(file, "s".repeat(40), { mode: 0o600 });
  const invocation = invocationOf("--ws-auth", kind, `--${flag}`, file);
  const notes = () => readAccess(invocation, loopback, directory.path).notes;
  expect(notes()).toEqual([]);
  chmodSync(file, 0o644);
  expect(notes()).toEqual([expect.stringContaining(`--${flag} ${file} can be read by other users`)]);
});

test.each([
  ["capability-token", "ws-token-file"],
  ["signed-bearer-token", "ws-shared-secret-file"],
])("with %s, a file that other users can write or replace is refused", async (kind, flag) => {
  const directory = await temporaryDirectory();
  onTestFinished(directory.remove);
  const file = join(directory.path, "secret");
  writeFileSync(file, "s".repeat(40), { mode: 0o600 });
  const invocation = invocationOf("--ws-auth", kind, `--${flag}`, file);
  const read = () => readAccess(invocation, loopback, directory.path);
  chmodSync(file, 0o622);
  expect(read).toThrow(`--${flag} ${file}: other users can change or replace the file`);
  chmodSync(file, 0o600);
  expect(read().notes).toEqual([]);
  chmodSync(directory.path, 0o777);
  expect(read).toThrow(`--${flag} ${file}: other users can change or replace the file`);
});

test("a socket file needs no token", async () => {
  const { path, read } = await portAccess();
  expect(read({ kind: "unix", path: "/x" })).toEqual({ check: null, notes: [] });
  expect(existsSync(path)).toBe(false);
});

test("a port without authentication is an explicit choice, for loopback only, with a warning", async () => {
  const { path, read } = await portAccess("--ws-auth", "none");
  expect(read()).toEqual({ check: null, notes: [expect.stringContaining("every user and program of this machine")] });
  expect(() => read({ kind: "tcp", host: "0.0.0.0", port: 0 })).toThrow("everyone who can reach 0.0.0.0");
  expect(existsSync(path)).toBe(false);
});

test("a token file that others can read, that is a link or that holds something else is refused", async () => {
  const { path, read } = await portAccess();
  read();
  chmodSync(path, 0o644);
  expect(() => read()).toThrow(`${path} cannot be used: other users can read it`);
  chmodSync(path, 0o600);
  writeFileSync(path, "short");
  expect(() => read()).toThrow("it does not hold a token");
  rmSync(path);
  symlinkSync("/etc/passwd", path);
  expect(() => read()).toThrow(`${path} cannot be used`);
});

const secret = "0123456789abcdef0123456789abcdef";
const now = Math.floor(Date.now() / 1000);

function sign(claims: object, header: object = { alg: "HS256", typ: "JWT" }, key = secret): string {
  const [head, payload] = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"));
  return `${head}.${payload}.${createHmac("sha256", key).update(`${head}.${payload}`).digest("base64url")}`;
}

test.each([
  ["in force", sign({ exp: now + 60, iss: "ci", aud: ["x", "agent"] }), null],
  ["within the clock skew", sign({ exp: now - 10, nbf: now + 10, iss: "ci", aud: "agent" }), null],
  ["expired", sign({ exp: now - 40, iss: "ci", aud: "agent" }), "expired bearer token"],
  ["of later", sign({ exp: now + 99, nbf: now + 40, iss: "ci", aud: "agent" }), "bearer token not valid yet"],
  ["without an end", sign({ iss: "ci", aud: "agent" }), "bearer token without an expiry"],
  ["of someone else", sign({ exp: now + 60, iss: "me", aud: "agent" }), "bearer token of another issuer"],
  ["for someone else", sign({ exp: now + 60, iss: "ci", aud: "x" }), "bearer token for another audience"],
  [
    "signed with another secret",
    sign({ exp: now + 60, iss: "ci", aud: "agent" }, undefined, "other"),
    "invalid bearer token",
  ],
  ["that claims to need no signature", `${sign({ exp: now + 60 }, { alg: "none" })}`, "invalid bearer token"],
  ["that is none", "a.b", "invalid bearer token"],
])("a signed token %s is checked", async (_, token, reason) => {
  const home = await temporaryDirectory();
  onTestFinished(home.remove);
  const file = join(home.path, "secret");
  writeFileSync(file, secret);
  const flags = [
    "--ws-auth",
    "signed-bearer-token",
    "--ws-shared-secret-file",
    file,
    "--ws-issuer",
    "ci",
    "--ws-audience",
    "agent",
  ];
  expect(await knock(flags, token)).toEqual(reason === null ? opened : refused(reason));
});

test("incomplete or weak authentication flags are refused", async () => {
  const home = await temporaryDirectory();
  onTestFinished(home.remove);
  const short = join(home.path, "short");
  writeFileSync(short, "short");
  const complaint =
    (...flags: string[]) =>
    () =>
      readAccess(invocationOf(...flags), loopback, home.path);
  expect(complaint("--ws-token-file", "/x")).toThrow("--ws-token-file needs --ws-auth capability-token");
  expect(complaint("--ws-auth", "none", "--ws-token-file", "/x")).toThrow("--ws-token-file needs --ws-auth");
  expect(complaint("--ws-auth", "capability-token", "--ws-token-file", "/x", "--ws-token-sha256", "ab")).toThrow(
    "cannot be used together",
  );
  expect(complaint("--ws-auth", "capability-token", "--ws-token-file", "x")).toThrow("must be absolute");
  expect(complaint("--ws-auth", "capability-token", "--ws-token-sha256", "ab")).toThrow("64 hexadecimal digits");
  expect(complaint("--ws-auth", "signed-bearer-token")).toThrow("needs --ws-shared-secret-file");
  expect(complaint("--ws-auth", "signed-bearer-token", "--ws-shared-secret-file", short)).toThrow("at least 32 bytes");
});

test.each([
  ["stdio://", { kind: "stdio" }],
  ["off", { kind: "off" }],
  ["ws://127.0.0.1:0", { kind: "tcp", host: "127.0.0.1", port: 0 }],
  ["ws://[::1]:80", { kind: "tcp", host: "::1", port: 80 }],
  ["unix:///run/a.sock", { kind: "unix", path: "/run/a.sock" }],
  ["unix://", { kind: "unix", path: "/home/app-server-control/app-server-control.sock" }],
])("--listen %s is accepted", (text, address) => {
  expect(parseAddress(text, "/home")).toEqual(address);
});

test.each([
  "ws://localhost:1",
  "ws://1.2.3.4",
  "ws://1.2.3.4:70000",
  "http://1.2.3.4:1",
  "unix://a",
  `unix:///${"a".repeat(120)}`,
])("--listen %s is refused", (text) => {
  expect(() => parseAddress(text, "/home")).toThrow(`--listen ${text}`);
});

test("a client that reads nothing is disconnected, and the others are still served", async () => {
  const message = "x".repeat(1024 * 1024);
  const { where } = await serveOn(loopback, {
    methods: {
      ...models,
      "skills/list": (_, client) => {
        for (let count = 0; count < 80; count++) client.notify("warning", { message });
        return { data: [] };
      },
    },
  });
  const deaf = dial(where);
  await once(deaf.socket, "open");
  deaf.send(introduction);
  await deaf.answerTo("hello");
  deaf.socket.pause();
  deaf.send({ id: 1, method: "skills/list" });
  await converse(where);
  deaf.socket.resume();
  await once(deaf.socket, "close");
  expect(deaf.received.length).toBeLessThan(82);
});

/** A conversation over streams, to its end. */
async function talk(input: (stdin: PassThrough) => void, methods: Methods = models) {
  const program = testProgram();
  const server = openServer(program, openAgent(invocationOf(), program), [partOf(methods)]);
  const stdin = new PassThrough();
  const served = serveStdio(server, stdin, program);
  input(stdin);
  stdin.end();
  await served;
  await server.close();
  return { answers: program.printed.map((line) => JSON.parse(line)), log: program.log };
}

const line = (message: object) => `${JSON.stringify(message)}\n`;

test("requests sent before the input ended are still answered, however they are split", async () => {
  const { answers } = await talk(
    (stdin) => {
      const bytes = Buffer.from(line(introduction) + line({ id: "ä", method: "model/list" }).trimEnd());
      for (const byte of bytes) stdin.write(Buffer.from([byte]));
    },
    { "model/list": async () => emptyPage },
  );
  expect(answers.at(-1)).toEqual({ id: "ä", result: emptyPage });
});

test("a line that is not JSON is logged and skipped", async () => {
  const { answers, log } = await talk((stdin) =>
    stdin.write(`${line(introduction)}{"id":\n\n${line({ id: 1, method: "model/list" })}`),
  );
  expect(answers.map(({ id }) => id)).toEqual(["hello", 1]);
  expect(log).toEqual(["A message was ignored: not a JSON object."]);
});

test("a message that is too large is refused by the id it begins with, and the next one is read", async () => {
  const { answers } = await talk((stdin) => {
    stdin.write(line(introduction));
    stdin.write('{"method":"fs/writeFile","id":7,"params":{"dataBase64":"');
    for (let count = 0; count < 65; count++) stdin.write(Buffer.alloc(1024 * 1024, 65));
    stdin.write(`"}}\n${line({ id: 8, method: "model/list" })}`);
  });
  expect(answers[1]).toMatchObject({ id: 7, error: { code: -32602 } });
  expect(answers[2]).toEqual({ id: 8, result: emptyPage });
});

test("a client on standard streams that sends requests without reading is not read until it reads", async () => {
  const program = testProgram();
  const held: (() => void)[] = [];
  let isReading = false;
  const print = (text: string) => {
    program.printed.push(text);
    return isReading ? Promise.resolve() : new Promise<void>((resolve) => held.push(resolve));
  };
  const server = openServer(program, openAgent(invocationOf(), program), [partOf(models)]);
  const stdin = new PassThrough();
  const served = serveStdio(server, stdin, { ...program, print });
  const requests = Array.from({ length: 20_000 }, (_, id) => line({ id, method: "no/such" }));
  const paused = once(stdin, "pause");
  for (let at = 0; at < requests.length; at += 100) stdin.write(requests.slice(at, at + 100).join(""));
  await paused;
  expect(program.printed.length).toBeLessThan(10_000);
  isReading = true;
  for (const release of held) release();
  stdin.end();
  await served;
  await server.close();
  expect(program.printed).toHaveLength(20_000);
});
