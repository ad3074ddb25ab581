// The S3 implementation against a server that others have written: moto, installed from PyPI into the cache of the tests.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { eventually, unusedPort } from "@agentcli/testkit";
import { AwsClient } from "aws4fetch";
import { afterAll, beforeAll } from "vitest";
import { openS3Store } from "../../../../src/foundation/objects/index.ts";
import { objectStoreContract } from "../contract.ts";

const version = "5.2.5";
const run = promisify(execFile);
const credentials = { accessKeyId: "AKIATEST", secretAccessKey: "test secret" };
const region = "eu-central-1";
const bucket = "contract";

async function install(): Promise<string> {
  const environment = fileURLToPath(new URL(`../../../../../../node_modules/.cache/moto-${version}`, import.meta.url));
  const program = join(environment, "bin/moto_server");
  if (existsSync(program)) return program;
  await rm(environment, { recursive: true, force: true });
  await run("python3", ["-m", "venv", environment]);
  await run(join(environment, "bin/pip"), ["install", "--quiet", `moto[server]==${version}`]);
  return program;
}

let endpoint: string;
let stop: () => Promise<unknown>;
beforeAll(async () => {
  const port = await unusedPort();
  const child = spawn(await install(), ["-H", "127.0.0.1", "-p", String(port)], { stdio: "ignore" });
  const exited = once(child, "exit");
  stop = () => {
    child.kill("SIGKILL");
    return exited;
  };
  endpoint = `http://127.0.0.1:${port}`;
  const client = new AwsClient({ ...credentials, service: "s3", region, retries: 0 });
  const body = `<CreateBucketConfiguration><LocationConstraint>${region}</LocationConstraint></CreateBucketConfiguration>`;
  await eventually(async () => (await client.fetch(`${endpoint}/${bucket}`, { method: "PUT", body })).ok);
}, 600_000);
afterAll(() => stop());

objectStoreContract(() => openS3Store({ endpoint, region, bucket, prefix: "team/", credentials: () => credentials }));
