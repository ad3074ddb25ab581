// The model server as a program: model-server --script FILE.json [--port N] [--log FILE.jsonl]
import { appendFileSync, fstatSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { parseScript, type Script } from "./script.ts";
import { startModelServer } from "./server.ts";

const usage = "Usage: model-server --script FILE.json [--port N] [--log FILE.jsonl]";

main().catch((error: unknown) => {
  process.stderr.write(`model-server: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
});

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { script: { type: "string" }, port: { type: "string" }, log: { type: "string" } },
  });
  const { script, port, log } = values;
  if (script === undefined) throw new Error(`--script is missing. ${usage}`);
  const server = await startModelServer(readScript(script), {
    port: portOf(port),
    onRequest: (request) => {
      if (log !== undefined) appendFileSync(log, `${JSON.stringify(request)}\n`);
    },
  });
  stopWith(() => server.close());
  process.stdout.write(`listening on ${server.url}\n`);
}

function readScript(file: string): Script {
  try {
    return parseScript(JSON.parse(readFileSync(file, "utf8")));
  } catch (cause) {
    throw new Error(`${file} is not a script: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}

function portOf(text: string | undefined): number {
  const port = Number(text ?? 0);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error(`--port ${text} is not a port. ${usage}`);
  return port;
}

function stopWith(close: () => Promise<void>): void {
  const stop = () => void close().then(() => process.exit(0));
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);
  // Only a pipe can be closed by the parent process; a shell gives background programs /dev/null, which ends at once.
  const input = fstatSync(0);
  if (!input.isFIFO() && !input.isSocket()) return;
  process.stdin.once("end", stop);
  process.stdin.resume();
}
