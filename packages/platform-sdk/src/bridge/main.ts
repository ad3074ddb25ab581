// `platform-sdk bridge`: says on standard error where it listens, and ends with a signal, a call or its standard input.
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { accountCalls } from "../account.ts";
import { agentCalls } from "../agents.ts";
import { processRuntime } from "../runtime.ts";
import { version } from "../version.ts";
import { bridgeMethods } from "./methods.ts";
import { openBridge } from "./server.ts";

const usage = `Usage: platform-sdk bridge [--port PORT] [--token-file FILE] [--with-stdin]

Serves the SDK on 127.0.0.1 for programs in other languages.
  --port PORT        a free one unless given
  --token-file FILE  where to write the token that callers must send (a file of its own in a new directory)
  --with-stdin       end when standard input ends
`;

main().catch((error: unknown) => {
  process.stderr.write(`platform-sdk: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
});

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      port: { type: "string", default: "0" },
      "token-file": { type: "string" },
      "with-stdin": { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
      version: { type: "boolean", default: false },
    },
  });
  if (values.version) return void process.stdout.write(`${version}\n`);
  if (values.help) return void process.stdout.write(usage);
  if (positionals.join(" ") !== "bridge") throw new Error(`there is no such command. ${usage}`);
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error(`--port: ${values.port} is not a port.`);
  await serve(port, values["token-file"], values["with-stdin"] ? "with-stdin" : "until-stopped");
}

async function serve(port: number, tokenFile: string | undefined, end: "with-stdin" | "until-stopped"): Promise<void> {
  const file = tokenFile === undefined ? join(openTokenDirectory(), "token") : resolve(tokenFile);
  const token = randomBytes(32).toString("base64url");
  let stop = () => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  // Before the bridge is announced: its parent may end it at once.
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.once(signal, stop);
  const calls = { Agent: agentCalls(processRuntime), Platform: accountCalls(processRuntime) };
  const { methods, close } = bridgeMethods(calls, stop);
  const bridge = await openBridge(methods, token, port);
  try {
    // Not over a file that is there: its mode might let others read.
    writeFileSync(file, token, { mode: 0o600, flag: "wx" });
    announce(bridge.port, file);
    if (end === "with-stdin") process.stdin.resume().once("end", stop).once("error", stop);
    await stopped;
  } finally {
    await bridge.close();
    await close();
    rmSync(tokenFile === undefined ? dirname(file) : file, { recursive: true, force: true });
    process.stdin.destroy();
  }
}

/** Hidden in every sandbox. Where there is no home, the directory for temporary files has to do. */
function openTokenDirectory(): string {
  try {
    const parent = join(homedir(), ".platform", "sdk");
    mkdirSync(parent, { recursive: true, mode: 0o700 });
    return mkdtempSync(join(parent, "bridge-"));
  } catch {
    return mkdtempSync(join(tmpdir(), "platform-sdk-"));
  }
}

function announce(port: number, authTokenFile: string): void {
  const facts = {
    ...{ schemaVersion: 1, transport: "tcp", protocol: "http-json", host: "127.0.0.1", port },
    ...{ url: `http://127.0.0.1:${port}`, authTokenFile, pid: process.pid, version },
  };
  process.stderr.write(`platform-sdk-bridge ready ${JSON.stringify(facts)}\n`);
}
