// What is known of a model: an entry of the catalogue, or of models.toml in the agent home, which has the same form.
import { z } from "zod";

const usdPerMillion = z.number().nonnegative().optional();

export const ModelEntry = z.object({
  context_window: z.int().positive().optional().describe("Tokens of prompt and reply together"),
  max_output_tokens: z.int().positive().optional().describe("Of one reply, reasoning included"),
  freeform: z.boolean().optional().describe("Tools may take free text under a grammar, on the Responses wire"),
  images: z.boolean().optional().describe("The model sees images"),
  patches: z.boolean().optional().describe("Trained to write patches; others are offered exact replacement as well"),
  reasoning: z.boolean().optional().describe("It reasons, and its reasoning can be sent back"),
  thinking: z.enum(["adaptive", "extended", "none"]).optional().describe("On the Anthropic wire"),
  input: usdPerMillion.describe("US dollars per million input tokens"),
  output: usdPerMillion.describe("The same for output"),
  cached_input: usdPerMillion.describe("The same for input that the provider had kept (input)"),
  cache_write: usdPerMillion.describe("The same for input that the provider keeps from now on (input)"),
  source: z.string().optional().describe("Where that is stated"),
  date: z.string().optional().describe("As of when"),
});
export type ModelEntry = z.infer<typeof ModelEntry>;

/** By name; a name may have `*` in it. */
export const ModelsFile = z.record(z.string(), ModelEntry);
export type ModelsFile = z.infer<typeof ModelsFile>;
