// A file as a response. Its content is an agent's: a browser saves it and never shows it as a page of this origin.
export const fileResponse = (content: Buffer, name: string): Response =>
  new Response(new Uint8Array(content), {
    headers: {
      "content-type": mediaTypes[name.split(".").at(-1)?.toLowerCase() ?? ""] ?? "application/octet-stream",
      "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(name)}`,
      "x-content-type-options": "nosniff",
      "content-security-policy": "sandbox",
      "cache-control": "no-store",
    },
  });

/** What the web app shows within its pages. None of these can hold a script, as SVG can. */
const mediaTypes: Record<string, string> = {
  ...{ png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp" },
  ...{ mp4: "video/mp4", webm: "video/webm" },
};
