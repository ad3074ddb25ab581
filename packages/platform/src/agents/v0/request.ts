// Requests of v0 as those of v1. Pure.
import type { Prompt, V0Create, V0Prompt } from "@agentcli/protocol/api";
import { ApiError, invalid } from "../../foundation/index.ts";
import { isReference, repositoryOfPullRequest } from "../../repositories/index.ts";
import type { CreateAgentRequest } from "../submit/index.ts";

/** Throws ApiError. */
export function toCreateAgentRequest({ prompt, model, source, target, webhook }: V0Create): CreateAgentRequest {
  const { ref, prUrl } = source;
  const url = source.repository ?? repositoryOfPullRequest(prUrl ?? "");
  if (url === undefined) throw invalid(["source.prUrl: is not the address of a pull request; give repository too"]);
  const branchName = target?.branchName;
  if (branchName !== undefined && !isBranchName(branchName))
    throw invalid(["target.branchName: is not a valid branch name"]);
  return {
    prompt: promptOf(prompt),
    ...(model !== undefined && model !== "default" && { model: { id: model } }),
    repos: [{ url, ...(ref && { startingRef: ref }), ...(prUrl && { prUrl }) }],
    autoCreatePR: target?.autoCreatePr ?? false,
    openAsPlatformGithubApp: target?.openAsPlatformGithubApp ?? target?.openAsCursorGithubApp ?? false,
    skipReviewerRequest: target?.skipReviewerRequest ?? false,
    workOnCurrentBranch: target?.autoBranch === false,
    branchName,
    webhook: webhook && { ...webhook, version: "v0" },
  };
}

/** Errors name the fields of v1; a client of v0 has sent others. */
export async function toV0Error<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const message = error.message.replace(v1Fields, (field) => v0Fields[field] ?? field);
    throw new ApiError(error.code, message, error.extra);
  }
}

const v0Fields: Record<string, string> = {
  "repos[0].url": "source.repository",
  "repos[0].startingRef": "source.ref",
  "repos[0].prUrl": "source.prUrl",
  "model.id": "model",
};
const v1Fields = /repos\[0\]\.(?:url|startingRef|prUrl)|^model\.id/g;

const isBranchName = (text: string): boolean => isReference(text) && !text.startsWith("refs/") && text !== "HEAD";

/** v0 does not say what an image is; its first bytes do. */
export function promptOf({ text, images = [] }: V0Prompt): Prompt {
  return {
    text,
    images: images.map(({ data, dimension }, index) => {
      const mimeType = imageType(Buffer.from(data.slice(0, 16), "base64"));
      if (mimeType === undefined) throw invalid([`prompt.images.${index}.data: is not PNG, JPEG, GIF or WebP`]);
      return { data, mimeType, ...(dimension && { dimension }) };
    }),
  };
}

const signatures = [
  ["image/png", /^\x89PNG/],
  ["image/jpeg", /^\xff\xd8\xff/],
  ["image/gif", /^GIF8/],
  ["image/webp", /^RIFF.{4}WEBP$/s],
] as const;

const imageType = (bytes: Buffer) =>
  signatures.find(([, signature]) => signature.test(bytes.toString("latin1", 0, 12)))?.[0];
