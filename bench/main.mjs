// `npm run bench`: start-up, tool calls, memory and streams as ratios against what Node itself needs.
// --only terminal measures the terminal interface alone, --only web the web app, --only start the start (see start-up.mjs), --only proxy the responses proxy.
// --row 'name=command with {url}' adds another program as a row, --terminal 'name=command@text' one that shows a text on a terminal ({home}: its home). --against DIR compares start-up and CPU time with another built checkout. --only automations measures what idle automations cost, --only builds what builds cost that have ended, --only workers what workers cost, --only capacity what a thousand servers would, and nothing else.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { compareBuilds } from "./against.mjs";
import { egressRows } from "./egress.mjs";
import { largeWorkspaceRows } from "./large-workspace.mjs";
import { median, minimum, peakMemoryMb, run } from "./measure.mjs";
import { command, message, startServer } from "./model-server.mjs";
import { idleAutomationRows, platformRows, recordedBuildRows, simulatedCapacityRows } from "./platform.mjs";
import { responsesProxyRows } from "./responses-proxy.mjs";
import { reviewRows } from "./review.mjs";
import { sandboxRows } from "./sandbox.mjs";
import { measureStart, startUpRows } from "./start-up.mjs";
import { streamRows } from "./streams.mjs";
import { writeThread } from "./thread.mjs";
import { terminalRows } from "./tui.mjs";
import { webRows } from "./web.mjs";
import { workerRows } from "./workers.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const cli = join(root, "packages/cli/bin/agentcli.cjs");
const floor = join(root, "bench/floor.cjs");
const rounds = Number(process.env.ROUNDS ?? 25);
const scratch = mkdtempSync(join(tmpdir(), "agentcli-bench-"));
const rows = [];

