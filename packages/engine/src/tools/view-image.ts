// Shows the model an image file of the workspace.
import type { Outcome, ToolArguments } from "@agentcli/protocol";
import { imageType } from "./image-type.ts";
import { failed, type ToolContext } from "./tool.ts";

export async function viewImage(args: ToolArguments["view_image"], context: ToolContext): Promise<Outcome> {
  const [file] = (await context.workspace.read({ files: [{ path: args.path, as: "bytes" }] })).files;
  if (!file || file.kind === "fault") return failed(file?.message ?? `${args.path} could not be read`);
  if (file.kind !== "bytes") return failed(`${args.path} could not be read as an image`);
  const type = imageType(file.base64);
  if (!type) return failed(`${args.path} is not a PNG, JPEG, GIF or WebP image`);
  return {
    status: "completed",
    parts: [
      { type: "image", url: `data:${type};base64,${file.base64}`, detail: args.detail ?? "high", name: args.path },
    ],
    detail: { kind: "none" },
  };
}
