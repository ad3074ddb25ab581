// A run whose final message is a review.
import { agentToolNames } from "@agentcli/engine";
import { reviewAnswer, reviewSchema } from "@agentcli/engine/review";
import type { Run } from "./run.ts";

export function asReview<Kind extends Run>(run: Kind, coverage: string | null): Kind {
  const { dependencies } = run;
  return {
    ...run,
    dependencies: {
      ...dependencies,
      // A resumed review has no more tools than it began with.
      subagents: undefined,
      tools: dependencies.tools.filter(({ name }) => !agentToolNames.includes(name)),
      requestOptions: { ...dependencies.requestOptions, outputSchema: reviewSchema },
      finalMessageCheck: reviewAnswer(coverage),
    },
  };
}
