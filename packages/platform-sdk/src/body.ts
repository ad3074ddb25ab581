// Options as bodies of requests. Members that are absent stay absent.
import type { CreateAgent, CreateRun, CustomSubagent, McpServer, Prompt } from "@agentcli/protocol/api";
import { ConfigurationError } from "./errors.ts";
import type { AgentOptions, McpServerConfig, SendOptions, SubagentDefinition, UserMessage } from "./options.ts";

/** The first prompt makes the agent. What comes with it goes before what the agent was declared with. */
export function createBody(
  agentId: string | undefined,
  message: UserMessage,
  options: AgentOptions,
  send: SendOptions,
): CreateAgent {
  const { envVars, ...cloud } = options.cloud ?? {};
  const mcpServers = send.mcpServers ?? options.mcpServers;
  return present({
    agentId,
    prompt: promptOf(message),
    model: send.model ?? options.model,
    name: options.name,
    mode: send.mode ?? options.mode,
    ...cloud,
    envVars: isFilled(envVars) ? envVars : undefined,
    runEnvVars: send.cloud?.envVars,
    mcpServers: mcpServers && serverList(mcpServers),
    customSubagents: options.agents && subagentList(options.agents),
  });
}

/** Servers the agent was created with are repeated: a run without any would have none. */
export function runBody(message: UserMessage, options: AgentOptions, send: SendOptions): CreateRun {
  const mcpServers = send.mcpServers ?? options.mcpServers;
  return present({
    prompt: promptOf(message),
    mcpServers: mcpServers && serverList(mcpServers),
    mode: send.mode,
    model: send.model,
    envVars: send.cloud?.envVars,
  });
}

export const isFilled = (variables: Record<string, string> | undefined): boolean =>
  Object.keys(variables ?? {}).length > 0;

const promptOf = (message: UserMessage): Prompt =>
  typeof message === "string" ? { text: message } : present({ text: message.text, images: message.images });

function serverList(servers: Record<string, McpServerConfig>): McpServer[] {
  return Object.entries(servers).map(([name, config]) => {
    if ("cwd" in config)
      throw new ConfigurationError(
        `MCP server ${name}: cwd is not for cloud agents, which run it in the repository. Leave it out.`,
        { code: "invalid_option", operation: "agent.send" },
      );
    return "url" in config ? { name, ...config, type: config.type ?? "http" } : { name, ...config, type: "stdio" };
  });
}

const subagentList = (agents: Record<string, SubagentDefinition>): CustomSubagent[] =>
  Object.entries(agents).map(([name, { mcpServers: _, ...agent }]) => ({ name, ...agent }));

type Optional<T> = { [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined> } & {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K];
};

function present<T extends object>(members: T): Optional<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Optional<T>;
}
