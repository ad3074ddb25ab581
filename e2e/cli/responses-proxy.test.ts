import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { replyWith, startModelServer, temporaryDirectory, waitForExit } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { expect, onTestFinished, test } from "vitest";
import { ordinaryUser } from "./ordinary-user.ts";
import { key, playUpstream, readAnswer, readInfo, startProxy } from "./proxy-harness.ts";

const codeOf = (body: string): string => JSON.parse(body).error.code;

test("a run through the proxy gets its answer, and only the upstream sees the key", async () => {
  const model = await startModelServer([replyWith("Hello from upstream.")]);
  onTestFinished(() => model.close());
  const proxy = await startProxy(`${model.url}/responses`);
  const { harness } = proxy;
  const provider = `{ base_url = "${proxy.url}", env_key = "PROXY_TOKEN" }`;
  const flags = ["-c", `model_providers.proxy=${provider}`, "-c", "model_provider=proxy", "hello"];
  const { code, stdout } = await harness.run(["exec", ...flags], { env: { PROXY_TOKEN: proxy.token } });
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Hello from upstream.\n" });
  const { headers } = model.requests().find(({ path }) => path === "/v1/responses") ?? { headers: {} };
  expect(headers).toMatchObject({ authorization: `Bearer ${key}`, "accept-encoding": "identity" });
  expect(JSON.stringify(headers)).not.toContain(proxy.token);
  expect(statSync(proxy.tokenFile).mode & 0o777).toBe(0o600);
  const listed = await proxy.ask({ method: "GET", path: "/v1/models" });
  expect(JSON.parse(listed.body).data[0].id).toBe("scripted");
});

test("nothing but the two routes is forwarded, and nothing without the token", async () => {
  const seen: string[] = [];
  const upstream = await playUpstream((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    response.end("{}");
  });
  const { ask, port, token } = await startProxy(upstream);
  const authorization = `Bearer ${token}`;
  const refused = [
    { path: "/v1/responses?a=b" },
    { path: "/v1/responses/" },
    { path: "/v1/../v1/responses" },
    { path: "//v1/responses" },
    { path: "/v1/chat/completions" },
    { path: "/v1/responses/resp_1", method: "GET" },
    { method: "GET" },
    { method: "DELETE" },
    { path: "/v1/models", method: "POST" },
    { path: "/shutdown" },
    { headers: { authorization, host: "evil.example" } },
  ];
  for (const options of refused) expect(await ask(options), JSON.stringify(options)).toMatchObject({ status: 403 });
  const strangers: Record<string, string>[] = [
    {},
    { authorization: `Bearer ${key}` },
    { authorization: token },
    { "x-api-key": token },
  ];
  for (const headers of strangers) expect((await ask({ headers })).status, JSON.stringify(headers)).toBe(401);
  expect(await ask({ method: "GET", path: "/healthz", headers: {} })).toMatchObject({ status: 200 });
  expect(seen).toEqual([]);
  expect((await ask({ headers: { authorization, host: `localhost:${port}` } })).status).toBe(200);
  expect(seen).toEqual(["POST /v1/responses"]);
});

test("credentials of the client and headers of one connection do not pass, in either direction", async () => {
  let received: http.IncomingHttpHeaders = {};
  const upstream = await playUpstream((request, response) => {
    received = request.headers;
    response.writeHead(200, { "set-cookie": "a=b", "x-echo": request.headers.authorization, "x-request-id": "r1" });
    response.end("{}");
  });
  const { ask, token } = await startProxy(upstream);
  const { headers } = await ask({
    headers: {
      ...{ authorization: `Bearer ${token}`, cookie: "a=b", "x-api-key": "other", "x-forwarded-for": "10.0.0.1" },
      ...{
        connection: "close, x-hop",
        "x-hop": "1",
        "accept-encoding": "gzip",
        session_id: "s1",
        accept: "text/event-stream",
      },
    },
  });
  expect(received).toMatchObject({ authorization: `Bearer ${key}`, session_id: "s1", accept: "text/event-stream" });
  for (const name of ["cookie", "x-api-key", "x-forwarded-for", "x-hop"]) expect(received[name], name).toBeUndefined();
  expect(received.host).toBe(new URL(upstream).host);
  expect(headers["x-request-id"]).toBe("r1");
  expect(headers["set-cookie"]).toBeUndefined();
  expect(headers["x-echo"]).toBeUndefined();
});

