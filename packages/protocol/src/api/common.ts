// Shapes that several requests and responses share.
import { z } from "zod";
import { unprintable, unprintableProblem } from "../names.ts";
import { agentIdPattern, runIdPattern } from "./plain.ts";

export const AgentId = z.string().regex(agentIdPattern, "must look like bc-<uuid>");
export const RunId = z.string().regex(runIdPattern, "must look like run-<uuid>");

/** Shown to people in lists. */
export const Name = z
  .string()
  .min(1)
  .max(100)
  .refine((name) => !unprintable.test(name), unprintableProblem);

export const Timestamp = z.iso.datetime().describe("UTC with milliseconds");

export const defaultPageSize = 20;
export const largestPage = 100;

/** Query of every list; each page has the cursor of the next one. */
export const PageQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(largestPage).default(defaultPageSize),
  cursor: z.string().min(1).max(512).optional(),
});

export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), nextCursor: z.string().optional().describe("Absent on the last page") });

/** The response to an action on a whole resource. */
export const Acknowledged = z.object({ id: z.string() });

export const ModelSelection = z.strictObject({
  id: z.string().min(1).max(200),
  params: z
    .array(z.strictObject({ id: z.string().min(1).max(100), value: z.string().max(1000) }))
    .max(50)
    .optional(),
});
export type ModelSelection = z.infer<typeof ModelSelection>;

/** Fits in a byte limit, which is not the same as a character limit. */
export const bytes = (most: number, least = 0) =>
  z.string().refine((text) => {
    const size = new TextEncoder().encode(text).length;
    return size >= least && size <= most;
  }, `must be ${least} to ${most} bytes`);

/** Also called for values that are not addresses: another check reports those. */
export const withoutUser = (url: string): boolean => {
  if (!URL.canParse(url)) return true;
  const { username, password } = new URL(url);
  return username === "" && password === "";
};
