// Shows the model an image file of the workspace.
import { builtIn, failed } from "./tool.ts";

export const viewImage = builtIn({
  name: "view_image",
  description: "Look at an image file (PNG, JPEG, GIF or WebP) in the workspace.",
  onResume: "rerun",
  parallel: true,
  async run(args, context) {
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
  },
});

/** By the first bytes, in base64, because file names may be wrong. */
export function imageType(base64: string): string | null {
  if (base64.startsWith("iVBORw0KGgo")) return "image/png";
  if (base64.startsWith("/9j/")) return "image/jpeg";
  if (base64.startsWith("R0lGOD")) return "image/gif";
  if (base64.startsWith("UklGR") && base64.slice(12, 16) === "RUJQ") return "image/webp";
  return null;
}
