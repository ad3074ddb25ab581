// Secrets that programs never have: what a TLS server gets in place of a placeholder, what the program sees, and what other hosts get.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { createServer } from "node:https";
import { type AddressInfo, createServer as createTcp, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import aws4 from "aws4";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Denial } from "../../src/egress/dial.ts";
import { openAuthority } from "../../src/egress/placeholders/authority.ts";
import {
  type BoundSecret,
  openPlaceholders,
  type Placeholders,
  placeholderFor,
} from "../../src/egress/placeholders/index.ts";
import { openEgressProxy } from "../../src/egress/proxy.ts";
import { readRules } from "../../src/egress/rules.ts";

const value = "ghp_Zr81ypQ0cKm4LtXw9BvN2sHd7fGj5aTe";
const placeholder = placeholderFor(value) ?? "";
const run = promisify(execFile);
const directory = mkdtempSync(join(tmpdir(), "placeholders-"));
const trustFile = join(directory, "trust.pem");
const upstreamAuthority = openAuthority("Authority of the test");

let port = 0;
let proxyAddress = "";
let trust: string;
let javaStore: string;
let denials: Denial[] = [];
let seen: { head: string; body: string; request: IncomingMessage }[] = [];
const closers: (() => void)[] = [];

const uses: BoundSecret["uses"] = ["bearer", "basic", "header:x-api-key", "query:key", "body", "sigv4"];
const bound = (hosts: string[]): BoundSecret => ({ name: "TOKEN", value, placeholder, hosts, uses });

/** Repeats what it gets in every form, and compressed where the client would take that. */
const server = createServer(
  { SNICallback: (name, done) => done(null, upstreamAuthority.contextFor(name)) },
  async (request, response) => {
    const body = await text(request);
    seen.push({ head: `${request.method} ${request.url}\n${request.rawHeaders.join("\n")}`, body, request });
    const echoed = `${request.headers.authorization} ${request.url} ${body}`;
    const forms = [
      echoed,
      Buffer.from(echoed).toString("base64"),
      Buffer.from(value).toString("hex"),
      value.slice(0, 9),
    ];
    const isCompressed = request.url?.startsWith("/gzip") ?? false;
    response.writeHead(200, {
      "x-echo": echoed.replace(/\s/g, " "),
      ...(isCompressed && { "content-encoding": "gzip" }),
    });
    for (const part of isCompressed ? [] : forms) {
      response.write(part.slice(0, 14));
      response.write(`${part.slice(14)}\n`);
    }
    response.end(isCompressed ? gzipSync(forms.join("\n")) : "");
  },
);

beforeAll(async () => {
  writeFileSync(trustFile, upstreamAuthority.certificate);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
  const hosts = [`api.test:${port}`, `*.wild.test:${port}`];
  const placeholders = openPlaceholders({ secrets: [bound(hosts)], extraCertificates: trustFile });
  trust = join(directory, "machine.pem");
  javaStore = join(directory, "machine.jks");
  const files = placeholders.files();
  // The other host is not decrypted: its own authority is to be trusted for it.
  writeFileSync(trust, files.pem);
  writeFileSync(javaStore, files.javaStore);
  proxyAddress = await serveProxy(placeholders);
});

