// Prompts: text and images.
import { z } from "zod";

export const maxImages = 5;
export const largestImageBytes = 15 * 1024 * 1024;

export const ImageDimension = z.strictObject({ width: z.int().positive(), height: z.int().positive() });
const dimension = ImageDimension.optional();

/** In base64. */
export const ImageBytes = z.string().superRefine((text, context) => {
  if (text === "") context.addIssue({ code: "custom", message: "is empty" });
  else if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text))
    context.addIssue({ code: "custom", message: "must be base64" });
  else if ((text.length / 4) * 3 - (text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0) > largestImageBytes)
    context.addIssue({ code: "custom", message: "must be at most 15 MB" });
});

export const PromptImage = z.union([
  z.strictObject({
    data: ImageBytes,
    mimeType: z.enum(["image/png", "image/jpeg", "image/gif", "image/webp"]),
    dimension,
  }),
  z.strictObject({ url: z.url({ protocol: /^https?$/ }), dimension }),
]);
export type PromptImage = z.infer<typeof PromptImage>;

export const Prompt = z.strictObject({
  text: z.string().min(1).max(1_000_000),
  images: z.array(PromptImage).max(maxImages).optional(),
});
export type Prompt = z.infer<typeof Prompt>;
