// API keys and service accounts: `/v1/keys` and `/v1/service-accounts`.
import { z } from "zod";
import { Name, Timestamp } from "./common.ts";

export const KeyScope = z.enum([
  ...["agents:read", "agents:write", "inference:create"],
  ...["repositories:read", "repositories:write", "admin"],
] as const);
export type KeyScope = z.infer<typeof KeyScope>;

export const KeyId = z.object({ keyId: z.string().max(100) });

export const ApiKey = z
  .object({
    id: z.string(),
    name: z.string(),
    owner: z.object({
      type: z.enum(["user", "service_account"]),
      name: z.string().describe("The e-mail address of a user"),
      isCaller: z.boolean(),
    }),
    scopes: z.array(KeyScope),
    createdAt: Timestamp,
    expiresAt: Timestamp.optional().describe("Absent: never"),
    revokedAt: Timestamp.optional(),
    lastUsedAt: Timestamp.optional().describe("To the minute"),
    successorId: z.string().optional().describe("The key it was rotated into"),
  })
  .meta({ id: "ApiKey" });
export type ApiKey = z.infer<typeof ApiKey>;

export const ApiKeyList = z.object({ items: z.array(ApiKey) }).meta({ id: "ApiKeyList" });
export type ApiKeyList = z.infer<typeof ApiKeyList>;

const TypedName = z.string().max(1000).trim().pipe(Name);

export const NewApiKey = z
  .strictObject({
    name: TypedName,
    scopes: z.array(KeyScope).min(1).optional().describe("Absent: all of its owner"),
    expiresInDays: z.int().min(1).max(3650).optional().describe("Absent: it does not expire"),
    serviceAccountId: z.string().max(100).optional().describe("Its owner; absent: the caller"),
  })
  .meta({ id: "NewApiKey" });
export type NewApiKey = z.infer<typeof NewApiKey>;

const secret = { id: z.string(), key: z.string().describe("No other answer has it") };
export const CreatedApiKey = z.object(secret).meta({ id: "CreatedApiKey" });
export type CreatedApiKey = z.infer<typeof CreatedApiKey>;

export const RotateApiKey = z
  .strictObject({
    overlapHours: z.int().min(0).max(720).default(24).describe("How long the former key stays valid"),
  })
  .meta({ id: "RotateApiKey" });

export const RotatedApiKey = z
  .object({ ...secret, formerUntil: Timestamp.describe("When the former key expires") })
  .meta({ id: "RotatedApiKey" });
export type RotatedApiKey = z.infer<typeof RotatedApiKey>;

export const ServiceAccount = z
  .object({ id: z.string(), name: z.string(), createdAt: Timestamp })
  .meta({ id: "ServiceAccount" });
export type ServiceAccount = z.infer<typeof ServiceAccount>;

export const ServiceAccountList = z.object({ items: z.array(ServiceAccount) }).meta({ id: "ServiceAccountList" });
export type ServiceAccountList = z.infer<typeof ServiceAccountList>;

export const NewServiceAccount = z.strictObject({ name: TypedName }).meta({ id: "NewServiceAccount" });
