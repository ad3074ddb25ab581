// What a user of the action can fix: its message is all that is shown.
export class StepError extends Error {
  override name = "StepError";
}
