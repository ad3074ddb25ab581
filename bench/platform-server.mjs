// A platform for measurements: the built program with an empty data directory, a key and one repository.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";

export async function startPlatform({ root, scratch, modelUrl, args = [], env: more = {} }) {
  const heapFile = join(scratch, "heap");
  const program = join(root, "packages/platform/bin/platform.mjs");
  const data = join(scratch, `platform-${process.hrtime.bigint()}`);
  mkdirSync(data);
  const provider = { base_url: modelUrl, wire_api: "responses" };
  const env = {
    PATH: process.env.PATH,
    HOME: scratch,
    PLATFORM_DATA: data,
    BENCH_HEAP_FILE: heapFile,
    PLATFORM_MODEL: "scripted",
    PLATFORM_MODEL_PROVIDER: "scripted",
    PLATFORM_MODEL_PROVIDERS: JSON.stringify({ scripted: provider }),
    PLATFORM_RATE_LIMITS_REQUESTS_PER_MINUTE: "0",
    ...(process.env.BENCH_PROGRAM_LOG && { BENCH_PROGRAM_LOG: process.env.BENCH_PROGRAM_LOG }),
    ...more,
  };
  const nodeArguments = ["--expose-gc", "--require", join(root, "bench/collect.cjs")];
  const serve = async (roles = args, settings = {}) => {
    const argv = [...nodeArguments, program, "serve", "--listen", "127.0.0.1:0", ...roles];
    const child = spawn(process.execPath, argv, { env: { ...env, ...settings }, stdio: ["ignore", "pipe", "ignore"] });
    const [line] = await once(createInterface(child.stdout), "line");
    return { child, url: line.replace("listening on ", "") };
  };
  const { child, url } = await serve();
  const command = (...args) => execFileSync(process.execPath, [program, ...args], { env, encoding: "utf8" }).trim();
  const key = command("keys", "create", "--name", "bench");
  const repository = command("repos", "create", "sample", "--from", join(root, "examples/sample"));
  const report = async () => {
    rmSync(heapFile, { force: true });
    child.kill("SIGUSR2");
    while (!existsSync(heapFile) || readFileSync(heapFile, "utf8") === "")
      await new Promise((resolve) => setTimeout(resolve, 10));
    return JSON.parse(readFileSync(heapFile, "utf8"));
  };
  return {
    url,
    key,
    data,
    repository,
    pid: child.pid,
    /** Of the operator; returns what it prints. */
    command,
    ...clientOf(url, key),
    /** Size of the heap after garbage collection. */
    heapKb: async () => (await report()).heapBytes / 1024,
    /** How many programs the server has started. */
    startedPrograms: async () => (await report()).started,
    /** Another server on the same database and data directory. */
    async serveAnother(roles = args, settings = {}) {
      const another = await serve(roles, settings);
      return { url: another.url, stop: () => stopChild(another.child, "SIGTERM") };
    },
    kill: () => stopChild(child, "SIGKILL"),
    stop: () => stopChild(child, "SIGTERM"),
  };
}

async function stopChild(child, signal) {
  const exited = once(child, "exit");
  child.kill(signal);
  await exited;
}

function clientOf(url, key) {
  const agent = new Agent({ keepAlive: true, maxSockets: 2_000 });
  const send = (method, path, body, headers = {}) =>
    new Promise((resolve, reject) => {
      const content = body && { "content-type": "application/json" };
      const sent = request(new URL(path, url), {
        method,
        agent,
        headers: { authorization: `Bearer ${key}`, ...content, ...headers },
      });
      sent.on("response", (response) => {
        const chunks = [];
        response.on("data", (chunk) => chunks.push(chunk));
        response.on("end", () => resolve({ status: response.statusCode, text: Buffer.concat(chunks).toString() }));
      });
      sent.on("error", reject);
      sent.end(body && JSON.stringify(body));
    });
  return {
    send,
    async create(body) {
      const { status, text } = await send("POST", "/v1/agents", body);
      if (status !== 200) throw new Error(`creating an agent failed with ${status}: ${text}`);
      const { agent, run } = JSON.parse(text);
      return { agentId: agent.id, runId: run.id, stream: `/v1/agents/${agent.id}/runs/${run.id}/stream` };
    },
  };
}

/** Milliseconds of user and system time of a process so far. */
export const cpuOf = (pid) => sumOf(timesOf(pid).slice(0, 2));

/** The same with its children that have ended. */
export const cpuWithChildrenOf = (pid) => sumOf(timesOf(pid));

const sumOf = (numbers) => numbers.reduce((sum, number) => sum + number, 0);

/** utime, stime, cutime and cstime of proc(5), as milliseconds. */
const timesOf = (pid) =>
  readFileSync(`/proc/${pid}/stat`, "utf8")
    .split(") ")[1]
    .split(" ")
    .slice(11, 15)
    .map((ticks) => Number(ticks) * 10);

export const memoryMbOf = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;
