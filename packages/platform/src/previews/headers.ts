// Headers between a browser and a port of a machine: neither gets what belongs to the platform. Pure.
import type { IncomingHttpHeaders } from "node:http";

/** What is shown, and where. */
export interface Shown {
  port: number;
  /** The address of the preview, as browsers see it. */
  origin: string;
}

/** Over https with a prefix, so that no other host name of the domain can set it. */
export const passCookieAt = (publicUrl: string): string =>
  publicUrl.startsWith("https:") ? "__Host-platform_preview" : "platform_preview";

export const readPass = ({ cookie }: IncomingHttpHeaders, name: string): string | undefined =>
  pairsIn(cookie)
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1);

const pairsIn = (cookie = ""): string[] => cookie.split(/;\s*/).filter((pair) => pair !== "");

/** Passes, sessions and logins. */
const isOurs = (pair: string): boolean => /^(?:__Host-)?platform_\w+=/.test(pair);

/** Development servers refuse host names that they do not know: they see their own. */
export function headersForMachine(headers: IncomingHttpHeaders, { port, origin }: Shown): IncomingHttpHeaders {
  const own = `localhost:${port}`;
  const { cookie, authorization, "x-platform-forwarded": _, ...others } = withoutConnection(headers);
  const cookies = pairsIn(cookie).filter((pair) => !isOurs(pair));
  return {
    ...others,
    host: own,
    ...(others.origin === origin && { origin: `http://${own}` }),
    ...(cookies.length > 0 && { cookie: cookies.join("; ") }),
    ...(authorization !== undefined && !hasPlatformKey(authorization) && { authorization }),
    "x-forwarded-host": headers.host,
    "x-forwarded-proto": new URL(origin).protocol.slice(0, -1),
  };
}

/** As bearer token, or as either half of Basic authentication. */
function hasPlatformKey(authorization: string): boolean {
  const decoded = Buffer.from(authorization.split(/\s+/).at(-1) ?? "", "base64").toString("latin1");
  return [authorization, decoded].some((text) => /(?:plt|pla)_[0-9a-f]{12}_/.test(text));
}

/** A page may change its own host name only: cookies of the whole domain would be sent to the platform too. */
export function headersForBrowser(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { "clear-site-data": _, "set-cookie": cookies, ...others } = withoutConnection(headers);
  return { ...others, ...(cookies && { "set-cookie": cookies.map(withoutDomain) }) };
}

const withoutDomain = (cookie: string): string => cookie.replace(/;\s*domain\s*=[^;]*/gi, "");

const hopByHop = ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "te", "trailer", "upgrade"];

function withoutConnection(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const named = (headers.connection ?? "").toLowerCase().split(/\s*,\s*/);
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !hopByHop.includes(name) && !named.includes(name)),
  );
}
