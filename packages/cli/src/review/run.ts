// A run whose final message is a review.
import { reviewAnswer, reviewSchema } from "@agentcli/engine/review";
import type { Run } from "../run.ts";

export function asReview(run: Run, coverage: string | null): Run {
  const { dependencies } = run;
  return {
    ...run,
    dependencies: {
      ...dependencies,
      requestOptions: { ...dependencies.requestOptions, outputSchema: reviewSchema },
      answer: reviewAnswer(coverage),
    },
  };
}
