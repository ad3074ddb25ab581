// A platform on this machine, to try it out: server, API key, sample repository, login link.
import { spawn, spawnSync } from "node:child_process";
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const program = join(root, "packages/platform/bin/platform.mjs");

/** Its log goes to a file, so that the terminal shows only what the user needs. */
export async function startPlatform({ data, listen = "127.0.0.1:7420" }) {
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const logFile = join(data, "server.log");
  const log = openSync(logFile, "a", 0o600);
  const child = spawn(process.execPath, [program, "serve", "--data", data, "--listen", listen], {
    stdio: ["ignore", "pipe", log],
    env: { ...machineSettings(data), ...process.env },
    // Ctrl-C goes to the whole process group of the terminal; a second signal would end the server at once.
    detached: true,
  });
  closeSync(log);
  const exited = new Promise((resolve) => child.once("exit", (code, signal) => resolve(code ?? signal)));
  let isStopping = false;
  // Sends one signal only: npm forwards a Ctrl-C that this process has received already.
  const stop = async () => {
    if (!isStopping) child.kill("SIGTERM");
    isStopping = true;
    await exited;
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => void stop());
  const started = await Promise.race([listening(child), exited.then((exit) => ({ exit }))]);
  if ("exit" in started) return reportFailure(started.exit, logFile);
  const stopImage = makeBaseImage(data, logFile);
  void exited.then(stopImage);
  const { url, model } = started;
  const key = await provideKey(data, url);
  const sample = provideSample(data);
  // For `agentcli cloud` without any configuration.
  writeFileSync(join(data, "local.json"), `${JSON.stringify({ url, key, repository: sample })}\n`, { mode: 0o600 });
  return {
    url,
    model,
    logFile,
    exited,
    key,
    loginUrl: platform(data, ["login-link"]),
    sample,
    isStopping: () => isStopping,
    stop,
  };
}

/** Disks of machines have directories that even their owner may not enter; root of a user namespace may. */
export function removeData(data) {
  const asRoot = process.geteuid() === 0 ? [] : ["--user", "--map-root-user"];
  const { status } = spawnSync("unshare", [...asRoot, "--", "rm", "-rf", data], { stdio: "ignore" });
  if (status !== 0) rmSync(data, { recursive: true, force: true });
}

/** Each agent has a machine where this host can make one, unless a configuration says where agents work. */
const machineSettings = (data) =>
  process.env.PLATFORM_CONFIG || existsSync(join(data, "config.toml")) ? {} : { PLATFORM_MACHINES_PROVIDER: "auto" };

/** In the background, where mmdebstrap is installed; until it is there, machines show the programs of this host. */
function makeBaseImage(data, logFile) {
  const isWanted = machineSettings(data).PLATFORM_MACHINES_PROVIDER && !process.env.PLATFORM_MACHINES_PROVIDER;
  if (!isWanted || !existsSync("/usr/bin/mmdebstrap") || existsSync(join(data, "images"))) return () => {};
  const log = openSync(logFile, "a", 0o600);
  const command = ["-n", "19", process.execPath, program, "image", "build", "--data", data];
  const child = spawn("nice", command, { stdio: ["ignore", log, log], detached: true });
  closeSync(log);
  child.on("error", () => {});
  return () => void child.kill("SIGTERM");
}

function listening({ stdout }) {
  return new Promise((resolve) => {
    let url = "";
    createInterface(stdout).on("line", (line) => {
      url = /^listening on (\S+)$/.exec(line)?.[1] ?? url;
      const [, model] = /^model: (.+)$/.exec(line) ?? [];
      if (url && model) resolve({ url, model });
    });
  });
}

function reportFailure(exit, logFile) {
  const { stdout } = spawnSync("tail", ["-n", "20", logFile], { encoding: "utf8" });
  const error = stdout.split("\n").findLast((line) => line.startsWith("ERROR: "));
  console.error(error ?? `The platform exited (${exit}) before it was ready. Last lines of ${logFile}:\n${stdout}`);
  process.exit(1);
}

/** The key of the last start as long as it is accepted, otherwise a new one. */
async function provideKey(data, url) {
  const key = formerKey(join(data, "local.json"));
  const answer = key && (await fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${key}` } }));
  return answer?.ok ? key : platform(data, ["keys", "create", "--name", "npm start", "--expires", "30d"]);
}

/** Undefined without such a file, and for one that cannot be read: a new key is as good. */
function formerKey(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).key;
  } catch {
    return undefined;
  }
}

/** The clone URL of the sample repository, which the first start creates. */
function provideSample(data) {
  const scratch = mkdtempSync(join(tmpdir(), "platform-sample-"));
  try {
    cpSync(join(root, "examples/sample"), scratch, { recursive: true });
    return platform(data, ["repos", "create", "sample", "--from", scratch, "--if-missing"]);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Pushes the first state to `main`, whatever was merged or pushed there since. */
export function resetSample({ sample, key }) {
  const scratch = mkdtempSync(join(tmpdir(), "platform-sample-"));
  const authorization = `authorization: Basic ${Buffer.from(`${key}:`).toString("base64")}`;
  // Not in arguments, which other users can read.
  const config = { "http.extraHeader": authorization, "user.name": "Sample", "user.email": "sample@example.com" };
  const names = Object.entries(config).flatMap(([name, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, name],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  const env = { ...process.env, ...Object.fromEntries(names), GIT_CONFIG_COUNT: String(Object.keys(config).length) };
  const git = (...args) => {
    const { status, stderr } = spawnSync("git", args, { cwd: scratch, env, encoding: "utf8" });
    if (status !== 0) throw new Error(`The sample repository was not reset: git ${args[0]} failed: ${stderr}`);
  };
  try {
    cpSync(join(root, "examples/sample"), scratch, { recursive: true });
    git("init", "--quiet", "--initial-branch=main");
    git("add", "--all");
    git("commit", "--quiet", "--message=Start");
    git("push", "--quiet", "--force", sample, "main");
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function platform(data, args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args, "--data", data], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`platform ${args.join(" ")} failed: ${stderr}`);
  return stdout.trim();
}
