import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, expect, test } from "vitest";
import { jsonLines, replyWith, type TemporaryDirectory, temporaryDirectory } from "../src/index.ts";

let directory: TemporaryDirectory;
let program: string;

beforeAll(async () => {
  directory = await temporaryDirectory();
  program = join(directory.path, "model-server.cjs");
  const bundle = await rolldown({ input: join(import.meta.dirname, "../src/model-server/main.ts"), platform: "node" });
  await bundle.write({ file: program, format: "cjs" });
  await bundle.close();
});
afterAll(() => directory.remove());

const scriptFile = async (name: string, content: unknown): Promise<string> => {
  const path = join(directory.path, name);
  await writeFile(path, JSON.stringify(content));
  return path;
};

async function listeningUrl(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error("the program has no standard output");
  const [line] = await once(createInterface(child.stdout), "line");
  return /^listening on (http:\/\/127\.0\.0\.1:\d+\/v1)$/.exec(line)?.[1] ?? `unexpected line: ${line}`;
}

const post = (url: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST" }, (answer) => {
      answer.resume().on("end", () => resolve(answer.statusCode));
    });
    sent.on("error", reject).end('{"model":"m"}');
  });

test("the program serves a script, logs requests and ends when its input ends", async () => {
  const log = join(directory.path, "log.jsonl");
  const child = spawn(process.execPath, [
    program,
    "--script",
    await scriptFile("hi.json", [replyWith("hi")]),
    "--log",
    log,
  ]);
  expect(await post(`${await listeningUrl(child)}/responses`)).toBe(200);
  child.stdin.end();
  expect(await once(child, "exit")).toEqual([0, null]);
  expect(jsonLines(await readFile(log, "utf8"))).toMatchObject([
    { index: 0, method: "POST", path: "/v1/responses", body: { model: "m" } },
  ]);
});

test("the program ends on SIGTERM and accepts an input that is not a pipe", async () => {
  const script = await scriptFile("empty.json", []);
  const child = spawn(process.execPath, [program, "--script", script], { stdio: ["ignore", "pipe", "inherit"] });
  expect(await post(`${await listeningUrl(child)}/responses`)).toBe(500);
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});

test("a script with a mistake ends the program with a message that names file and path", async () => {
  const script = await scriptFile("bad.json", [{ messages: "not a list" }]);
  const child = spawn(process.execPath, [program, "--script", script]);
  const pieces: string[] = [];
  child.stderr.setEncoding("utf8").on("data", (piece) => pieces.push(piece));
  expect(await once(child, "close")).toEqual([2, null]);
  expect(pieces.join("")).toMatch(/bad\.json is not a script: script replies\.0\.messages: /);
});