test("an upstream that repeats the key, rejects it or redirects does not get it to the client", async () => {
  const asked: string[] = [];
  const answers: Record<string, (response: ServerResponse) => void> = {
    echo(response) {
      response.write(`before ${key} and ${key.slice(0, 20)}`);
      setImmediate(() => response.end(`${key.slice(20)} after ${key.slice(0, 5)}`));
    },
    reject: (response) => response.writeHead(401).end(`Incorrect API key provided: ${key}`),
    fail: (response) => response.writeHead(500).end(`Cannot use ${key}`),
    redirect: (response) => response.writeHead(307, { location: "/elsewhere" }).end(),
  };
  const upstream = await playUpstream((request, response) => {
    asked.push(request.url ?? "");
    answers[String(request.headers["x-case"])]?.(response);
  });
  const { ask, token } = await startProxy(upstream);
  const askFor = (name: string) => ask({ headers: { authorization: `Bearer ${token}`, "x-case": name } });
  const mask = "*".repeat(key.length);
  expect(await askFor("echo")).toMatchObject({
    status: 200,
    body: `before ${mask} and ${mask} after ${key.slice(0, 5)}`,
  });
  const rejected = await askFor("reject");
  expect([rejected.status, codeOf(rejected.body)]).toEqual([401, "upstream_unauthorized"]);
  expect(await askFor("fail")).toMatchObject({ status: 500, body: `Cannot use ${mask}` });
  const redirected = await askFor("redirect");
  expect([redirected.status, codeOf(redirected.body)]).toEqual([502, "upstream_redirect"]);
  expect(redirected.headers.location).toBeUndefined();
  expect(asked).toEqual(Array(4).fill("/v1/responses"));
});

test("a stream that the upstream cuts breaks off at the client too, and an absent upstream is named", async () => {
  const upstream = await playUpstream((request, response) => {
    response.write("data: first\n\n");
    request.socket.on("error", () => {});
    request.once("end", () => request.socket.destroy()).resume();
  });
  const proxy = await startProxy(upstream);
  await expect(proxy.open({ body: "{}" }).then(readAnswer)).rejects.toThrow();
  const closed = await startProxy("http://127.0.0.1:1/v1/responses");
  const { status, body } = await closed.ask({});
  expect([status, codeOf(body)]).toEqual([502, "upstream_unreachable"]);
  expect(body).toContain("--upstream-url");
});

test("a request that is too large is refused, with and without a stated length", async () => {
  const received: number[] = [];
  const upstream = await playUpstream(async (request, response) => {
    const index = received.push(0) - 1;
    request.on("data", (chunk: Buffer) => {
      received[index] = (received[index] ?? 0) + chunk.length;
    });
    request.on("end", () => response.end("{}"));
  });
  const { ask, port, token } = await startProxy(upstream, ["--max-body-bytes", "100000"]);
  const stated = await ask({ body: "x".repeat(100_001) });
  expect([stated.status, codeOf(stated.body)]).toEqual([413, "body_too_large"]);
  expect(received).toEqual([]);
  expect((await ask({ body: "x".repeat(100_000) })).status).toBe(200);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    const request = http.request({ host: "127.0.0.1", port, method: "POST", path: "/v1/responses", headers }, resolve);
    request.on("error", reject);
    request.write("x".repeat(60_000));
    request.write("x".repeat(60_000));
  });
  expect(answer.statusCode).toBe(413);
  expect(received.slice(1).every((size) => size <= 100_000)).toBe(true);
});

