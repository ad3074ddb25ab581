// `agent worker debug`: what a worker here would register, and whether it could work.
import { arch, availableParallelism, release, totalmem, type } from "node:os";
import { join } from "node:path";
import type { Invocation } from "@agentcli/command-line";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import { type SandboxProbe, supportsProxy } from "@agentcli/workspace";
import type { WorkerFlag } from "./commands.ts";
import type { WorkerOptions } from "./options.ts";
import type { RunProgram } from "./program.ts";

const healthTimeoutMs = 10_000;

/** Exits with 8 without a sandbox, and with 0 otherwise, whether the platform answers or not. */
export async function debugWorker(
  options: WorkerOptions,
  { has }: Invocation<WorkerFlag>,
  { directory, version, print }: RunProgram,
): Promise<number> {
  const { probeHere, proxyFor } = await import("./start.ts");
  const probe = await probeHere(options, join(directory, "workspace-server.cjs"));
  const { url, workerId, name, pool = null, labels, workspaceRootPath, repoUrl = null, dataDirectory } = options;
  const facts = {
    ...{ version, endpoint: url, platform: await healthOf(url), workerId, name, pool, labels },
    ...{ workspaceRootPath, repoUrl, dataDirectory, idleReleaseTimeoutSeconds: options.session.idleTimeoutMs / 1_000 },
    ...{ receives: options.receives, sandbox: sandboxOf(probe) },
    ...(has("verbose") && hostFacts(proxyFor(new URL(url.replace(/^http/, "ws")), options.variables), options)),
  };
  const lines = Object.entries(facts).map(
    ([key, value]) => `${key}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  print(has("json") ? `${JSON.stringify(facts, null, 2)}\n` : `${lines.join("\n")}\n`);
  return facts.sandbox.usable ? exitCodes.completed.code : exitCodes.sandbox.code;
}

/** What else decides whether it can work. */
const hostFacts = (proxy: URL | undefined, { variables }: WorkerOptions) => ({
  node: process.version,
  system: `${type()} ${release()} ${arch()}`,
  proxy: proxy?.host ?? null,
  extraCertificates: variables.NODE_EXTRA_CA_CERTS ?? null,
  processors: availableParallelism(),
  memoryMb: Math.round(totalmem() / 1e6),
});

function sandboxOf(probe: SandboxProbe): { usable: boolean; backEnd?: string; reason?: string } {
  if (probe.kind === "unavailable") return { usable: false, reason: `${probe.reason} ${probe.remedy}`.trim() };
  const { kind } = probe.backEnd;
  return { usable: supportsProxy(probe.backEnd), backEnd: kind };
}

async function healthOf(url: string): Promise<string> {
  try {
    const { status } = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(healthTimeoutMs) });
    return status === 200 ? "answers" : `answers with ${status}`;
  } catch (error) {
    const { message, cause } = error as Error & { cause?: Error };
    return `does not answer: ${cause?.message ?? message}`;
  }
}
