// The caller, and what is available to it: `GET /v1/me`, `GET /v1/models`, `GET /v1/repositories`.
import { z } from "zod";

export const Me = z
  .object({
    apiKeyName: z.string(),
    createdAt: z.iso.datetime(),
    userId: z.int().optional().describe("Absent for service accounts, as all that begins with user"),
    userEmail: z.string().optional(),
    userFirstName: z.string().optional(),
    userLastName: z.string().optional(),
  })
  .meta({ id: "Me" });
export type Me = z.infer<typeof Me>;

export const ModelParameter = z.object({
  id: z.string(),
  displayName: z.string().optional(),
  values: z.array(z.object({ value: z.string(), displayName: z.string().optional() })),
});

export const ModelEntry = z
  .object({
    id: z.string(),
    displayName: z.string(),
    description: z.string().optional(),
    aliases: z.array(z.string()).optional(),
    parameters: z.array(ModelParameter).optional(),
  })
  .meta({ id: "Model" });
export type ModelEntry = z.infer<typeof ModelEntry>;

export const ModelList = z.object({ items: z.array(ModelEntry) }).meta({ id: "ModelList" });
export type ModelList = z.infer<typeof ModelList>;

export const RepositoryList = z
  .object({
    items: z.array(z.object({ url: z.string() })),
    unavailable: z
      .array(z.object({ host: z.string(), message: z.string() }))
      .optional()
      .describe("Hosts with a credential of the team that did not list their repositories; absent if there are none"),
  })
  .meta({ id: "RepositoryList" });
export type RepositoryList = z.infer<typeof RepositoryList>;
