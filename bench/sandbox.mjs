// What the sandbox costs: its start against Node's own, and a command in it against a plain spawn.
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { minimum, run } from "./measure.mjs";

const commands = 200;
const backEnds = {
  bubblewrap: { kind: "bubblewrap", program: "/usr/bin/bwrap", processes: "own" },
  landlock: { kind: "landlock", version: 7 },
};

/** Rows of the table: what, who, milliseconds, ratio, limit. */
export async function sandboxRows({ root, scratch, rounds }) {
  const workspaces = await load(root, scratch);
  const workspace = join(scratch, "workspace");
  mkdirSync(workspace);
  const open = (backEnd) =>
    workspaces.openWorkspace(workspaces.sandboxPolicy({ mode: "workspace-write", root: workspace }), {
      serverProgram: join(root, "packages/cli/dist/workspace-server.cjs"),
      env: workspaces.toolEnvironment(process.env, { home: "/" }),
      incarnation: `bench-${process.pid}-${performance.now()}`,
      backEnd,
    });
  return [...(await starts(open, rounds)), ...(await commandsIn(open))];
}

/** Node 20 cannot load TypeScript. */
async function load(root, scratch) {
  const input = join(root, "packages/workspace/src/index.ts");
  const bundle = await rolldown({ input, platform: "node", external: [/^@lydell/], logLevel: "silent" });
  const file = join(scratch, "workspace.mjs");
  await bundle.write({ file, format: "esm", codeSplitting: false });
  await bundle.close();
  return import(pathToFileURL(file).href);
}

/** Until the server inside has responded. */
async function starts(open, rounds) {
  const node = [];
  const times = { bubblewrap: [], landlock: [] };
  for (let round = 0; round < rounds; round += 1) {
    node.push((await run({ program: process.execPath, args: ["-e", "0"], env: process.env, cwd: "/" })).wallMs);
    for (const [name, backEnd] of Object.entries(backEnds)) {
      const startedAt = performance.now();
      const workspace = await open(backEnd);
      times[name].push(performance.now() - startedAt);
      await workspace.close();
    }
  }
  const floor = minimum(node);
  const ratio = (name) => minimum(times[name]) / floor;
  return [
    ["start, minimum", "node -e 0", floor, 1, ""],
    ["start of the sandbox, minimum", "bubblewrap", minimum(times.bubblewrap), ratio("bubblewrap"), "< 1.6x"],
    ["start of the sandbox, minimum", "landlock", minimum(times.landlock), ratio("landlock"), ""],
  ];
}

/** In turns, so that both see the same load. */
async function commandsIn(open) {
  const rows = [];
  for (const [name, backEnd] of Object.entries(backEnds)) {
    const workspace = await open(backEnd);
    const times = { plain: [], inside: [] };
    for (let count = 0; count < commands; count += 1) {
      times.plain.push(await timed(() => plainSpawn(["bash", "-c", "true"])));
      times.inside.push(await timed(() => exec(workspace, count)));
    }
    await workspace.close();
    const [plain, inside] = [minimum(times.plain), minimum(times.inside)];
    if (rows.length === 0) rows.push(["command, plain spawn, minimum of 200", "bash -c true", plain, 1, ""]);
    rows.push(["command in the sandbox, over a plain spawn", name, inside - plain, inside / plain, "< 2 ms"]);
  }
  return rows;
}

async function timed(work) {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

const exec = (workspace, count) =>
  workspace.exec(
    { id: `command-${count}`, start: { argv: ["bash", "-c", "true"] }, endInput: true },
    () => {},
    new AbortController().signal,
  );

const plainSpawn = ([program, ...args]) =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
    child.on("error", reject);
    child.on("close", resolve);
  });
