// What a build leaves: the layers that machines start from, and what its image says about commands.
import { z } from "zod";

const BuildOutput = z.object({
  version: z.literal(1),
  /** Top first. */
  layers: z.array(z.string()).min(1),
  /** Environment variables of the image. */
  env: z.record(z.string(), z.string()),
});
export type BuildOutput = z.infer<typeof BuildOutput>;

export const writeOutput = (output: Omit<BuildOutput, "version">): string => JSON.stringify({ version: 1, ...output });

/** Null for one of another executor. */
export function readOutput(text: string | null): BuildOutput | null {
  if (text === null) return null;
  try {
    return BuildOutput.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
