// The type of an image, by its content.

/** By the first bytes, in base64, because file names may be wrong. */
export function imageType(base64: string): string | null {
  if (base64.startsWith("iVBORw0KGgo")) return "image/png";
  if (base64.startsWith("/9j/")) return "image/jpeg";
  if (base64.startsWith("R0lGOD")) return "image/gif";
  if (base64.startsWith("UklGR") && base64.slice(12, 16) === "RUJQ") return "image/webp";
  return null;
}
