// A platform on this machine for whoever tries it out: server, key, sample repository, link to log in.
import { spawn, spawnSync } from "node:child_process";
import { closeSync, cpSync, mkdirSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const house = join(dirname(fileURLToPath(import.meta.url)), "..");
const program = join(house, "packages/platform/bin/platform.mjs");

/** Its log goes to a file: a person wants to see what it says, not what it does. */
export async function startPlatform({ data, listen = "127.0.0.1:7420" }) {
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const logFile = join(data, "server.log");
  const log = openSync(logFile, "a", 0o600);
  const child = spawn(process.execPath, [program, "serve", "--data", data, "--listen", listen], {
    stdio: ["ignore", "pipe", log],
    // Ctrl-C goes to everybody in the group of the terminal; a second signal would end the server at once.
    detached: true,
  });
  closeSync(log);
  const ended = new Promise((resolve) => child.once("exit", (code, signal) => resolve(code ?? signal)));
  let isStopping = false;
  // However often it is asked for: npm passes on a Ctrl-C that has been heard already.
  const stop = async () => {
    if (!isStopping) child.kill("SIGTERM");
    isStopping = true;
    await ended;
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => void stop());
  const begun = await Promise.race([listening(child), ended.then((how) => ({ how }))]);
  if ("how" in begun) return explainEnd(begun.how, logFile);
  const run = (...args) => platform(data, args);
  return {
    url: begun.url,
    logFile,
    ended,
    key: run("keys", "create", "--name", "npm start", "--expires", "30d"),
    loginUrl: run("login-link"),
    sample: provideSample(data),
    isStopping: () => isStopping,
    stop,
  };
}

function listening({ stdout }) {
  return new Promise((resolve) => {
    createInterface(stdout).on("line", (line) => {
      const [, url] = /^listening on (\S+)$/.exec(line) ?? [];
      if (url) resolve({ url });
    });
  });
}

function explainEnd(how, logFile) {
  const { stdout } = spawnSync("tail", ["-n", "20", logFile], { encoding: "utf8" });
  const said = stdout.split("\n").findLast((line) => line.startsWith("ERROR: "));
  console.error(said ?? `The platform ended (${how}) before it listened. The end of ${logFile}:\n${stdout}`);
  process.exit(1);
}

/** The clone URL of the sample repository; made on the first start. */
function provideSample(data) {
  const scratch = mkdtempSync(join(tmpdir(), "platform-sample-"));
  try {
    cpSync(join(house, "examples/sample"), scratch, { recursive: true });
    return platform(data, ["repos", "create", "sample", "--from", scratch, "--if-missing"]);
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
