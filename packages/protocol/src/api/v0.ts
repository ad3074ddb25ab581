// API v0, for clients from before v1: other words for the same agents.
import { z } from "zod";
import { AgentId, PageQuery, Timestamp } from "./common.ts";
import { ImageBytes, ImageDimension, maxImages } from "./prompts.ts";
import { Webhook } from "./webhooks.ts";

export const V0Prompt = z.strictObject({
  text: z.string().min(1).max(1_000_000),
  images: z
    .array(z.strictObject({ data: ImageBytes, dimension: ImageDimension.optional() }))
    .max(maxImages)
    .optional(),
});
export type V0Prompt = z.infer<typeof V0Prompt>;

const reference = z.string().min(1).max(500);
const address = z.string().min(1).max(2000);

export const V0Create = z
  .strictObject({
    prompt: V0Prompt,
    model: z.string().min(1).max(200).optional().describe("Absent or default: the configured one"),
    source: z.strictObject({
      repository: address.optional(),
      ref: reference.optional(),
      prUrl: address.optional().describe("Wins over ref; brings the repository along"),
    }),
    target: z
      .strictObject({
        autoCreatePr: z.boolean().default(false),
        openAsCursorGithubApp: z.boolean().optional().describe("Older name of openAsPlatformGithubApp"),
        openAsPlatformGithubApp: z.boolean().optional(),
        skipReviewerRequest: z.boolean().default(false),
        branchName: reference.optional().describe("Of the branch that is made; absent: named after the agent"),
        autoBranch: z.boolean().default(true).describe("false: push to ref, or to the head of prUrl"),
      })
      .optional(),
    webhook: Webhook.optional(),
  })
  .superRefine(({ source, target }, context) => {
    const refuse = (path: string[], message: string) => context.addIssue({ code: "custom", path, message });
    if (source.repository === undefined && source.prUrl === undefined)
      refuse(["source"], "give a repository or the prUrl of a pull request");
    if (target?.branchName !== undefined && target.branchName === source.ref)
      refuse(["target", "branchName"], "is the branch the work starts from; give another, or autoBranch false");
    if (target?.autoBranch !== false) return;
    if (target.branchName !== undefined)
      refuse(["target", "branchName"], "cannot be combined with autoBranch false, which makes no branch");
    if (source.ref === undefined && source.prUrl === undefined)
      refuse(["target", "autoBranch"], "false needs source.ref or source.prUrl to push to");
  });
export type V0Create = z.infer<typeof V0Create>;

export const V0Followup = z.strictObject({ prompt: V0Prompt });

export const V0Status = z
  .enum(["CREATING", "RUNNING", "FINISHED", "ERROR", "EXPIRED", "STOPPED"])
  .describe("Of the latest run; STOPPED was cancelled");
export type V0Status = z.infer<typeof V0Status>;

export const V0Agent = z
  .object({
    id: AgentId,
    name: z.string(),
    status: V0Status,
    source: z.object({
      repository: z.string().optional(),
      ref: z.string().optional(),
      prUrl: z.string().optional(),
    }),
    target: z.object({
      branchName: z.string().optional().describe("Pushed to, now or when the run ends; absent without repository"),
      url: z.string(),
      prUrl: z.string().optional(),
      autoCreatePr: z.boolean(),
      openAsCursorGithubApp: z.boolean(),
      openAsPlatformGithubApp: z.boolean(),
      skipReviewerRequest: z.boolean(),
    }),
    summary: z.string().optional(),
    createdAt: Timestamp,
  })
  .meta({ id: "V0Agent" });
export type V0Agent = z.infer<typeof V0Agent>;

export const V0AgentQuery = PageQuery.extend({ prUrl: address.optional() });
export const V0AgentPage = z.object({
  agents: z.array(V0Agent),
  nextCursor: z.string().optional().describe("Absent on the last page"),
});

export const V0Message = z.object({
  id: z.string(),
  type: z.enum(["user_message", "assistant_message"]),
  text: z.string(),
});
export type V0Message = z.infer<typeof V0Message>;
export const V0Conversation = z.object({ id: AgentId, messages: z.array(V0Message) }).meta({ id: "V0Conversation" });

export const V0ArtifactList = z.object({
  artifacts: z.array(
    z.object({
      absolutePath: z.string().describe("/opt/platform/artifacts/…"),
      sizeBytes: z.int().nonnegative(),
      updatedAt: Timestamp,
    }),
  ),
});
export const V0ArtifactQuery = z.strictObject({
  path: z
    .string()
    .max(1000)
    .regex(/^\/opt\/(?:platform|cursor)\/artifacts\/./, "must begin with /opt/platform/artifacts/")
    .refine((path) => !path.split("/").includes(".."), "must not lead upwards"),
});

export const V0Me = z.object({
  apiKeyName: z.string(),
  createdAt: Timestamp,
  userEmail: z.string().optional().describe("Absent for service accounts"),
});
export const V0Models = z.object({ models: z.array(z.string()) });
export const V0Repositories = z.object({
  repositories: z.array(z.object({ owner: z.string(), name: z.string(), repository: z.string() })),
});
