// The S3 implementation against a server that others have written.
import { eventually } from "@agentcli/testkit";
import { AwsClient } from "aws4fetch";
import { afterAll, beforeAll } from "vitest";
import { openS3Store } from "../../../../src/foundation/objects/index.ts";
import { startMoto } from "../../../harness/moto.ts";
import { objectStoreContract } from "../contract.ts";

const credentials = { accessKeyId: "AKIATEST", secretAccessKey: "test secret" };
const region = "eu-central-1";
const bucket = "contract";

let endpoint: string;
let stop: () => Promise<unknown>;
beforeAll(async () => {
  ({ endpoint, stop } = await startMoto());
  const client = new AwsClient({ ...credentials, service: "s3", region, retries: 0 });
  const body = `<CreateBucketConfiguration><LocationConstraint>${region}</LocationConstraint></CreateBucketConfiguration>`;
  await eventually(async () => (await client.fetch(`${endpoint}/${bucket}`, { method: "PUT", body })).ok);
}, 600_000);
afterAll(() => stop());

objectStoreContract(() => openS3Store({ endpoint, region, bucket, prefix: "team/", credentials: () => credentials }));
