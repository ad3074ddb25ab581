// Options and input of one turn as arguments of `agentcli exec`, and what goes to its standard input.
import { configOverrides, tomlText } from "./config-overrides.ts";
import type { ApprovalPolicy, ClientOptions, Input, ThreadOptions, UserInput } from "./options.ts";

export interface TurnRequest {
  client: ClientOptions;
  thread: ThreadOptions;
  threadId: string | null;
  input: Input;
  /** For a turn with a schema: the file that holds it, and the one that gets the checked answer. */
  schema: { file: string; answerFile: string } | null;
}

export interface CommandLine {
  args: string[];
  prompt: string;
}

export function commandLine({ client, thread, threadId, input, schema }: TurnRequest): CommandLine {
  const { texts, images } = partsOf(input);
  const flags = [
    ...clientFlags(client),
    ...threadFlags(thread),
    ...(schema ? [`--output-schema=${schema.file}`, `--output-last-message=${schema.answerFile}`] : []),
    ...images.map((path) => `--image=${path}`),
  ];
  // Behind `--`, and values behind `=`: whatever an id or a value begins with, it is no flag. `-` is the prompt from stdin.
  const words = threadId === null ? ["--", "-"] : ["--", threadId, "-"];
  const command = threadId === null ? ["exec"] : ["exec", "resume"];
  return { args: [...command, "--json", ...flags, ...words], prompt: texts.join("\n\n") };
}

function clientFlags({ config, configOverrides: more, baseUrl }: ClientOptions): string[] {
  const overrides = [
    ...(config ? configOverrides(config) : []),
    ...(more ?? []),
    ...(baseUrl === undefined ? [] : [`openai_base_url=${tomlText(baseUrl)}`]),
  ];
  return overrides.map((override) => `--config=${override}`);
}

function threadFlags(thread: ThreadOptions): string[] {
  const { modelReasoningEffort: effort, networkAccessEnabled: network, approvalPolicy: approval } = thread;
  const webSearch = webSearchOf(thread);
  return [
    ...(thread.model === undefined ? [] : [`--model=${thread.model}`]),
    ...(thread.sandboxMode === undefined ? [] : [`--sandbox=${thread.sandboxMode}`]),
    ...(thread.workingDirectory === undefined ? [] : [`--cd=${thread.workingDirectory}`]),
    ...(thread.additionalDirectories ?? []).map((directory) => `--add-dir=${directory}`),
    ...(thread.skipGitRepoCheck ? ["--skip-git-repo-check"] : []),
    ...(effort === undefined ? [] : [`--config=model_reasoning_effort=${tomlText(effort)}`]),
    ...(network === undefined ? [] : [`--config=sandbox_workspace_write.network_access=${network}`]),
    ...(webSearch === undefined ? [] : [`--config=web_search=${tomlText(webSearch)}`]),
    ...(approval === undefined ? [] : [`--config=approval_policy=${tomlText(knownPolicy(approval))}`]),
  ];
}

function webSearchOf({ webSearchMode, webSearchEnabled }: ThreadOptions): string | undefined {
  if (webSearchMode !== undefined || webSearchEnabled === undefined) return webSearchMode;
  return webSearchEnabled ? "live" : "disabled";
}

/** The two older policies also let the model ask, and asking is refused where nobody is present. */
const knownPolicy = (policy: ApprovalPolicy): string => (policy === "never" ? "never" : "on-request");

function partsOf(input: Input): { texts: string[]; images: string[] } {
  const parts: UserInput[] = typeof input === "string" ? [{ type: "text", text: input }] : input;
  return {
    texts: parts.flatMap((part) => (part.type === "text" ? [part.text] : [])),
    images: parts.flatMap((part) => (part.type === "local_image" ? [part.path] : [])),
  };
}
