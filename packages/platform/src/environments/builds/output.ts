// What a build leaves: the layers that machines start from, and what its image says about commands.
import { z } from "zod";

const BuildOutput = z.object({
  version: z.literal(1),
  /** Top first. */
  layers: z.array(z.string()).min(1),
  /** Environment variables of the image. */
  env: z.record(z.string(), z.string()),
  /** What `install` left in the repositories; absent from builds of older versions. */
  left: z.object({ directories: z.array(z.string()), hasFiles: z.boolean() }).optional(),
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
