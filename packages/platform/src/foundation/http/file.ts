// A file as a response. Its content is an agent's: a browser saves it and never shows it as a page of this origin.
export const fileResponse = (content: Buffer, name: string): Response =>
  new Response(new Uint8Array(content), {
    headers: {
      "content-type": "application/octet-stream",
      "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(name)}`,
      "x-content-type-options": "nosniff",
      "content-security-policy": "sandbox",
      "cache-control": "no-store",
    },
  });
