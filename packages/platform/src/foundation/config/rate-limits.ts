// The limits of requests, with their defaults.
import type { PlatformConfig } from "@agentcli/protocol";
import type { RateLimitSettings } from "./settings.ts";

export const readRateLimits = (written: PlatformConfig["rate_limits"] = {}): RateLimitSettings => ({
  requestsPerMinute: written.requests_per_minute ?? 1_200,
  requestsPerMinutePerAddress: written.requests_per_minute_per_address ?? 30_000,
  wrongCredentialsPerMinute: written.wrong_credentials_per_minute ?? 600,
  concurrentRequests: written.concurrent_requests ?? 1_000,
  concurrentRequestsPerAddress: written.concurrent_requests_per_address ?? 4_000,
  gitProcesses: written.git_processes ?? 32,
  trustedProxies: written.trusted_proxies ?? [],
});

/** As the keys would be written. */
export const rateLimitDefaults = (limits: RateLimitSettings): Record<string, unknown> => ({
  "rate_limits.requests_per_minute": limits.requestsPerMinute,
  "rate_limits.requests_per_minute_per_address": limits.requestsPerMinutePerAddress,
  "rate_limits.wrong_credentials_per_minute": limits.wrongCredentialsPerMinute,
  "rate_limits.concurrent_requests": limits.concurrentRequests,
  "rate_limits.concurrent_requests_per_address": limits.concurrentRequestsPerAddress,
  "rate_limits.git_processes": limits.gitProcesses,
});