/** The address of a proxy for every host of the test. */
async function serveProxy(placeholders: Placeholders): Promise<string> {
  const proxy = openEgressProxy({
    rules: readRules([`*:${port}`, `127.0.0.1:${port}`], []),
    onDenied: (denial) => void denials.push(denial),
    resolve: async () => [{ address: "127.0.0.1" }],
    placeholders,
  });
  const sockets = new Set<Socket>();
  const entry = createTcp({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    proxy.accept("http", socket);
  });
  closers.push(() => {
    entry.close();
    for (const socket of sockets) socket.destroy();
  });
  await new Promise<void>((resolve) => entry.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(entry.address() as AddressInfo).port}`;
}

afterAll(() => {
  for (const close of closers) close();
  server.closeAllConnections();
  server.close();
  rmSync(directory, { recursive: true });
});
beforeEach(() => {
  [denials, seen] = [[], []];
});

const curl = (...args: string[]) => run("curl", ["-sS", "-i", "--proxy", proxyAddress, "--cacert", trust, ...args]);
const url = (host: string, path = "/") => `https://${host}:${port}${path}`;

test.each<[string, string[], string]>([
  ["a bearer token", ["-H", `Authorization: Bearer ${placeholder}`], `Bearer ${value}`],
  ["a password, in base64", ["-u", `git:${placeholder}`], `Basic ${Buffer.from(`git:${value}`).toString("base64")}`],
  ["a user name, in base64", ["-u", `${placeholder}:`], `Basic ${Buffer.from(`${value}:`).toString("base64")}`],
  ["a header of its own", ["-H", `X-Api-Key: ${placeholder}`], `X-Api-Key\n${value}`],
  ["a header in a request with a body", ["-H", `x-api-key: ${placeholder}`, "-d", "a=1"], `x-api-key\n${value}`],
])("%s is put in for the host that the secret is bound to, and taken out of what it repeats", async (_, args, sent) => {
  const { stdout } = await curl(...args, url("api.test"));
  expect(seen).toHaveLength(1);
  expect(seen[0]?.head).toContain(sent);
  expect(stdout).toContain("200 OK");
  expect(stdout).not.toContain(value);
  expect(stdout).not.toContain(Buffer.from(value).toString("hex"));
  expect(stdout).toContain(Buffer.from(placeholder).toString("hex"));
  expect(denials).toEqual([]);
});

test("a parameter of the address and a body have the value, and repeat the placeholder, also compressed", async () => {
  const echoed = await curl("-d", JSON.stringify({ token: placeholder }), url("api.test", `/a?x=1&key=${placeholder}`));
  expect(seen[0]).toMatchObject({ body: JSON.stringify({ token: value }) });
  expect(seen[0]?.head).toContain(`/a?x=1&key=${value}`);
  const compressed = await curl("--compressed", "-H", `Authorization: token ${placeholder}`, url("api.test", "/gzip"));
  expect(seen[1]?.head).toContain(`token ${value}`);
  for (const { stdout } of [echoed, compressed]) {
    expect(stdout).toContain(placeholder);
    expect(stdout).not.toContain(value);
    expect(stdout).not.toContain(Buffer.from(`x ${value}`).toString("base64").slice(4, 40));
  }
});

test("other hosts, other places and parts of a placeholder get no value", async () => {
  await curl("--cacert", trustFile, "-H", `Authorization: Bearer ${placeholder}`, url("other.test"));
  await curl(
    "-H",
    `Cookie: ${placeholder}`,
    "-H",
    `Authorization: Digest ${placeholder}`,
    url("api.test", `/${placeholder}`),
  );
  await curl(
    "-H",
    `Authorization: Bearer ${placeholder}x`,
    "-H",
    `x-api-key: a ${placeholder}`,
    url("api.test", "/?k=1"),
  );
  await curl("-H", `Authorization: Bearer ${placeholder.slice(0, -1)}`, url("deep.wild.test"));
  expect(seen).toHaveLength(4);
  expect(seen[0]?.head).toContain(placeholder);
  expect(seen.map(({ head }) => head).join("\n")).not.toContain(value);
  await curl("-H", `Authorization: Bearer ${placeholder}`, url("deep.wild.test"));
  expect(seen[4]?.head).toContain(value);
});

test("a connection to the bound host that asks for another one is refused and reported", async () => {
  const otherName = curl("--connect-to", `other.test:${port}:api.test:${port}`, url("other.test"));
  await expect(otherName).rejects.toThrow(/alert|handshake|SSL/);
  const { stdout } = await curl("-H", "Host: other.test", url("api.test"));
  expect(stdout).toContain("421");
  expect(seen).toEqual([]);
  expect(denials.map(({ host, reason }) => [host, /\((.*?)\)/.exec(reason)?.[1]])).toEqual([
    ["api.test", "SNI"],
    ["api.test", "Host header"],
  ]);
});

test("a server with a certificate of an unknown authority gets nothing", async () => {
  const at = await serveProxy(openPlaceholders({ secrets: [bound([`api.test:${port}`])] }));
  const { stdout } = await curl("-k", "--proxy", at, "-H", `Authorization: Bearer ${placeholder}`, url("api.test"));
  expect(stdout).toMatch(/502[\s\S]*api\.test could not be reached: .*(certificate|issuer)/);
  expect(seen).toEqual([]);
});

test.each([
  ["s3", "GET", "/bucket/a%20b?list-type=2&prefix=x%2Fy", ""],
  ["sts", "POST", "/", "Action=GetCallerIdentity&Version=2011-06-15"],
  ["execute-api", "PUT", "/stage/it%27s?b=2&a=1", "{}"],
])(
  "a request to %s that was signed with the placeholder arrives signed with the value",
  async (service, method, path, sent) => {
    const signed = sign({ service, method, path, body: sent, host: `api.test:${port}` }, placeholder);
    const headers = Object.entries(signed).flatMap(([name, text]) => ["-H", `${name}: ${text}`]);
    await curl("-X", method, ...headers, ...(sent === "" ? [] : ["-d", sent]), url("api.test", path));
    const [{ request, body } = { request: null, body: "" }] = seen;
    const { authorization = "", ...received } = request?.headers ?? {};
    const names = /SignedHeaders=([^,]*)/.exec(authorization)?.[1]?.split(";") ?? [];
    const given = Object.fromEntries(names.map((name) => [name, String(received[name])]));
    const asked = { service, method: request?.method ?? "", path: request?.url ?? "", body, headers: given };
    expect(authorization).toBe(sign(asked, value).Authorization);
    expect(authorization).not.toBe(signed.Authorization);
  },
);

interface Signed {
  service: string;
  method: string;
  path: string;
  body: string;
  host?: string;
  headers?: Record<string, string>;
}

/** By another library. */
const sign = (request: Signed, secretAccessKey: string): Record<string, string> =>
  aws4.sign({ ...request, region: "eu-west-1" }, { accessKeyId: "AKIAEXAMPLE", secretAccessKey }).headers as Record<
    string,
    string
  >;

test("Python reads the certificates by its strict rules, and the store for Java has all of them", async () => {
  const variables = { ...process.env, HTTPS_PROXY: proxyAddress, SSL_CERT_FILE: trust };
  const script = `import os, ssl, urllib.request
context = ssl.create_default_context()
context.verify_flags |= ssl.VERIFY_X509_STRICT
request = urllib.request.Request(os.environ["ADDRESS"], headers={"X-Api-Key": os.environ["TOKEN"]})
print(urllib.request.urlopen(request, context=context).status)`;
  const env = { ...variables, ADDRESS: url("api.test"), TOKEN: placeholder };
  expect((await run("python3", ["-c", script], { env })).stdout.trim()).toBe("200");
  expect(seen[0]?.head).toContain(value);
  // Java reads it: keytool listed all of them when this was written.
  const store = readFileSync(javaStore);
  expect([store.readUInt32BE(0), store.readUInt32BE(4)]).toEqual([0xfeedfeed, 2]);
  expect(store.readUInt32BE(8)).toBe(readFileSync(trust, "utf8").match(/BEGIN CERTIFICATE/g)?.length);
});

test.each([
  ["ghp_Zr81ypQ0cKm4LtXw9BvN2sHd7fGj5aTe", /^ghp_[A-Z][a-z]\d\d[a-z]{2}[A-Z]/],
  ["sk-proj-abcdefghij0123456789ABCDEF", /^sk-proj-[a-z]{10}\d{10}[A-Z]{6}$/],
  ["0123456789abcdef0123456789abcdef", /^[0-9a-f]{32}$/],
  ["550e8400-e29b-41d4-a716-446655440000", /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/],
])("a placeholder for %s has its shape and nothing else of it", (secret, shape) => {
  const made = placeholderFor(secret);
  expect(made).toMatch(shape);
  expect(made).not.toBe(secret);
  expect(made).not.toBe(placeholderFor(secret));
});

test.each(["short", "a-b-c-d-e-f-g-h", "zwei\nZeilen0123456789abc", "schlüssel0123456789abcdef"])(
  "there is no placeholder for %j",
  (secret) => expect(placeholderFor(secret)).toBeNull(),
);
