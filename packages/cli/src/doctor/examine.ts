// Looks at everything a run needs, in the order a run needs it. Nothing is changed and no network request is made.
import { resolve } from "node:path";
import { exitNameOf } from "@agentcli/command-line";
import type { RunOptions } from "@agentcli/host";
import { findProvider, practice } from "@agentcli/models";
import { describeOrigin, type Layer, type Requirements } from "@agentcli/project";
import { type Settled, settle } from "../config/settings.ts";
import { describeCredential } from "../credentials/describe.ts";
import { resolveProvider } from "../model/provider.ts";
import type { Program } from "../program.ts";
import { composeWorkspace } from "../sandbox/workspace.ts";
import { broken, doubtful, type Finding, fine } from "./finding.ts";
import { examineGit, examineHome, examineNode, examineTools } from "./machine.ts";
import { examineProjectFiles } from "./project-files.ts";

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
    ...(await examineProjectFiles(settled, program.environment)),
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
  if (provider === practice) return [named, fine("credential", "the practice model needs none")];
  const known = await attempt("provider", async () => findProvider(provider, loaded.config, environment.variables));
  if ("finding" in known) return [named, known.finding];
  const resolve = () => resolveProvider(settings, loaded.config, { environment, log: () => {} });
  const opened = await attempt("credential", resolve);
  if ("finding" in opened) return [named, opened.finding];
  const described = describeCredential(opened.value.credential);
  const credential = described ? `${described.shown} from ${described.source}` : `${provider} is used without one`;
  return [named, fine("provider", opened.value.provider.baseUrl), fine("credential", credential)];
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
  credential: "set the variable that is named, AGENT_API_KEY, or use agentcli login; --model practice needs none",
  configuration: "change the file or the flag that is named",
  provider: "change model_provider or its entry in model_providers; agentcli config show --origin says where they are",
  sandbox: "follow that advice, or use --sandbox danger-full-access in a container or machine you can lose",
};

/** An error that the user can fix becomes a finding. */
async function attempt<T>(
  name: keyof typeof remedies,
  act: () => Promise<T>,
): Promise<{ value: T } | { finding: Finding }> {
  try {
    return { value: await act() };
  } catch (error) {
    if (exitNameOf(error) === null) throw error;
    return { finding: broken(name, (error as Error).message, remedies[name]) };
  }
}
