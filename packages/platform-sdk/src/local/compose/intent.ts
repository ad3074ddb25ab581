// What is known of a run before anything is opened: its model, its settings, and what must never be seen.
import { type Scrub, type Secret, scrubber, type Tool } from "@agentcli/engine";
import { type ChosenModel, effortOf, serviceSettings } from "@agentcli/host";
import { findProject } from "@agentcli/project";
import type { SandboxMode, TurnSettings } from "@agentcli/protocol";
import { ConfigurationError } from "../../errors.ts";
import type { LocalAgentRecord } from "../../local-store.ts";
import type { AgentOptions, ModelSelection, SendOptions, UserMessage } from "../../options.ts";
import type { Machine } from "../machine.ts";
import type { ResolvedOptions } from "../options.ts";
import { type NamedServer, secretsOf, serversOf } from "../sources/index.ts";
import { customTools } from "../tools/index.ts";
import { chooseModel } from "./model.ts";

export interface Intent {
  message: UserMessage;
  options: AgentOptions;
  resolved: ResolvedOptions;
  machine: Machine;
  /** The project the agent's directory is part of. */
  root: string;
  cwd: string;
  mode: "agent" | "plan";
  sandbox: NonNullable<LocalAgentRecord["sandbox"]>;
  selection: ModelSelection;
  chosen: ChosenModel;
  settings: TurnSettings;
  servers: NamedServer[];
  custom: Tool[];
  secrets: Secret[];
  scrub: Scrub;
}

export interface IntentRequest {
  message: UserMessage;
  agent: LocalAgentRecord;
  options: AgentOptions;
  send: SendOptions;
  resolved: ResolvedOptions;
  machine: Machine;
}

/** Throws what the caller has to fix; nothing has been done then. */
export function intentOf({ message, agent, options, send, resolved, machine }: IntentRequest): Intent {
  const selection = send.model ?? agent.model ?? options.model;
  if (!selection) throw modelMissing();
  const { cwd } = agent;
  const sandbox = resolved.sandbox ?? agent.sandbox ?? "none";
  const mode = send.mode ?? agent.mode ?? options.mode ?? "agent";
  const { provider: own, retries, sources } = resolved;
  const chosen = chooseModel({ id: selection.id, own, retries, connection: options, variables: machine.variables });
  const { root } = findProject(cwd, [".git"]);
  const servers = serversOf(send.mcpServers ?? options.mcpServers ?? {}, { sources, root, machine });
  const custom = customTools(send.local?.customTools ?? resolved.customTools);
  const secrets = [...chosen.secrets, ...secretsOf(servers)];
  const settings = serviceSettings({
    model: chosen,
    effort: effortOf(selection),
    cwd,
    shell: machine.shell,
    sandbox: sandboxModeOf(mode, sandbox),
    contextWindow: chosen.facts.contextWindow,
  });
  return {
    ...{
      message,
      options,
      resolved,
      machine,
      root,
      cwd,
      mode,
      sandbox,
      selection,
      chosen,
      settings,
      servers,
      custom,
      secrets,
    },
    scrub: scrubber(secrets),
  };
}

/** A plan never changes files. */
function sandboxModeOf(mode: Intent["mode"], sandbox: Intent["sandbox"]): SandboxMode {
  if (mode === "plan") return "read-only";
  return sandbox === "none" ? "danger-full-access" : sandbox;
}

export const modelMissing = (): ConfigurationError =>
  new ConfigurationError('A local agent needs a model: pass model: { id: "…" }. Platform.models.list() lists them.', {
    code: "model_required",
    operation: "Agent.create",
  });
