// Starts the responses proxy with the key, and ends it. No other step gets the key.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StepError } from "./errors.ts";
import { inputOf } from "./inputs.ts";
import { installedCli } from "./programs.ts";
import { log, reportWarning, setOutput } from "./runner-files.ts";

type Variables = Record<string, string | undefined>;

export interface ProxyFiles {
  token: string;
  url: string;
}

/** In a fresh folder: files of an earlier proxy are never taken for this one's. */
export async function startProxy(variables: Variables): Promise<number> {
  const key = inputOf(variables, "agent-api-key");
  if (key === "") throw new StepError("agent-api-key is empty. Pass a secret; workflows of forks do not get any.");
  const program = installedCli(variables);
  const folder = mkdtempSync(join(variables.RUNNER_TEMP || tmpdir(), "agentcli-proxy-"));
  const upstream = inputOf(variables, "responses-api-endpoint");
  const flags = [
    ...["--token-file", join(folder, "token"), "--server-info", join(folder, "server.json"), "--http-shutdown"],
    ...(process.platform === "win32" ? [] : ["--end-with", jobProcess(variables)]),
    ...(upstream ? ["--upstream-url", upstream] : []),
  ];
  const { PATH, HOME, LANG, SSL_CERT_FILE, NODE_EXTRA_CA_CERTS } = variables;
  const child = spawn(process.execPath, [program, "responses-proxy", ...flags], {
    // None of the step's variables: the key is one of them.
    env: { PATH, HOME, LANG, SSL_CERT_FILE, NODE_EXTRA_CA_CERTS },
    cwd: folder,
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.on("error", () => {}); // It ended early, which its exit reports.
  child.stdin.end(key);
  const { port, protection } = JSON.parse(await firstLine(child));
  setOutput(variables, "folder", folder);
  log(`The proxy listens on 127.0.0.1:${port}.`);
  if (protection === "none")
    reportWarning("On this system the agent's commands may be able to read the key from the proxy.");
  return 0;
}

/** The runner's worker, which lives as long as the job: the parent of the shell that runs this step. */
function jobProcess({ AGENTCLI_STEP_PARENT = "" }: Variables): string {
  if (!/^[1-9]\d*$/.test(AGENTCLI_STEP_PARENT))
    throw new StepError("The process of the job is not known: run this step through action.yml.");
  return AGENTCLI_STEP_PARENT;
}

function firstLine(child: ReturnType<typeof spawn>): Promise<string> {
  let errors = "";
  child.stderr?.on("data", (chunk) => {
    errors += chunk;
  });
  return new Promise((resolve, reject) => {
    child.stdout?.once("data", (chunk) => {
      resolve(String(chunk));
      // This step ends, the proxy goes on.
      child.stdout?.destroy();
      child.stderr?.destroy();
      child.unref();
    });
    child.once("error", reject);
    child.once("close", (code) => reject(new StepError(`The proxy did not start (exit ${code}): ${errors.trim()}`)));
  });
}

export function readProxy({ AGENTCLI_PROXY_FOLDER = "" }: Variables): ProxyFiles {
  try {
    const { url } = JSON.parse(readFileSync(join(AGENTCLI_PROXY_FOLDER, "server.json"), "utf8"));
    return { url, token: readFileSync(join(AGENTCLI_PROXY_FOLDER, "token"), "utf8").trim() };
  } catch (error) {
    throw new StepError(`The proxy is not running any more: ${(error as Error).message}.`);
  }
}

/** Also after a failure, and where no proxy was started. */
export async function stopProxy(variables: Variables): Promise<number> {
  const { AGENTCLI_PROXY_FOLDER: folder } = variables;
  if (!folder) return 0;
  try {
    const { url, token } = readProxy(variables);
    const headers = { authorization: `Bearer ${token}` };
    await fetch(new URL("/shutdown", url), { method: "POST", headers });
    log("The proxy has stopped, and its key is gone.");
  } catch {
    log("The proxy had stopped already.");
  }
  rmSync(folder, { recursive: true, force: true });
  return 0;
}
