// Credentials: login, logout, and the limits that the provider reports.
import { z } from "zod";
import { maybe, whole } from "./maybe.ts";

export const Account = z.discriminatedUnion("type", [
  z.object({ type: z.literal("apiKey") }),
  z.object({ type: z.literal("chatgpt"), email: z.string().nullable(), planType: z.string() }),
]);
export type Account = z.infer<typeof Account>;

export const GetAccountParams = z.object({ refreshToken: maybe(z.boolean()) });
export const GetAccountResponse = z.object({ account: maybe(Account), requiresOpenaiAuth: z.boolean() });

export const LoginAccountParams = z.discriminatedUnion("type", [
  z.object({ type: z.literal("apiKey"), apiKey: z.string() }),
  z.object({ type: z.literal("chatgpt") }),
  z.object({ type: z.literal("chatgptDeviceCode") }),
  z.object({
    type: z.literal("chatgptAuthTokens"),
    accessToken: z.string(),
    chatgptAccountId: z.string(),
    chatgptPlanType: maybe(z.string()),
  }),
]);
export const LoginAccountResponse = z.discriminatedUnion("type", [
  z.object({ type: z.literal("apiKey") }),
  z.object({ type: z.literal("chatgpt"), loginId: z.string(), authUrl: z.string() }),
  z.object({
    type: z.literal("chatgptDeviceCode"),
    loginId: z.string(),
    verificationUrl: z.string(),
    userCode: z.string(),
  }),
  z.object({ type: z.literal("chatgptAuthTokens") }),
]);
export const CancelLoginAccountParams = z.object({ loginId: z.string() });
export const CancelLoginAccountResponse = z.object({ status: z.enum(["canceled", "notFound"]) });

export const AccountLoginCompletedNotification = z.object({
  loginId: maybe(z.string()),
  success: z.boolean(),
  error: maybe(z.string()),
});
export const AccountUpdatedNotification = z.object({
  authMode: maybe(z.enum(["apikey", "chatgpt", "chatgptAuthTokens", "headers"])),
  planType: maybe(z.string()),
});

const RateLimitWindow = z.object({
  usedPercent: whole,
  windowDurationMins: maybe(whole),
  resetsAt: maybe(whole),
});
export const RateLimitSnapshot = z.object({
  limitId: maybe(z.string()),
  limitName: maybe(z.string()),
  primary: maybe(RateLimitWindow),
  secondary: maybe(RateLimitWindow),
  planType: maybe(z.string()),
});
export const GetAccountRateLimitsResponse = z.object({
  rateLimits: RateLimitSnapshot,
  rateLimitsByLimitId: maybe(z.record(z.string(), RateLimitSnapshot)),
});
export const AccountRateLimitsUpdatedNotification = z.object({ rateLimits: RateLimitSnapshot });

export const GetAccountTokenUsageParams = z.object({ threadId: maybe(z.string()) });
export const GetAccountTokenUsageResponse = z.object({
  summary: z.object({
    lifetimeTokens: maybe(whole),
    peakDailyTokens: maybe(whole),
    longestRunningTurnSec: maybe(whole),
    currentStreakDays: maybe(whole),
    longestStreakDays: maybe(whole),
  }),
  dailyUsageBuckets: maybe(z.array(z.object({ startDate: z.string(), tokens: whole }))),
});
