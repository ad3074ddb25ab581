// The inputs of the action, as its steps get them in the environment, checked.
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { relative, resolve } from "node:path";
import { parseArguments } from "./arguments.ts";
import { StepError } from "./errors.ts";

const sandboxes = ["read-only", "workspace-write", "danger-full-access"] as const;
const strategies = ["drop-sudo", "unprivileged-user", "unsafe"] as const;
export type Strategy = (typeof strategies)[number];

export interface Inputs {
  prompt: string;
  args: string[];
  model: string;
  effort: string;
  sandbox: string;
  outputFile: string;
  schema: { kind: "none" } | { kind: "file"; path: string } | { kind: "text"; text: string };
  /** Empty: the default of the user who runs the agent. */
  agentHome: string;
  workingDirectory: string;
  strategy: Strategy;
  agentUser: string;
}

type Variables = Record<string, string | undefined>;

const variableOf = (name: string): string => `INPUT_${name.toUpperCase().replaceAll("-", "_")}`;

/** `INPUT_PROMPT_FILE` for `prompt-file`; later steps get all of them as one value. */
export function inputOf(variables: Variables, name: string): string {
  const collected: Variables = JSON.parse(variables.AGENTCLI_INPUTS || "{}");
  return (variables[variableOf(name)] ?? collected[name] ?? "").trim();
}

/** Every input but the key, as they were given. */
export function collectInputs(variables: Variables): string {
  const names = Object.keys(variables).filter(
    (name) => name.startsWith("INPUT_") && name !== variableOf("agent-api-key"),
  );
  const given = names.map((name) => [name.slice("INPUT_".length).toLowerCase().replaceAll("_", "-"), variables[name]]);
  return JSON.stringify(Object.fromEntries(given));
}

export function readInputs(variables: Variables): Inputs {
  const input = (name: string) => inputOf(variables, name);
  const workspace = variables.GITHUB_WORKSPACE || process.cwd();
  const workingDirectory = resolve(workspace, input("working-directory"));
  if (!existsSync(workingDirectory))
    throw new StepError(`working-directory ${workingDirectory} does not exist. Check out the repository first.`);
  const strategy = oneOf("safety-strategy", input("safety-strategy") || "drop-sudo", strategies);
  checkStrategy(strategy, input("agent-user"));
  return {
    prompt: readPrompt(input("prompt"), input("prompt-file"), workspace),
    args: parseArguments(input("agent-args")),
    model: input("model"),
    effort: input("effort"),
    sandbox: oneOf("sandbox", input("sandbox") || "workspace-write", sandboxes),
    outputFile: input("output-file") && resolve(workingDirectory, input("output-file")),
    schema: readSchema(input("output-schema"), input("output-schema-file"), workspace),
    agentHome: input("agent-home").replace(/^~(?=\/|$)/, homedir()),
    workingDirectory,
    strategy,
    agentUser: input("agent-user"),
  };
}

function checkStrategy(strategy: Strategy, agentUser: string): void {
  if (process.platform === "win32" && strategy !== "unsafe")
    throw new StepError(
      `safety-strategy ${strategy} does not exist on Windows. Set it to unsafe, or use a Linux runner.`,
    );
  if (strategy === "unprivileged-user" && !/^[a-z_][\w-]*$/i.test(agentUser))
    throw new StepError("safety-strategy unprivileged-user needs agent-user: the name of a user of the runner.");
  if (strategy !== "unprivileged-user" && agentUser !== "")
    throw new StepError(
      "agent-user is used with safety-strategy unprivileged-user only. Set that, or leave agent-user out.",
    );
}

function readPrompt(text: string, file: string, workspace: string): string {
  if ((text === "") === (file === "")) throw new StepError("Set exactly one of prompt and prompt-file.");
  const prompt = text || readInside(file, workspace, "prompt-file").trim();
  if (prompt === "") throw new StepError(`prompt-file ${file} is empty.`);
  return prompt;
}

function readSchema(text: string, file: string, workspace: string): Inputs["schema"] {
  if (text !== "" && file !== "") throw new StepError("Set output-schema or output-schema-file, not both.");
  if (text !== "") return { kind: "text", text };
  if (file === "") return { kind: "none" };
  readInside(file, workspace, "output-schema-file");
  return { kind: "file", path: resolve(workspace, file) };
}

/** A link of the repository must not lead to a file of the runner. */
function readInside(file: string, workspace: string, input: string): string {
  try {
    const path = realpathSync(resolve(workspace, file));
    if (relative(realpathSync(workspace), path).startsWith("..")) throw new Error("it is outside");
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new StepError(`${input} ${file} is not a readable file of the repository: ${(error as Error).message}.`);
  }
}

function oneOf<T extends string>(name: string, value: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === value);
  if (found === undefined) throw new StepError(`${name} is "${value}": expected ${choices.join(", ")}.`);
  return found;
}
