// Runs the agent through the proxy and publishes what came out.
import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { StepError } from "./errors.ts";
import { type ExecEvent, emptyResult, type RunResult, readEvent } from "./events.ts";
import { type Inputs, readInputs } from "./inputs.ts";
import { writeMessage } from "./output-file.ts";
import { asRoot, execute, findProgram, installedCli, underSudo } from "./programs.ts";
import { type ProxyFiles, readProxy } from "./proxy.ts";
import { addSummary, log, reportError, setOutput } from "./runner-files.ts";
import { summaryOf } from "./summary.ts";

type Variables = Record<string, string | undefined>;

export async function runAgent(variables: Variables): Promise<number> {
  const inputs = readInputs(variables);
  const proxy = readProxy(variables);
  const folder = mkdtempSync(join(variables.RUNNER_TEMP || tmpdir(), "agentcli-run-"));
  chmodSync(folder, 0o755);
  try {
    const program = [process.execPath, installedCli(variables)];
    const args = execArguments(inputs, proxy, folder);
    const result = await execAgent([...program, ...args], inputs, execEnvironment(inputs, proxy, variables));
    publish(result, inputs, variables);
    return result.exitCode;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The variable by which exec gets the token of the proxy; commands of the agent do not get it. */
const tokenVariable = "AGENTCLI_PROXY_TOKEN";

function execArguments(inputs: Inputs, { url }: ProxyFiles, folder: string): string[] {
  const provider = `{ name = "workflow action", base_url = ${JSON.stringify(url)}, env_key = "${tokenVariable}", wire_api = "responses" }`;
  const schema = schemaFile(inputs, folder);
  return [
    ...["exec", "--json", "--skip-git-repo-check", "--sanitize", "--cd", inputs.workingDirectory],
    ...["-c", `model_providers.workflow-action=${provider}`, "-c", 'model_provider="workflow-action"'],
    ...(inputs.model ? ["--model", inputs.model] : []),
    ...(inputs.effort ? ["-c", `model_reasoning_effort=${JSON.stringify(inputs.effort)}`] : []),
    ...(schema ? ["--output-schema", schema] : []),
    ...inputs.args,
    ...["--sandbox", inputs.sandbox, "-"],
  ];
}

function schemaFile({ schema }: Inputs, folder: string): string | undefined {
  if (schema.kind !== "text") return schema.kind === "file" ? schema.path : undefined;
  const path = join(folder, "schema.json");
  writeFileSync(path, schema.text, { mode: 0o644 });
  return path;
}

/** Without the inputs, the runner's own tokens, and the files through which a step can change later steps. */
const dropped = /^(?:INPUT_|AGENTCLI_|ACTIONS_|GITHUB_(?:TOKEN|ENV|OUTPUT|PATH|STATE|STEP_SUMMARY)$|NODE_OPTIONS$)/;

function execEnvironment(inputs: Inputs, { token }: ProxyFiles, variables: Variables): Variables {
  const kept = Object.fromEntries(Object.entries(variables).filter(([name]) => !dropped.test(name)));
  const { home, agentHome } = homesOf(inputs, variables);
  return { ...kept, HOME: home, AGENT_HOME: agentHome, [tokenVariable]: token };
}

function homesOf({ strategy, agentUser, agentHome }: Inputs, { HOME = "", AGENT_HOME }: Variables) {
  if (strategy !== "unprivileged-user")
    return { home: HOME, agentHome: agentHome || AGENT_HOME || join(HOME, ".agentcli") };
  const home = execute([findProgram("getent") ?? "", "passwd", agentUser]).stdout.split(":")[5] ?? "";
  if (home === "") throw new StepError(`agent-user ${agentUser} has no home directory.`);
  const chosen = agentHome || join(home, ".agentcli");
  const made = execute(asRoot(findProgram("install") ?? "", "-d", "-o", agentUser, "-m", "755", chosen));
  if (!made.ok) throw new StepError(`${chosen} could not be created for ${agentUser}: ${made.stderr.trim()}`);
  return { home, agentHome: chosen };
}

/** As the user who runs the agent. sudo sets a PATH of its own, which may lack what the job has set up. */
function asAgent(
  command: string[],
  { strategy, agentUser, workingDirectory }: Inputs,
  environment: Variables,
): string[] {
  if (strategy !== "unprivileged-user") return command;
  const test = findProgram("test") ?? "";
  for (const path of [...command.slice(0, 2), workingDirectory])
    if (!execute(underSudo(["-u", agentUser], [test, "-r", path])).ok)
      throw new StepError(`agent-user ${agentUser} cannot read ${path}. Give it access in a step before.`);
  const flags = [`--preserve-env=${Object.keys(environment).join(",")}`, "-u", agentUser];
  return underSudo(flags, [findProgram("env") ?? "", `PATH=${environment.PATH ?? ""}`, ...command]);
}

async function execAgent(command: string[], inputs: Inputs, environment: Variables): Promise<RunResult> {
  const [program = "", ...args] = asAgent(command, inputs, environment);
  const child = spawn(program, args, {
    env: environment,
    cwd: inputs.workingDirectory,
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.on("error", () => {}); // It ended early, which its exit reports.
  child.stdin.end(inputs.prompt);
  const ended = new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
  const result = emptyResult();
  // Its messages quote text of others, and the runner reads commands from both streams.
  createInterface({ input: child.stderr }).on("line", log);
  for await (const line of createInterface({ input: child.stdout })) showEvent(line, result);
  return { ...result, exitCode: await ended };
}

function showEvent(line: string, result: RunResult): void {
  const text = readEvent(parse(line), result);
  if (text !== "") log(text);
}

function parse(line: string): ExecEvent {
  try {
    return JSON.parse(line);
  } catch {
    return { type: "text", text: line };
  }
}

function publish(result: RunResult, { outputFile, workingDirectory }: Inputs, variables: Variables): void {
  setOutput(variables, "final-message", result.finalMessage);
  setOutput(variables, "thread-id", result.threadId);
  setOutput(variables, "usage", JSON.stringify(result.usage));
  setOutput(variables, "exit-code", String(result.exitCode));
  addSummary(variables, summaryOf(result));
  if (outputFile) writeMessage(outputFile, result.finalMessage, workingDirectory);
  if (result.exitCode !== 0)
    reportError(`The agent failed with exit code ${result.exitCode}. ${result.failure}`.trim());
}
