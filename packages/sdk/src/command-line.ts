// Builds the arguments and the standard input of `agentcli exec` from the options and input of one turn.
import { configOverrides, tomlText } from "./config-overrides.ts";
import type { ApprovalPolicy, ClientOptions, Input, ThreadOptions, UserInput } from "./options.ts";

export interface TurnRequest {
  client: ClientOptions;
  thread: ThreadOptions;
  threadId: string | null;
  input: Input;
  /** For a turn with an output schema: its file, and the file for the validated response. */
  schema: { file: string; responseFile: string } | null;
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
    ...(schema ? [`--output-schema=${schema.file}`, `--output-last-message=${schema.responseFile}`] : []),
    ...images.map((path) => `--image=${path}`),
  ];
  // After `--`, and values after `=`: no id and no value is parsed as a flag. `-` reads the prompt from stdin.
  const positionals = threadId === null ? ["--", "-"] : ["--", threadId, "-"];
  const command = threadId === null ? ["exec"] : ["exec", "resume"];
  return { args: [...command, "--json", ...flags, ...positionals], prompt: texts.join("\n\n") };
}

function clientFlags({ config, configOverrides: extraOverrides, baseUrl }: ClientOptions): string[] {
  const overrides = [
    ...(config ? configOverrides(config) : []),
    ...(extraOverrides ?? []),
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
    ...(approval === undefined ? [] : [`--config=approval_policy=${tomlText(supportedPolicy(approval))}`]),
  ];
}

function webSearchOf({ webSearchMode, webSearchEnabled }: ThreadOptions): string | undefined {
  if (webSearchMode !== undefined || webSearchEnabled === undefined) return webSearchMode;
  return webSearchEnabled ? "live" : "disabled";
}

/** The two older policies also let the model ask. Without a user every request is declined. */
const supportedPolicy = (policy: ApprovalPolicy): string => (policy === "never" ? "never" : "on-request");

function partsOf(input: Input): { texts: string[]; images: string[] } {
  const parts: UserInput[] = typeof input === "string" ? [{ type: "text", text: input }] : input;
  return {
    texts: parts.flatMap((part) => (part.type === "text" ? [part.text] : [])),
    images: parts.flatMap((part) => (part.type === "local_image" ? [part.path] : [])),
  };
}
