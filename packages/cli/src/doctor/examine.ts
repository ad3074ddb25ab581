// Looks at everything a run needs, in the order a run needs it. Nothing is changed and nobody is asked over the network.
import { resolve } from "node:path";
import { describeOrigin, type Layer, type Requirements } from "@agentcli/project";
import type { Program } from "../program.ts";
import { describeCredential, practice, resolveProvider } from "../provider.ts";
import type { RunOptions } from "../run-options.ts";
import { type Settled, settle } from "../settings.ts";
import { composeWorkspace } from "../workspace.ts";
import { broken, doubtful, type Finding, fine } from "./finding.ts";
import { examineGit, examineHome, examineNode, examineTools } from "./machine.ts";

export async function examine(options: RunOptions, program: Program): Promise<Finding[]> {
  const { environment, version } = program;
  const settled = await attempt("configuration", () => settle(options, environment, null));
  const cwd = resolve(environment.cwd, options.directory ?? ".");
  return [
    fine("agentcli", version),
    examineNode(process.version),
    examineHome(environment.agentHome),
    ...("finding" in settled ? [settled.finding] : await examineSettled(settled.value, program)),
    ...(await examineGit(cwd, options, environment)),
    ...(await examineTools(environment)),
  ];
}

async function examineSettled(settled: Settled, program: Program): Promise<Finding[]> {
  return [
    fine("configuration", settled.loaded.layers.map(layerText).join(", ")),
    ...settled.warnings.map((warning) => doubtful("configuration", warning, "see agentcli config show --origin")),
    ...examineRequirements(settled.loaded.requirements),
    ...(await examineProvider(settled, program)),
    await examineSandbox(settled, program),
  ];
}

const layerText = (layer: Layer): string =>
  `${describeOrigin(layer.origin)}${layer.state === "disabled" ? " (not used)" : ""}`;

const examineRequirements = ({ rules }: Requirements): Finding[] =>
  rules.map(({ name, allowed, paths }) =>
    fine("requirements", `${name} = ${allowed.join(", ")} (${paths.join(", ")})`),
  );

async function examineProvider({ settings, loaded }: Settled, { environment }: Program): Promise<Finding[]> {
  const { model, provider } = settings;
  const named = fine("model", `${model} of ${provider}`);
  const described = await attempt("provider", async () => describeCredential(provider, loaded.config, environment));
  if ("finding" in described) return [named, described.finding];
  const credential = described.value;
  if (credential.kind === "missing") return [named, broken("credential", credential.reason, credential.mend)];
  const found = fine("credential", credential.kind === "found" ? `from ${credential.source}` : credential.reason);
  if (provider === practice) return [named, found];
  const opened = await attempt("provider", async () => resolveProvider(provider, loaded.config, environment));
  return [named, "finding" in opened ? opened.finding : fine("provider", opened.value.baseUrl), found];
}

/** As a run would, up to the point where the sandbox would be opened. */
async function examineSandbox({ settings, loaded }: Settled, program: Program): Promise<Finding> {
  if (settings.sandbox === "danger-full-access") {
    const mend = "use --sandbox workspace-write unless the whole machine may be lost";
    return doubtful("sandbox", "none: commands can change anything on this machine", mend);
  }
  const composed = await attempt("sandbox", () => composeWorkspace(settings, loaded.config, program));
  if ("finding" in composed) return composed.finding;
  await composed.value.workspace.close();
  const { mode, backend, net } = composed.value.report;
  return fine("sandbox", `${mode} (${backend}, network ${net})`);
}

const remedies = {
  configuration: "change the file or the flag that is named",
  provider: "change model_provider or its entry in model_providers; agentcli config show --origin says where they are",
  sandbox: "do what is said there, or use --sandbox danger-full-access in a container or machine you can lose",
};

/** Trouble the user can mend becomes a finding. */
async function attempt<T>(
  name: keyof typeof remedies,
  act: () => Promise<T>,
): Promise<{ value: T } | { finding: Finding }> {
  try {
    return { value: await act() };
  } catch (error) {
    if (!(error instanceof Error) || !["Problem", "ConfigProblem"].includes(error.name)) throw error;
    return { finding: broken(name, error.message, remedies[name]) };
  }
}
