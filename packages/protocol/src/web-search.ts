// What a search of the web did, as the Responses wire names it.
import { z } from "zod";

export const WebSearchAction = z.discriminatedUnion("type", [
  z.object({ type: z.literal("search"), query: z.string().optional(), queries: z.array(z.string()).optional() }),
  z.object({ type: z.literal("open_page"), url: z.string().optional() }),
  z.object({ type: z.literal("find_in_page"), url: z.string().optional(), pattern: z.string().optional() }),
  z.object({ type: z.literal("other") }),
]);
export type WebSearchAction = z.infer<typeof WebSearchAction>;