test("200 streams at once reach their own clients, whole and in order, however slowly some of them read", async () => {
  const events = 40;
  const textFor = (name: string) =>
    Array.from({ length: events }, (_, index) => `data: ${name} ${index} ${"x".repeat(index * 7)}\n\n`);
  const waiting: (() => void)[] = [];
  const upstream = await playUpstream((request, response) => {
    const pieces = textFor(String(request.headers["x-name"]));
    const next = () => {
      const piece = pieces.shift();
      if (piece === undefined) return void response.end();
      response.write(piece);
      setImmediate(next);
    };
    // All are open before the first one is answered.
    waiting.push(next);
    if (waiting.length === 200) for (const start of waiting) start();
  });
  const { open, token, ask } = await startProxy(upstream);
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      const answer = await open({ headers: { authorization: `Bearer ${token}`, "x-name": `stream-${index}` } });
      let text = "";
      for await (const chunk of answer) {
        text += chunk;
        if (index % 4 === 0) await new Promise(setImmediate);
      }
      return text;
    }),
  );
  expect(answers.findIndex((text, index) => text !== textFor(`stream-${index}`).join(""))).toBe(-1);
  await expect
    .poll(async () => JSON.parse((await ask({ method: "GET", path: "/healthz" })).body))
    .toEqual({ status: "ok", active: 0 });
});

test("clients that do not read hold the upstream back instead of filling the memory of the proxy", async () => {
  const [streams, pieces] = [10, 384];
  const piece = Buffer.alloc(65_536, "0123456789abcdef");
  const held = new Set<number>();
  let opened = 0;
  const upstream = await playUpstream((_, response) => {
    const index = opened++;
    let left = pieces;
    const fill = () => {
      held.delete(index);
      while (left-- > 0) {
        if (response.write(piece)) continue;
        held.add(index);
        return void response.once("drain", fill);
      }
      held.add(index);
      response.end();
    };
    fill();
  });
  const { open, pid } = await startProxy(upstream);
  const highWaterKb = () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  const before = highWaterKb();
  const answers = await Promise.all(Array.from({ length: streams }, () => open({})));
  await expect.poll(() => held.size).toBe(streams);
  const expected = createHash("sha256");
  for (let index = 0; index < pieces; index++) expected.update(piece);
  const digest = expected.digest("hex");
  for (const answer of answers) {
    const hash = createHash("sha256");
    for await (const chunk of answer) hash.update(chunk);
    expect(hash.digest("hex")).toBe(digest);
  }
  // 240 MB went through.
  expect(highWaterKb() - before).toBeLessThan(120_000);
});

test("more requests than allowed at a time are turned away, and a client that leaves frees its place", async () => {
  const open: ServerResponse[] = [];
  const upstream = await playUpstream((_, response) => {
    response.flushHeaders();
    open.push(response);
  });
  const proxy = await startProxy(upstream, ["--max-concurrent", "2"]);
  const [first] = await Promise.all([proxy.open({}), proxy.open({})]);
  const third = await proxy.ask({});
  expect([third.status, codeOf(third.body)]).toEqual([503, "proxy_busy"]);
  first.destroy();
  await expect.poll(() => open.filter(({ destroyed }) => destroyed).length).toBe(1);
  await expect.poll(async () => (await proxy.open({})).statusCode).toBe(200);
});

test("the proxy ends by request or with another process, and leaves no file behind", async () => {
  const upstream = await playUpstream((_, response) => response.end());
  const asked = await startProxy(upstream, ["--http-shutdown"]);
  expect((await asked.ask({ path: "/shutdown", headers: {} })).status).toBe(401);
  expect((await asked.ask({ path: "/shutdown" })).status).toBe(200);
  expect((await asked.ended).code).toBe(0);
  const job = spawn("cat", { stdio: ["pipe", "ignore", "ignore"] });
  const bound = await startProxy(upstream, ["--end-with", String(job.pid)]);
  job.stdin.end();
  expect((await bound.ended).code).toBe(0);
  for (const file of [asked.tokenFile, asked.infoFile, bound.tokenFile, bound.infoFile])
    expect(existsSync(file), file).toBe(false);
});

