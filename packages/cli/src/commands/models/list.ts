// `agentcli models`: what the configured providers offer to the keys that are here.
import { CommandError } from "@agentcli/command-line";
import { findPreset, practice, presetNames } from "@agentcli/models";
import { type Listing, listModels, type OfferedModel } from "@agentcli/models/listing";
import type { ModelConfig } from "@agentcli/project";
import { exitCodes, exitOf as exitNames } from "@agentcli/protocol/exit-codes";
import type { Invocation } from "../../command.ts";
import { configOptions } from "../../config/run-options.ts";
import { settle } from "../../config/settings.ts";
import { clientOf } from "../../model/model.ts";
import { resolveProvider } from "../../model/provider.ts";
import type { Program } from "../../program.ts";

interface Offer {
  provider: string;
  listing: Listing;
}

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const { loaded } = await settle(configOptions(invocation), program.environment, null);
  const { config } = loaded;
  const only = invocation.text("provider");
  const providers = only === undefined ? configuredProviders(config, program) : [only];
  const offers = await Promise.all(providers.map((provider) => offerOf(provider, config, program)));
  if (invocation.has("json")) await program.print(`${JSON.stringify(offers.map(toJson), null, 2)}\n`);
  else await program.print(offers.map(toText).join("\n"));
  for (const { provider, listing } of offers)
    if (listing.kind === "failed" && !invocation.has("json"))
      program.reporter.log(`warning: ${provider}: ${listing.message}`);
  return exitOf(offers);
}

/** That of the run first; then those that are set up; the practice model always. */
function configuredProviders(config: ModelConfig & { model_provider: string }, { environment }: Program): string[] {
  const { variables } = environment;
  const withKey = presetNames.filter((name) => {
    const preset = findPreset(name, config.model_providers?.[name], variables);
    return (
      preset?.kind === "preset" &&
      preset.entry.env_key !== undefined &&
      Boolean(variables[preset.entry.env_key]?.trim())
    );
  });
  return [...new Set([config.model_provider, ...Object.keys(config.model_providers ?? {}), ...withKey, practice])];
}

async function offerOf(provider: string, config: ModelConfig, program: Program): Promise<Offer> {
  if (provider === practice) return { provider, listing: { kind: "models", models: [practiceModel] } };
  try {
    const log = (line: string) => program.reporter.log(line);
    const resolved = await resolveProvider({ provider, model: "" }, config, { environment: program.environment, log });
    return { provider, listing: await listModels(resolved.provider, clientOf(program), program.signal) };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // Without the list of commands that follows it.
    const message = (error.message.split("\n")[0] ?? "").replace(/ [^.]*:$/, "");
    return {
      provider,
      listing: { kind: "failed", code: error instanceof CommandError ? error.exit : "usage", message },
    };
  }
}

const practiceModel: OfferedModel = {
  id: practice,
  contextWindow: 128_000,
  images: false,
  reasoning: false,
  price: { input: 0, output: 0 },
};

const toJson = ({ provider, listing }: Offer): object => ({
  provider,
  error: listing.kind === "failed" ? { code: listing.code, message: listing.message } : null,
  models: modelsIn(listing).map(({ id, contextWindow, images, reasoning, price }) => ({
    id,
    context_window: contextWindow,
    images,
    reasoning,
    usd_per_million: price,
  })),
});

const modelsIn = (listing: Listing): OfferedModel[] => (listing.kind === "models" ? listing.models : []);

function toText({ provider, listing }: Offer): string {
  const models = modelsIn(listing);
  const width = Math.max(0, ...models.map(({ id }) => id.length));
  const rows = models.map((model) => `  ${model.id.padEnd(width)}  ${factsOf(model).join(", ")}\n`);
  return `${provider}\n${rows.join("") || `  ${listing.kind === "failed" ? "not listed" : "no model"}\n`}`;
}

const factsOf = ({ contextWindow, images, reasoning, price }: OfferedModel): string[] => [
  `${Math.round(contextWindow / 1000)}k tokens`,
  ...(images ? ["images"] : []),
  ...(reasoning ? ["reasoning"] : []),
  price ? `$${price.input} in, $${price.output} out per million` : "price unknown",
];

/** One that answers is enough, unless it is only the practice model. */
function exitOf(offers: Offer[]): number {
  const asked = offers.filter(({ provider }) => provider !== practice);
  if (asked.length === 0 || asked.some(({ listing }) => listing.kind === "models")) return exitCodes.completed.code;
  const [first] = asked.flatMap(({ listing }) => (listing.kind === "failed" ? [listing.code] : []));
  return exitCodes[isErrorCode(first) ? exitNames[first] : "usage"].code;
}

const isErrorCode = (code: string | undefined): code is keyof typeof exitNames =>
  code !== undefined && code in exitNames;