try {
  const against = optionValues("--against")[0];
  if (against === undefined) {
    const only = {
      automations: measureAutomations,
      builds: measureBuilds,
      workers: measureWorkers,
      capacity: measureCapacity,
    }[optionValues("--only")[0]];
    await (only ?? measureAll)();
    printTable([["what", "who", "value", "ratio", "limit"], ...rows]);
  } else printTable(await compareBuilds({ root, against, scratch, rounds }));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

async function measureAll() {
  const repository = join(scratch, "repository");
  mkdirSync(repository);
  spawnSync("git", ["init", "--quiet", repository]);
  const measureTerminal = async () => {
    for (const row of await terminalRows({ agent, cwd: repository, rounds, others: otherTerminals })) add(...row);
  };
  if (optionValues("--only")[0] === "terminal") return measureTerminal();
  const measureWeb = async () => {
    for (const row of await webRows({ root, scratch })) add(...row);
  };
  if (optionValues("--only")[0] === "web") return measureWeb();
  if (optionValues("--only")[0] === "start") return startUp(repository);
  const measureProxy = async () => {
    for (const row of await responsesProxyRows({ root, scratch })) add(...row);
  };
  if (optionValues("--only")[0] === "proxy") return measureProxy();
  await hello(repository);
  await version(repository);
  await toolCalls(repository);
  for (const [what, who, ms, ratio, limit] of await sandboxRows({ root, scratch, rounds }))
    add(what, who, ms, "ms", ratio, limit);
  for (const row of await streamRows({ root, cwd: repository, agent })) add(...row);
  await longThread(repository);
  await measureTerminal();
  await fullProject(repository);
  for (const row of await reviewRows({ scratch, agent })) add(...row);
  await measureProxy();
  for (const row of await egressRows({ root, scratch })) add(...row);
  for (const row of await largeWorkspaceRows({ scratch, empty: repository, agent, rounds })) add(...row);
  for (const row of await platformRows({ root, scratch, rounds })) add(...row);
  await measureWorkers();
  await measureWeb();
}

async function measureAutomations() {
  for (const row of await idleAutomationRows({ root, scratch })) add(...row);
}

async function measureWorkers() {
  for (const row of await workerRows({ root, scratch, rounds })) add(...row);
}

async function measureCapacity() {
  for (const row of await simulatedCapacityRows({ root, scratch })) add(...row);
}

async function measureBuilds() {
  for (const row of await recordedBuildRows({ root, scratch })) add(...row);
}

async function hello(cwd) {
  const server = await startServer(() => message("Hello."));
  const programs = [
    { name: "node -e 0", program: process.execPath, args: ["-e", "0"], silent: true },
    { name: "floor: one request", program: process.execPath, args: [floor, server.url] },
    { name: "agentcli exec", ...agent(server.url, ["exec", "hello"]) },
    ...otherRows(server.url),
  ].map((each) => ({ env: agentEnvironment(server.url), cwd, ...each, wall: [], first: [] }));
  for (let round = 0; round < rounds + 2; round += 1) {
    for (const each of programs) await measureStart(each, server, round >= 2);
  }
  const [, base] = programs;
  for (const { name, wall, first, silent } of programs) {
    add(
      "hello, wall",
      name,
      median(wall),
      "ms",
      median(wall) / median(base.wall),
      name === "agentcli exec" ? "≤ 1.6x" : "",
    );
    if (!silent)
      add(
        "hello, first request",
        name,
        median(first),
        "ms",
        median(first) / median(base.first),
        name === "agentcli exec" ? "≤ 1.5x" : "",
      );
  }
  const slow = await startServer(() => message("Hello."));
  const peaks = [];
  for (let round = 0; round < 5; round += 1)
    peaks.push(await peakMemoryMb({ ...agent(slow.url, ["exec", "hello"]), cwd }));
  add("hello, peak memory of the tree", "agentcli exec", Math.max(...peaks), "MB", null, "< 110 MB");
  slow.close();
  server.close();
}

async function startUp(cwd) {
  const server = await startServer(() => message("Hello."));
  const env = agentEnvironment(server.url);
  const executables = optionValues("--executable").map((program) => ({
    name: "one file",
    program,
    args: ["exec", "hello"],
  }));
  const programs = [
    { name: "floor: one request", program: process.execPath, args: [floor, server.url] },
    { name: "agentcli exec", ...agent(server.url, ["exec", "hello"]) },
    ...executables,
  ].map((each) => ({ env, cwd, ...each }));
  const others = otherRows(server.url).map((each) => ({ env, cwd, ...each }));
  for (const row of await startUpRows({ programs, others, server, rounds })) add(...row);
  server.close();
}

async function version(cwd) {
  const times = { node: [], ours: [] };
  for (let round = 0; round < rounds; round += 1) {
    times.node.push((await run({ program: process.execPath, args: ["-e", "0"], env: process.env, cwd })).wallMs);
    times.ours.push((await run({ program: process.execPath, args: [cli, "--version"], env: process.env, cwd })).wallMs);
  }
  add("--version", "agentcli", median(times.ours), "ms", median(times.ours) / median(times.node), "Node's own");
}

/** End of the reply to arrival of the next request, less a plain spawn of the same command. */
async function toolCalls(cwd) {
  const calls = 50;
  const server = await startServer((index) => (index < calls ? command(`true ${index}`, index) : message("Done.")));
  await run({ ...agent(server.url, ["exec", "-s", "workspace-write", "run"]), cwd });
  const gaps = server.departures.slice(0, calls).map((departure, index) => server.arrivals[index + 1] - departure);
  const plain = spawnTimes("bash", ["-c", "true"], calls);
  const wrapped = spawnTimes(
    "bwrap",
    ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-all", "bash", "-c", "true"],
    calls,
  );
  const overhead = minimum(gaps) - minimum(plain);
  add(
    "tool call in the sandbox, over a plain spawn",
    "agentcli exec",
    overhead,
    "ms",
    minimum(gaps) / minimum(wrapped),
    "< 8 ms",
  );
  add("tool call, plain spawn", "bash -c true", minimum(plain), "ms", minimum(plain) / minimum(wrapped), "");
  add("tool call, bubblewrap per command", "bwrap bash -c true", minimum(wrapped), "ms", 1, "");
  server.close();
}

function spawnTimes(program, args, count) {
  return Array.from({ length: count }, () => {
    const startedAt = performance.now();
    spawnSync(program, args);
    return performance.now() - startedAt;
  });
}

async function longThread(cwd) {
  const server = await startServer(() => message("Hello."));
  const times = { short: [], long: [] };
  const home = join(scratch, "home");
  const ids = { short: writeThread(home, cwd, 6), long: writeThread(home, cwd, 10_000) };
  for (let round = 0; round < 9; round += 1) {
    for (const name of ["short", "long"]) {
      times[name].push((await run({ ...agent(server.url, ["exec", "resume", ids[name], "hello"]), cwd })).wallMs);
    }
  }
  const added = median(times.long) - median(times.short);
  add(
    "resume of 10,000 records, over a short thread",
    "agentcli exec resume",
    added,
    "ms",
    median(times.long) / median(times.short),
    "< 100 ms",
  );
  server.close();
}

/** First request in a project with many instructions and skills, over that in an empty one. */
async function fullProject(empty) {
  const server = await startServer(() => message("Hello."));
  const full = join(scratch, "full");
  spawnSync("git", ["init", "--quiet", full]);
  for (let number = 0; number < 300; number += 1) {
    const text = `---\nname: skill-${number}\ndescription: ${"What it does and when. ".repeat(8)}\n---\n${"1. A step.\n".repeat(200)}`;
    writeWithFolders(join(full, `.agents/skills/skill-${number}/SKILL.md`), text);
    writeWithFolders(join(full, `.agents/skills/skill-${number}/references/more.md`), text);
  }
  for (let number = 0; number < 200; number += 1) {
    writeWithFolders(join(full, `area-${number % 20}/part-${number}/AGENTS.md`), "Use tabs.\n".repeat(100));
  }
  writeWithFolders(join(full, "AGENTS.md"), "Use tabs.\n".repeat(500));
  const programs = [empty, full].map((cwd) => ({ ...agent(server.url, ["exec", "hello"]), cwd, wall: [], first: [] }));
  for (let round = 0; round < rounds + 2; round += 1) {
    for (const each of programs) await measureStart(each, server, round >= 2);
  }
  const [base, ours] = programs.map(({ first }) => median(first));
  const what = "300 skills and 200 AGENTS.md, compared with an empty project";
  add(what, "agentcli exec", ours - base, "ms", ours / base, "< 60 ms");
  server.close();
}

function writeWithFolders(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function agent(url, args) {
  return { program: process.execPath, args: [cli, ...args], env: agentEnvironment(url) };
}

function agentEnvironment(url) {
  const home = join(scratch, "home");
  mkdirSync(home, { recursive: true });
  writeFileSync(
    join(home, "config.toml"),
    `model = "scripted"\nmodel_provider = "scripted"\n[model_providers.scripted]\nbase_url = "${url}"\n`,
  );
  return { ...process.env, AGENT_HOME: home, BENCH_URL: url };
}

function optionValues(name) {
  return process.argv.flatMap((argument, index, all) => (argument === name ? [all[index + 1] ?? ""] : []));
}

function otherRows(url) {
  return optionValues("--row").map((option) => {
    const [name, ...line] = option.split("=");
    return { name, program: "bash", args: ["-c", line.join("=").replaceAll("{url}", url)] };
  });
}

/** Their first paint shows the text after the last `@`. They get a home of their own, and no proxy to other machines. */
function otherTerminals(url) {
  return optionValues("--terminal").map((option) => {
    const [, name, line, shows] = /^([^=]+)=(.*)@([^@]+)$/s.exec(option) ?? [];
    if (!shows) throw new Error(`Invalid --terminal ${option}: expected name=command@text.`);
    const home = join(scratch, `home-of-${name}`);
    mkdirSync(home, { recursive: true });
    const command = line.replaceAll("{url}", url).replaceAll("{home}", home);
    const proxy = "http://127.0.0.1:9";
    const env = { PATH: process.env.PATH, HOME: home, HTTPS_PROXY: proxy, HTTP_PROXY: proxy, NO_PROXY: "127.0.0.1" };
    return { name, program: "bash", args: ["-c", `exec ${command}`], shows, env };
  });
}

function add(what, who, value, unit, ratio, limit) {
  const shown = value === null ? "not available" : `${value.toFixed(1)} ${unit}`;
  rows.push([what, who, shown, ratio === null ? "" : `${ratio.toFixed(2)}x`, limit]);
}

function printTable(table) {
  const widths = table[0].map((_, column) => Math.max(...table.map((row) => row[column].length)));
  for (const row of table)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column]))
        .join("  ")
        .trimEnd(),
    );
}
