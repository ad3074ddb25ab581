// A run whose final message is a review.
import { agentToolNames } from "@agentcli/engine";
import { reviewAnswer, reviewSchema } from "@agentcli/engine/review";
import type { Run } from "../run.ts";

export function asReview(run: Run, coverage: string | null): Run {
  const { dependencies } = run;
  return {
    ...run,
    dependencies: {
      ...dependencies,
      // One that is taken up again has no more than it began with.
      family: undefined,
      tools: dependencies.tools.filter(({ name }) => !agentToolNames.includes(name)),
      requestOptions: { ...dependencies.requestOptions, outputSchema: reviewSchema },
      answer: reviewAnswer(coverage),
    },
  };
}
