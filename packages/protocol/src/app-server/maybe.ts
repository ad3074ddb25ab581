// What the wire calls optional: a member may be left out, and null means the same.
import { z } from "zod";

export const maybe = <Schema extends z.ZodType>(schema: Schema) => schema.nullish();

/** Any JSON, where the wire does not say more. */
export const JsonValue = z.json();
export type JsonValue = z.infer<typeof JsonValue>;

/** Seconds or milliseconds since 1970, counts, sizes. */
export const whole = z.int();

/** A part of a list, and where the next part begins. */
export const pageOf = <Schema extends z.ZodType>(entry: Schema) =>
  z.object({ data: z.array(entry), nextCursor: maybe(z.string()) });

/** Which part of a list is wanted. */
export const pageParams = { cursor: maybe(z.string()), limit: maybe(whole.min(0)) };
