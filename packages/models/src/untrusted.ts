// Reads JSON from outside without trusting its shape: a member of the wrong type counts as absent.
export interface Fields {
  readonly [name: string]: unknown;
}

const none: Fields = {};

export const fields = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? (value as Fields) : none;

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

export const count = (value: unknown): number => (Number.isSafeInteger(value) ? Math.max(0, Number(value)) : 0);

/** Undefined for text that is not JSON. */
export function parseJson(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    return undefined;
  }
}
