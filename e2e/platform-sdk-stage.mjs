// The stage of the SDKs' story, for any language: a platform with a scripted model, behind a door that can be slammed.
// Prints one line of JSON, {"url", "key", "controlUrl"}, and ends with its standard input. POST {controlUrl}/cut slams the door.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect, createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const house = fileURLToPath(new URL("..", import.meta.url));
const program = join(house, "packages/platform/bin/platform.mjs");
const modelServer = join(house, "packages/testkit/dist/model-server.cjs");
const story = JSON.parse(readFileSync(join(house, "e2e/platform-sdk-story.json"), "utf8"));

const directory = mkdtempSync(join(tmpdir(), "platform-stage-"));
const data = join(directory, "data");
const children = [];
try {
  const model = await startModel();
  const platform = await startPlatform(model);
  const door = await openDoor(Number(new URL(platform).port));
  console.log(JSON.stringify({ url: door.url, controlUrl: door.controlUrl, key: makeKey() }));
  process.stdin.resume();
  await once(process.stdin, "end");
  door.close();
} finally {
  for (const child of children.reverse()) await stop(child);
  rmSync(directory, { recursive: true, force: true });
}

async function startModel() {
  const script = join(directory, "script.json");
  writeFileSync(script, JSON.stringify(story.model));
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
  if (!stdout.startsWith("plt_")) throw new Error(`no key was made: ${stderr}`);
  return stdout.trim();
}

/** Passes bytes on until it is slammed: then every connection breaks, and new ones are welcome. */
async function openDoor(port) {
  const open = new Set();
  const door = createTcpServer((client) => {
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
  const slam = () => {
    for (const socket of open) socket.destroy();
  };
  const control = createServer((_, response) => {
    slam();
    response.end("cut\n");
  });
  for (const server of [door, control]) await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${door.address().port}`,
    controlUrl: `http://127.0.0.1:${control.address().port}`,
    close() {
      slam();
      door.close();
      control.close();
      control.closeAllConnections();
    },
  };
}

async function stop(child) {
  if (child.exitCode !== null) return;
  const ended = once(child, "exit");
  child.stdin.end();
  child.kill("SIGTERM");
  await ended;
}
