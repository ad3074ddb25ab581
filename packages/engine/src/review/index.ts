export { findingsOf, reviewAnswer } from "./answer.ts";
export type { ChangedFile } from "./changed-file.ts";
export { type Coverage, coverageSentence } from "./coverage.ts";
export { type DiffReader, openDiffReader } from "./diff.ts";
export { type Finding, type Review, reviewSchema } from "./findings.ts";
export { type FittedChange, fitChange } from "./fit.ts";
export { type ReviewAssignment, type ReviewTarget, reviewTurn } from "./prompt.ts";
export { readReview } from "./read.ts";
export { renderReview } from "./render.ts";
