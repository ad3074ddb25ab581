// Optional members on the wire: absent and null mean the same.
import { z } from "zod";

export const maybe = <Schema extends z.ZodType>(schema: Schema) => schema.nullish();

/** Any JSON, where the wire is not more specific. */
export const JsonValue = z.json();
export type JsonValue = z.infer<typeof JsonValue>;

/** Seconds or milliseconds since 1970, counts, sizes. */
export const whole = z.int();

/** A page of a list, with the cursor of the next page. */
export const pageOf = <Schema extends z.ZodType>(entry: Schema) =>
  z.object({ data: z.array(entry), nextCursor: maybe(z.string()) });

/** Which page of a list is requested. */
export const pageParams = { cursor: maybe(z.string()), limit: maybe(whole.min(0)) };
