// Addresses that secrets are sent to: what is sent in clear can be read and changed on its way, unless it never leaves this machine.

/** Null for what is not such an address. */
export function readPrivateUrl(text: string): URL | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isOwn = url !== null && ["127.0.0.1", "[::1]", "localhost"].includes(url.hostname);
  const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && isOwn);
  return url !== null && isSafe && !url.username && !url.search && !url.hash ? url : null;
}
