/** Writes the bundle of the workflow action to this file. */
export function buildAction(file: string): Promise<void>;
