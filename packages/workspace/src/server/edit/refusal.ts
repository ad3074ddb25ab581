// Why a patch is not applied.

/** Thrown inside this folder only; `applyEdits` turns it into the answer. The message is for the model. */
export class Refusal extends Error {}
