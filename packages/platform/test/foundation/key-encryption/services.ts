// The scripted services, as the platform opens them.
import { randomBytes } from "node:crypto";
import { type FakeKeyService, startFakeAwsKms, startFakeVault } from "@agentcli/testkit/key-services";
import type { KmsSettings } from "../../../src/foundation/config/index.ts";
import { openAwsKms } from "../../../src/foundation/vault/aws-kms.ts";
import type { KeyService, RetryOptions } from "../../../src/foundation/vault/key-service.ts";
import { serviceKey } from "../../../src/foundation/vault/service-key.ts";
import { openVaultTransit } from "../../../src/foundation/vault/vault-transit.ts";
import type { KeyPair } from "./contract.ts";

export interface Service {
  fake: FakeKeyService;
  /** With other credentials than the service accepts, where `isStranger`. */
  open(options?: { key?: string; retry?: RetryOptions; isStranger?: true }): KeyService;
  otherKey: string;
  kms: KmsSettings;
  variables: NodeJS.ProcessEnv;
}

/** One pause of a millisecond for each of two more attempts. */
export const quickRetry: RetryOptions = { timeoutMs: 5_000, pausesMs: [1, 1] };

export async function openAws(): Promise<Service> {
  const fake = await startFakeAwsKms();
  const { endpoint, region, accessKeyId, secretAccessKey, sessionToken = "" } = fake;
  const credentials = { accessKeyId, secretAccessKey, sessionToken };
  return {
    fake,
    otherKey: fake.otherKey,
    open: ({ key = fake.key, retry = quickRetry, isStranger } = {}) =>
      openAwsKms({
        ...{ key, region, endpoint, retry },
        credentials: () => ({ ...credentials, ...(isStranger && { secretAccessKey: "wrong" }) }),
      }),
    kms: {
      ...{ kind: "aws", key: fake.key, region, endpoint, cacheMs: 60_000 },
      ...{ accessKeyVariable: "KMS_ID", secretKeyVariable: "KMS_SECRET", sessionTokenVariable: "KMS_SESSION" },
    },
    variables: { KMS_ID: accessKeyId, KMS_SECRET: secretAccessKey, KMS_SESSION: sessionToken },
  };
}

export async function openTransit(): Promise<Service> {
  const fake = await startFakeVault();
  const { endpoint, mount, namespace, otherKey, token } = fake;
  return {
    fake,
    otherKey,
    open: ({ key = fake.key, retry = quickRetry, isStranger } = {}) =>
      openVaultTransit({ key, mount, namespace, endpoint, retry, token: () => (isStranger ? "hvs.wrong" : token) }),
    kms: {
      ...{ kind: "vault", key: fake.key, mount, namespace, endpoint, cacheMs: 60_000 },
      token: { kind: "variable", variable: "TRANSIT_TOKEN" },
    },
    variables: { TRANSIT_TOKEN: token },
  };
}

/** Both keys of a service, without a cache. */
export function keysOf(open: (key?: string) => KeyService, otherKey: string): KeyPair {
  const stored = new Map<string, Promise<Buffer>>();
  const openOne = async (service: KeyService) => {
    const made = stored.get(service.identity) ?? service.encrypt(randomBytes(32), "authentication key");
    stored.set(service.identity, made);
    return serviceKey(service, { authenticationKey: await made, cacheMs: 0, now: Date.now });
  };
  return { open: () => openOne(open()), openOther: () => openOne(open(otherKey)) };
}
