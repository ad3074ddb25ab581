// Failures that users can act on.

/** Its message is written for the user, and a run that it ends has its code. Other errors are reported as internal. */
export abstract class Fault extends Error {
  abstract readonly code: string;
}
