// Who is asking, and what there is to choose from.
import { z } from "zod";
import { Timestamp } from "./common.ts";

export const Me = z.object({
  apiKeyName: z.string(),
  createdAt: Timestamp,
  userId: z.int().optional(),
  userEmail: z.string().optional(),
  userFirstName: z.string().optional(),
  userLastName: z.string().optional(),
});
export type Me = z.infer<typeof Me>;

export const ModelInfo = z.object({
  id: z.string(),
  displayName: z.string(),
  description: z.string().optional(),
  aliases: z.array(z.string()).optional(),
  parameters: z
    .array(
      z.object({
        id: z.string(),
        displayName: z.string().optional(),
        values: z.array(z.object({ value: z.string(), displayName: z.string().optional() })),
      }),
    )
    .optional(),
  variants: z
    .array(
      z.object({
        params: z.array(z.object({ id: z.string(), value: z.string() })),
        displayName: z.string(),
        description: z.string().optional(),
        isDefault: z.boolean().optional(),
      }),
    )
    .optional(),
});
export type ModelInfo = z.infer<typeof ModelInfo>;

export const ModelList = z.object({ items: z.array(ModelInfo) });
export const RepositoryList = z.object({ items: z.array(z.object({ url: z.string() })) });
