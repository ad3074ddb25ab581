// The addresses of previews: each port of each agent has a host name of its own, so that what it shows has an origin of its own
// and cannot act as the platform. Pure.
import { isIP } from "node:net";

export interface PreviewTarget {
  agentId: string;
  port: number;
}

/** `http://3000--bc-….localhost:8080`: below the name of the platform, or below localhost where it has only an address. */
export function previewOrigin(publicUrl: string, { agentId, port }: PreviewTarget): string {
  const { protocol, hostname, port: ownPort } = new URL(publicUrl);
  const parent = isIP(hostname.replace(/^\[|\]$/g, "")) === 0 ? hostname : "localhost";
  return `${protocol}//${port}--${agentId}.${parent}${ownPort === "" ? "" : `:${ownPort}`}`;
}

/** Null for a host name that is not one of a preview. */
export function readPreviewHost(host: string | undefined): PreviewTarget | null {
  const [, port, agentId] = /^(\d{1,5})--(bc-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\./i.exec(host ?? "") ?? [];
  return port === undefined || agentId === undefined ? null : { agentId: agentId.toLowerCase(), port: Number(port) };
}
