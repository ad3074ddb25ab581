// `npm run bench -- --against DIR`: this build and that of another checkout, measured in turns within one run.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { cpuMs, median, minimum, run } from "./measure.mjs";
import { message, startServer } from "./model-server.mjs";
import { writeThread } from "./thread.mjs";

/** Rows of the comparison: what, this build, the other build, this / other. */
export async function compareBuilds({ root, against, scratch, rounds }) {
  const other = resolve(against);
  const builds = [root, other].map((directory) => ({ directory, cli: cliOf(directory) }));
  const server = await startServer(() => message("Hello."));
  try {
    const contexts = builds.map(({ cli }, index) => ({
      cli,
      cwd: makeRepository(scratch, index),
      env: makeHome(scratch, index, server.url),
    }));
    return [
      ["", root, other, "ratio"],
      ...(await times({ contexts, server, root, rounds })),
      ...(await cpuRows({ contexts, rounds })),
      ...(await loads({ contexts, scratch, root })),
    ];
  } finally {
    server.close();
  }
}

function cliOf(directory) {
  const cli = join(directory, "packages/cli/bin/agentcli.cjs");
  if (!existsSync(join(directory, "packages/cli/dist/agentcli.cjs")))
    throw new Error(`${directory} is not a built checkout. Run there: node scripts/build.mjs`);
  return cli;
}

/** Each round runs the floor and then both builds, in an order that changes, so that all see the same machine. */
async function times({ contexts, server, root, rounds }) {
  const floor = { wall: [], first: [] };
  const builds = contexts.map(() => ({ wall: [], first: [], version: [] }));
  const floorProgram = {
    program: process.execPath,
    args: [join(root, "bench/floor.cjs"), server.url],
    env: process.env,
    cwd: contexts[0].cwd,
  };
  for (let round = 0; round < rounds + 2; round += 1) {
    const counts = round >= 2;
    await measure(floorProgram, { server, times: floor, counts });
    const order = round % 2 === 0 ? [0, 1] : [1, 0];
    for (const index of order) {
      const { cli, cwd, env } = contexts[index];
      const started = (args) => ({ program: process.execPath, args: [cli, ...args], cwd, env });
      await measure(started(["exec", "hello"]), { server, times: builds[index], counts });
      const { wallMs } = await run(started(["--version"]));
      if (counts) builds[index].version.push(wallMs);
    }
  }
  const ms = (name, value) => [name, ...builds.map((build) => value(build))];
  const rows = [
    ms("hello, wall, median", ({ wall }) => median(wall)),
    ms("hello, wall, minimum", ({ wall }) => minimum(wall)),
    ms("hello, first request, median", ({ first }) => median(first)),
    ms("hello, first request, minimum", ({ first }) => minimum(first)),
    ms("--version, median", ({ version }) => median(version)),
  ].map(([name, ours, theirs]) => [
    name,
    `${ours.toFixed(1)} ms`,
    `${theirs.toFixed(1)} ms`,
    `${(ours / theirs).toFixed(3)}x`,
  ]);
  const ratios = [
    ms("hello, wall, over the floor", ({ wall }) => median(wall) / median(floor.wall)),
    ms("hello, first request, over the floor", ({ first }) => median(first) / median(floor.first)),
  ].map(([name, ours, theirs]) => [
    name,
    `${ours.toFixed(2)}x`,
    `${theirs.toFixed(2)}x`,
    `${(ours / theirs).toFixed(3)}x`,
  ]);
  return [...rows, ...ratios];
}

/** CPU time, which the load of the machine changes less than wall time. The reply has 2 MB in 65,536 deltas. */
async function cpuRows({ contexts, rounds }) {
  const long = message("0123456789abcdef0123456789abcde\n".repeat(65_536), 65_536);
  const longServer = await startServer(() => long);
  const builds = contexts.map(({ cli, cwd, env }) => ({
    cli,
    cwd,
    env,
    thread: writeThread(env.AGENT_HOME, cwd, 10_000),
  }));
  const cases = {
    "hello, CPU": ({ cli }) => [cli, "exec", "hello"],
    "resume of 10,000 records, CPU": ({ cli, thread }) => [cli, "exec", "resume", thread, "hello"],
    "2 MB reply, CPU": ({ cli }) => [
      cli,
      "exec",
      "-c",
      `model_providers.scripted.base_url="${longServer.url}"`,
      "hello",
    ],
  };
  const rows = [];
  for (const [name, argumentsOf] of Object.entries(cases)) {
    const times = builds.map(() => []);
    for (let round = 0; round < rounds; round += 1) {
      for (const index of round % 2 === 0 ? [0, 1] : [1, 0]) {
        const { cwd, env } = builds[index];
        times[index].push(await cpuMs({ program: process.execPath, args: argumentsOf(builds[index]), cwd, env }));
      }
    }
    for (const [kind, of] of Object.entries({ median, minimum })) {
      const [ours, theirs] = times.map(of);
      rows.push([
        `${name}, ${kind}`,
        `${ours.toFixed(1)} ms`,
        `${theirs.toFixed(1)} ms`,
        `${(ours / theirs).toFixed(3)}x`,
      ]);
    }
  }
  longServer.close();
  return rows;
}

async function measure(program, { server, times, counts }) {
  server.reset();
  let startedAt = 0;
  const { wallMs } = await run(program, (at) => {
    startedAt = at;
  });
  if (!counts) return;
  times.wall.push(wallMs);
  times.first.push(server.arrivals[0] - startedAt);
}

/** What `agentcli exec hello` loads: files of the program, their bytes, modules of Node. */
async function loads({ contexts, scratch, root }) {
  const preload = join(root, "bench/loaded.cjs");
  const loaded = [];
  for (const { cli, cwd, env } of contexts) {
    const file = join(scratch, "loaded.json");
    await run({
      program: process.execPath,
      args: ["--require", preload, cli, "exec", "hello"],
      cwd,
      env: { ...env, LOADED_FILE: file },
    });
    loaded.push(JSON.parse(readFileSync(file, "utf8")));
  }
  const [ours, theirs] = loaded;
  const row = (name, key) => [
    name,
    ...[ours[key], theirs[key]].map((value) => value.toLocaleString("en")),
    `${(ours[key] / theirs[key]).toFixed(3)}x`,
  ];
  return [
    row("exec hello, files loaded", "files"),
    row("exec hello, bytes loaded", "bytes"),
    row("exec hello, modules of Node loaded", "builtIn"),
  ];
}

function makeRepository(scratch, index) {
  const directory = makeDirectory(scratch, `repository-${index}`);
  spawnSync("git", ["init", "--quiet", directory]);
  return directory;
}

function makeHome(scratch, index, url) {
  const home = makeDirectory(scratch, `home-${index}`);
  const provider = `[model_providers.scripted]\nbase_url = "${url}"\n`;
  writeFileSync(join(home, "config.toml"), `model = "scripted"\nmodel_provider = "scripted"\n${provider}`);
  return { ...process.env, AGENT_HOME: home };
}

function makeDirectory(scratch, name) {
  const directory = join(scratch, name);
  mkdirSync(directory, { recursive: true });
  return directory;
}
