// The key-encryption key in AWS KMS, against a server that others have written.
import { randomBytes } from "node:crypto";
import { eventually } from "@agentcli/testkit";
import { AwsClient } from "aws4fetch";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openAwsKms } from "../../../../src/foundation/vault/aws-kms.ts";
import { startMoto } from "../../../harness/moto.ts";
import { keyEncryptionContract } from "../contract.ts";
import { keysOf, quickRetry } from "../services.ts";

const credentials = { accessKeyId: "AKIATEST", secretAccessKey: "test secret" };
const region = "eu-central-1";

let endpoint: string;
let stop: () => Promise<unknown>;
const keys: string[] = [];
const open = (key = keys[0] ?? "") =>
  openAwsKms({ key, region, endpoint, credentials: () => credentials, retry: quickRetry });

beforeAll(async () => {
  ({ endpoint, stop } = await startMoto());
  const client = new AwsClient({ ...credentials, service: "kms", region, retries: 0 });
  const headers = { "content-type": "application/x-amz-json-1.1", "x-amz-target": "TrentService.CreateKey" };
  await eventually(async () => {
    const response = await client.fetch(`${endpoint}/`, { method: "POST", headers, body: "{}" });
    const { KeyMetadata } = (await response.json()) as { KeyMetadata: { Arn: string } };
    return keys.push(KeyMetadata.Arn) === 2;
  });
}, 600_000);
afterAll(() => stop());

let pair: ReturnType<typeof keysOf> | null = null;
const both = () => {
  pair ??= keysOf(open, keys[1] ?? "");
  return pair;
};
keyEncryptionContract("AWS KMS", { open: () => both().open(), openOther: () => both().openOther() });

test("what was encrypted is encrypted again without being seen", async () => {
  const plain = randomBytes(32);
  const former = await open().encrypt(plain, "data key");
  const fresh = await open().rewrap(former, "data key");
  expect(fresh.equals(former)).toBe(false);
  expect(await open().decrypt(fresh, "data key")).toEqual(plain);
});
