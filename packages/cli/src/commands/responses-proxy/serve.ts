// `agentcli responses-proxy`: serves until it is stopped, by a signal, a client or the end of another process.
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CommandError } from "@agentcli/command-line";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import { identityOf, isRunning, type ProcessIdentity } from "@agentcli/workspace/process-identity";
import type { Invocation } from "../../command.ts";
import type { Program } from "../../program.ts";
import { readKey } from "../../responses-proxy/key.ts";
import { openProxy } from "../../responses-proxy/server.ts";
import { issueTokens } from "../../responses-proxy/tokens.ts";
import { defaultUpstream, openUpstream } from "../../responses-proxy/upstream.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const options = readOptions(invocation, program.environment.cwd);
  const key = readKey(program.environment.variables);
  const stop = new AbortController();
  program.signal.addEventListener("abort", () => stop.abort());
  const tokens = issueTokens(options.tokenFiles);
  const proxy = await openProxy({
    ...options,
    key: key.bytes,
    tokens,
    onShutdown: invocation.has("http-shutdown") ? () => stop.abort() : undefined,
  });
  const { port } = proxy;
  const info = { url: `http://127.0.0.1:${port}/v1`, port, pid: process.pid, protection: key.protection };
  if (options.infoFile) writeWhole(options.infoFile, `${JSON.stringify(info)}\n`);
  if (key.protection === "none")
    program.reporter.log("On this system other processes of your user may be able to read the key.");
  await program.print(`${JSON.stringify(info)}\n`);
  await untilStopped(stop.signal, options.endWith);
  await proxy.close();
  key.wipe();
  tokens.remove();
  if (options.infoFile) rmSync(options.infoFile, { force: true });
  return exitCodes.completed.code;
}

function readOptions({ text, list }: Invocation, cwd: string) {
  const tokenFiles = list("token-file").map((file) => resolve(cwd, file));
  if (tokenFiles.length === 0)
    throw new CommandError(
      "usage",
      "Specify a file for each client; its access token is written there: --token-file FILE.",
    );
  const info = text("server-info");
  const pid = text("end-with");
  return {
    tokenFiles,
    infoFile: info && resolve(cwd, info),
    upstream: openUpstream(text("upstream-url") ?? defaultUpstream),
    endWith: pid === undefined ? undefined : findProcess(pid),
    maxBodyBytes: numberOf(text("max-body-bytes") ?? "67108864", "max-body-bytes"),
    maxConcurrent: numberOf(text("max-concurrent") ?? "512", "max-concurrent"),
  };
}

function numberOf(text: string, flag: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw new CommandError("usage", `--${flag} ${text} is not a number above zero.`);
}

function findProcess(text: string): ProcessIdentity {
  const identity = identityOf(numberOf(text, "end-with"));
  if (isRunning(identity)) return identity;
  throw new CommandError("usage", `--end-with ${text}: there is no such process.`);
}

/** A client that waits for the file never reads half of it, nor one of an earlier proxy. */
function writeWhole(file: string, text: string): void {
  writeFileSync(`${file}.${process.pid}`, text, { flag: "wx", mode: 0o644 });
  renameSync(`${file}.${process.pid}`, file);
}

const checkMs = 500;

async function untilStopped(signal: AbortSignal, endWith: ProcessIdentity | undefined): Promise<void> {
  while (!signal.aborted && (endWith === undefined || isRunning(endWith)))
    await sleep(endWith === undefined ? 2 ** 30 : checkMs, undefined, { signal }).catch(() => {});
}