test("another process of the same user finds the key nowhere, and cannot make the proxy show it", async () => {
  const user = ordinaryUser();
  const directory = await temporaryDirectory();
  onTestFinished(async () => {
    user.remove();
    await directory.remove();
  });
  user.own(directory.path);
  const env = { PATH: process.env.PATH ?? "", HOME: directory.path, LANG: "C.UTF-8" };
  const proxy = user.start(["responses-proxy", "--token-file", "token"], { cwd: directory.path, env, stdin: key });
  onTestFinished(() => void proxy.kill("SIGKILL"));
  const ended = waitForExit(proxy);
  const { pid, protection } = await readInfo(proxy, ended);
  expect(["process", "secret"]).toContain(protection);
  const status = (file: string) => readFileSync(`/proc/${pid}/${file}`, "utf8");
  expect(status("cmdline")).not.toContain(key);
  expect(status("limits")).toMatch(/Max core file size\s+0\s+0/);
  process.kill(pid, "SIGUSR1");
  const ids = statSync(join(directory.path, "token"));
  const lowered = process.getuid?.() === 0 ? { uid: ids.uid, gid: ids.gid } : {};
  const reads = ["environ", "mem", "maps", "auxv", "io", "stack"].map(
    (file) => `head -c1 /proc/${pid}/${file} || echo denied`,
  );
  const others = [`ls /proc/${pid}/fd/ >/dev/null`, `prlimit --pid ${pid} --core=unlimited:unlimited`];
  const attempt = [...reads, ...others.map((each) => `${each} || echo denied`), "head -c5 /proc/self/environ >&2"].join(
    "; ",
  );
  const search = spawn("bash", ["-c", attempt], {
    env: { SECRET: "control" },
    stdio: ["ignore", "pipe", "pipe"],
    ...lowered,
  });
  const { stdout, stderr } = await waitForExit(search);
  expect(stdout).toBe("denied\n".repeat(8));
  expect(stderr).toContain("SECRE");
  process.kill(pid, "SIGABRT");
  const { stderr: messages } = await ended;
  expect(messages).not.toContain("Debugger");
  expect(readdirSync(directory.path).filter((name) => name.includes("core"))).toEqual([]);
});

test("a proxy that could not keep its key is not started", async () => {
  const { run } = await openHarness();
  const start = (flags: string[], options: Parameters<typeof run>[1]) =>
    run(["responses-proxy", "--token-file", "token", ...flags], options);
  const cases = [
    [[], { stdin: " \n" }, "No key came in"],
    [[], { stdin: "two words" }, "not one API key"],
    [[], { stdin: "k".repeat(5000) }, "longer than"],
    [[], { stdin: key, env: { NODE_OPTIONS: "--no-warnings" } }, "Unset NODE_OPTIONS"],
    [[], { stdin: key, nodeArguments: ["--inspect=0"] }, "without --inspect"],
    [["--upstream-url", "http://example.com/v1/responses"], { stdin: key }, "unencrypted"],
    [["--upstream-url", "https://example.com/v1"], { stdin: key }, "not the address of a Responses API"],
    [["--end-with", "0"], { stdin: key }, "not a number above zero"],
  ] as const;
  for (const [flags, options, message] of cases)
    expect(
      await start([...flags], {
        ...options,
        nodeArguments: [...("nodeArguments" in options ? options.nodeArguments : [])],
      }),
      message,
    ).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(message),
    });
  const withoutToken = await run(["responses-proxy"], { stdin: key });
  expect(withoutToken).toMatchObject({ code: 2, stderr: expect.stringContaining("--token-file") });
});
