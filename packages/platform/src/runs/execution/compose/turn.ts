// The plan of a run, made before anything is opened: its model, its settings, and the secrets to redact.
import { type Scrub, type Secret, scrubber } from "@agentcli/engine";
import type { Budget, TurnSettings } from "@agentcli/protocol";
import type { McpServer } from "@agentcli/protocol/api";
import type { Settings } from "../../../foundation/index.ts";
import type { KnownAgent, RunRequest } from "../request.ts";
import { type ChosenModel, chooseModel } from "./model.ts";
import { secretsIn } from "./secrets.ts";

export interface RunPlan {
  agent: KnownAgent;
  request: RunRequest;
  selectedModel: ChosenModel;
  /** Tokens. */
  contextWindow: number;
  /** MCP servers of the run's request, otherwise the agent's. */
  servers: McpServer[];
  /** Environment variables of commands. */
  variables: Record<string, string>;
  scrub: Scrub;
}

export function planRun(agent: KnownAgent, request: RunRequest, settings: Settings): RunPlan {
  const selectedModel = chooseModel((request.model ?? agent.settings.model)?.id, settings);
  const servers = request.mcpServers ?? agent.private.mcpServers;
  const variables = { ...agent.private.envVars, ...request.envVars };
  return {
    agent,
    request,
    selectedModel,
    contextWindow: settings.models.model_context_window ?? selectedModel.facts.contextWindow,
    servers,
    variables,
    scrub: scrubber([...selectedModel.secrets, ...secretsIn(variables), ...servers.flatMap(secretsOfServer)]),
  };
}

export function turnSettings(
  { agent, request, selectedModel, contextWindow }: RunPlan,
  cwd: string,
  budget?: Budget,
): TurnSettings {
  const effort = parameter(request.model ?? agent.settings.model, "reasoning_effort");
  return {
    model: selectedModel.id,
    provider: selectedModel.provider,
    ...(effort && { effort }),
    cwd,
    shell: "/bin/bash",
    sandbox: request.mode === "plan" ? "read-only" : "workspace-write",
    approval: "never",
    ...(budget && { budget }),
    compactAt: Math.floor(contextWindow * 0.9),
  };
}

export const parameter = (model: RunRequest["model"], id: string): string | undefined =>
  model?.params?.find((param) => param.id === id)?.value;

/** Values of other headers, such as content types, occur in many texts and are not redacted. */
const isSecretHeader = /auth|token|key|secret|cookie|pass|session|credential/i;

function secretsOfServer(server: McpServer): Secret[] {
  if ("command" in server) return secretsIn(server.env ?? {});
  const headers = Object.entries(server.headers ?? {}).filter(([name]) => isSecretHeader.test(name));
  return headers.flatMap(([name, value]) =>
    // Also without the scheme, as in `Bearer …`.
    [value, ...value.split(/\s+/).slice(1)].map((part) => ({ name: `${server.name}.${name}`, value: part })),
  );
}
