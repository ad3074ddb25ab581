// CPU time of the responses proxy per stream, against a plain server that pipes requests and answers through.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { minimum } from "./measure.mjs";

const streams = 200;
const events = 500;
const event = `data: {"type":"response.output_text.delta","delta":"${"word ".repeat(8)}"}\n\n`;

const pipe = `const http = require("node:http");
const agent = new http.Agent({ keepAlive: true });
const server = http.createServer((request, response) => {
  const { host, ...headers } = request.headers;
  const outgoing = http.request(process.argv[1], { method: request.method, headers, agent });
  outgoing.on("response", (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  request.pipe(outgoing);
});
server.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ port: server.address().port })));`;

export async function responsesProxyRows({ root, scratch }) {
  const upstream = http.createServer((request, response) => {
    let left = events;
    const next = () => {
      if (left-- === 0) return response.end();
      response.write(event);
      setImmediate(next);
    };
    request.resume().on("end", next);
  });
  // Where other programs take the processor, a connection may be idle for longer than Node's five seconds.
  upstream.keepAliveTimeout = 60_000;
  await new Promise((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${upstream.address().port}/v1/responses`;
  const token = join(scratch, "proxy-token");
  const proxy = [join(root, "packages/cli/bin/agentcli.cjs"), "responses-proxy", "--token-file", token];
  const programs = [
    { name: "plain pipe", args: ["-e", pipe, url], cpu: [] },
    { name: "agentcli responses-proxy", args: [...proxy, "--upstream-url", url], cpu: [] },
  ];
  for (let round = 0; round < 3; round += 1)
    for (const program of programs) program.cpu.push(await measure(program.args, token));
  upstream.closeAllConnections();
  upstream.close();
  const [base] = programs;
  return programs.map(({ name, cpu }) => [
    `${streams} streams of ${events} events, CPU`,
    name,
    minimum(cpu),
    "ms",
    minimum(cpu) / minimum(base.cpu),
    name === base.name ? "" : "≤ 1.3x",
  ]);
}

async function measure(args, tokenFile) {
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end("sk-bench\n");
  const { port } = JSON.parse(String(await new Promise((resolve) => child.stdout.once("data", resolve))));
  const authorization = `Bearer ${readToken(tokenFile)}`;
  const once = () => Promise.all(Array.from({ length: streams }, () => readStream(port, authorization)));
  await once();
  const before = cpuOf(child.pid);
  await once();
  const used = cpuOf(child.pid) - before;
  child.kill();
  await new Promise((resolve) => child.once("exit", resolve));
  return used;
}

function readToken(file) {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return ""; // The plain pipe has none.
  }
}

function readStream(port, authorization) {
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, method: "POST", path: "/v1/responses", headers: { authorization } };
    const request = http.request({ ...options, agent: false }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`The proxy answered ${response.statusCode}.`));
      response.resume().on("end", resolve);
    });
    request.on("error", reject);
    request.end("{}");
  });
}

/** User and system time in milliseconds; the kernel counts in hundredths of a second. */
function cpuOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return 10 * (Number(fields[11]) + Number(fields[12]));
}
