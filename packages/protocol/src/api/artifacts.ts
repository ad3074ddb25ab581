// Files that an agent produces for its user: screenshots, logs, reports.
import { z } from "zod";
import { Timestamp } from "./common.ts";

export const Artifact = z.object({
  path: z.string().describe("Relative, with the artifacts/ prefix"),
  sizeBytes: z.int().nonnegative(),
  updatedAt: Timestamp,
});
export type Artifact = z.infer<typeof Artifact>;

export const ArtifactList = z.object({ items: z.array(Artifact) });

export const ArtifactQuery = z.strictObject({
  path: z
    .string()
    .min(1)
    .max(1000)
    .refine((path) => path.startsWith("artifacts/") && !path.split("/").includes(".."), "must begin with artifacts/"),
});

export const ArtifactLink = z.object({ url: z.string(), expiresAt: Timestamp });
