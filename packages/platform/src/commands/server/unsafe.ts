// Combinations of settings with which a server does not start, because others could read keys or be misled.
import { SettingError, type Settings } from "../../foundation/config/index.ts";
import { isPractice } from "../../runs/index.ts";

export function refuseUnsafe(settings: Settings): void {
  const [first] = findUnsafe(settings);
  if (first !== undefined) throw new SettingError(first);
}

/** Sentences that name the setting, what is wrong with it and what to do. */
export function findUnsafe(settings: Settings): string[] {
  const { listen, tls, rateLimits, publicUrl } = settings;
  const isOpen = !isLoopback(listen.host) && tls === null && rateLimits.trustedProxies.length === 0;
  const isPublic = publicUrl !== null && !isLoopback(hostOf(publicUrl));
  return [
    ...(isOpen
      ? [
          `listen = "${listen.host}:${listen.port}" is reachable from other machines without encryption, and keys would be readable on the way. Set tls_cert and tls_key, or, with a proxy in front that does TLS, name its address in rate_limits.trusted_proxies. 127.0.0.1 is for this machine only.`,
        ]
      : []),
    ...(isPublic && publicUrl.startsWith("http:")
      ? [`public_url = "${publicUrl}" has no encryption, and keys would be readable on the way. Use https.`]
      : []),
    ...(isPublic && isPractice(settings)
      ? [
          `public_url = "${publicUrl}" is for others, but the model is the practice model, which has no intelligence. Set AGENT_API_KEY, or model and model_provider; to try it out, leave public_url out.`,
        ]
      : []),
  ];
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname : url);

const isLoopback = (host: string): boolean => /^(?:localhost|127(?:\.\d+){3}|\[?::1\]?)$/.test(host);
