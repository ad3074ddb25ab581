// Everything one run needs, put together from its agent, its request and the server's settings.
import { builtInTools, type Dependencies, noRepository, policyGuard, type Scrub, scrubber } from "@agentcli/engine";
import { priceBook } from "@agentcli/models";
import { durationMs, longestTimerMs } from "@agentcli/project";
import type { Budget, TurnSettings } from "@agentcli/protocol";
import type { Settings } from "../config/index.ts";
import { type ChosenModel, chooseModel } from "./model.ts";
import type { Place } from "./place.ts";
import type { KnownAgent, RunRequest } from "./request.ts";

export interface ComposeRequest {
  agent: KnownAgent;
  request: RunRequest;
  settings: Settings;
  root: string;
  budget: Budget | undefined;
}

export interface Composed {
  chosen: ChosenModel;
  turn: TurnSettings;
  scrub: Scrub;
}

/** What is known before anything is opened. */
export function composeTurn({ agent, request, settings, root, budget }: ComposeRequest): Composed {
  const chosen = chooseModel((request.model ?? agent.settings.model)?.id, settings);
  const effort = parameter(request.model ?? agent.settings.model, "reasoning_effort");
  const contextWindow = settings.models.model_context_window ?? chosen.facts.contextWindow;
  return {
    chosen,
    turn: {
      model: chosen.id,
      provider: chosen.provider,
      ...(effort && { effort }),
      cwd: root,
      shell: "/bin/bash",
      sandbox: request.mode === "plan" ? "read-only" : "workspace-write",
      approval: "never",
      ...(budget && { budget }),
      compactAt: Math.floor(contextWindow * 0.9),
    },
    scrub: scrubber([...chosen.secrets, ...secretsOf(agent, request)]),
  };
}

export function composeDependencies(
  { chosen }: Composed,
  { place, settings, onProgress }: { place: Place; settings: Settings; onProgress: Dependencies["onProgress"] },
): Dependencies {
  const limits = settings.models.limits ?? {};
  return {
    model: chosen.model,
    workspace: place.workspace,
    tools: builtInTools,
    guard: policyGuard,
    repository: noRepository,
    toolLimitMs: durationMs(limits.tool ?? "10m"),
    outputTokens: 10_000,
    price: priceBook(settings.models.prices),
    wait,
    requestOptions: {},
    onProgress(progress) {
      if (progress.type === "calling") place.workspace.warm();
      onProgress(progress);
    },
  };
}

/** Values given with a request stay in what runs there, and out of what is stored, shown or sent. */
const secretsOf = (agent: KnownAgent, request: RunRequest) =>
  Object.entries({ ...agent.private.envVars, ...request.envVars }).map(([name, value]) => ({ name, value }));

const parameter = (model: RunRequest["model"], id: string): string | undefined =>
  model?.params?.find((param) => param.id === id)?.value;

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, Math.min(ms, longestTimerMs));
    signal.addEventListener("abort", done);
  });
}
