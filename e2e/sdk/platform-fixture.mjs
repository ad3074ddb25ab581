// The fixture of the SDK scenario, for any language: a platform with a scripted model, behind a proxy that can cut connections.
// Prints one line of JSON, {"url", "key", "controlUrl"}, and exits when its input ends. POST {controlUrl}/cut cuts all connections.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect, createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const program = join(root, "packages/platform/bin/platform.mjs");
const modelServer = join(root, "packages/testkit/dist/model-server.cjs");
const scenario = JSON.parse(readFileSync(join(root, "e2e/sdk/platform-scenario.json"), "utf8"));

const directory = mkdtempSync(join(tmpdir(), "platform-fixture-"));
const data = join(directory, "data");
const children = [];
try {
  const model = await startModel();
  const platform = await startPlatform(model);
  const proxy = await openProxy(Number(new URL(platform).port));
  console.log(JSON.stringify({ url: proxy.url, controlUrl: proxy.controlUrl, key: makeKey() }));
  process.stdin.resume();
  await once(process.stdin, "end");
  proxy.close();
} finally {
  for (const child of children.reverse()) await stop(child);
  rmSync(directory, { recursive: true, force: true });
}

async function startModel() {
  const script = join(directory, "script.json");
  writeFileSync(script, JSON.stringify(scenario.model));
  return addressOf(start(modelServer, ["--script", script]));
}

async function startPlatform(model) {
  const config = join(directory, "config.toml");
  writeFileSync(
    config,
    `model = "scripted"\nmodel_provider = "scripted"\n[model_providers.scripted]\nbase_url = "${model}"\nwire_api = "responses"\n`,
  );
  return addressOf(start(program, ["serve", "--data", data, "--config", config, "--listen", "127.0.0.1:0"]));
}

function start(file, args) {
  const child = spawn(process.execPath, [file, ...args], { stdio: ["pipe", "pipe", "pipe"] });
  child.errorText = "";
  child.stderr.on("data", (text) => {
    child.errorText = (child.errorText + text).slice(-10_000);
  });
  children.push(child);
  return child;
}

async function addressOf(child) {
  const line = await Promise.race([once(createInterface(child.stdout), "line"), once(child, "exit").then(() => [""])]);
  const [, url] = /^listening on (\S+)$/.exec(line[0]) ?? [];
  if (!url) throw new Error(`${child.spawnargs[1]} did not start: ${child.errorText}`);
  return url;
}

function makeKey() {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [program, "keys", "create", "--name", "story", "--data", data],
    {
      encoding: "utf8",
    },
  );
  if (!stdout.startsWith("plt_")) throw new Error(`no key was created: ${stderr}`);
  return stdout.trim();
}

/** Forwards bytes. A cut closes every open connection; new ones are accepted. */
async function openProxy(port) {
  const open = new Set();
  const proxy = createTcpServer((client) => {
    const server = connect(port, "127.0.0.1");
    client.pipe(server).pipe(client);
    for (const socket of [client, server]) {
      open.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        open.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
  });
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  const control = createServer((_, response) => {
    cut();
    response.end("cut\n");
  });
  for (const server of [proxy, control]) await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${proxy.address().port}`,
    controlUrl: `http://127.0.0.1:${control.address().port}`,
    close() {
      cut();
      proxy.close();
      control.close();
      control.closeAllConnections();
    },
  };
}

async function stop(child) {
  if (child.exitCode !== null) return;
  const exited = once(child, "exit");
  child.stdin.end();
  child.kill("SIGTERM");
  await exited;
}
