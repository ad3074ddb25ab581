import { mkdir, symlink, writeFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { type FakeS3, startFakeS3 } from "@agentcli/testkit/s3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ObjectStore, openDirectoryStore, openS3Store } from "../../../src/foundation/objects/index.ts";
import { objectStoreContract } from "./contract.ts";

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let s3: FakeS3;
beforeAll(async () => {
  [directory, s3] = await Promise.all([temporaryDirectory(), startFakeS3()]);
});
afterAll(() => Promise.all([directory.remove(), s3.close()]));

const openBucket = (change: Partial<FakeS3> = {}): ObjectStore => {
  const { endpoint, region, bucket, accessKeyId, secretAccessKey } = { ...s3, ...change };
  return openS3Store({
    endpoint,
    region,
    bucket,
    prefix: "team/",
    pausesMs: [1, 1, 1, 1],
    credentials: () => ({ accessKeyId, secretAccessKey }),
  });
};

describe("a directory", () => objectStoreContract(() => openDirectoryStore(directory.path)));
describe("a bucket", () => {
  objectStoreContract(openBucket);

  test("keys begin with the prefix, and no upload in parts is left unfinished", () => {
    expect([...s3.objects.keys()].every((key) => key.startsWith("team/contract/"))).toBe(true);
    expect(s3.unfinishedUploads()).toBe(0);
  });

  test("a signed address reads and writes without credentials until it expires", async () => {
    const store = openBucket();
    const put = await store.sign("signed/one", { method: "PUT", expiresSeconds: 60 });
    expect((await fetch(put ?? "", { method: "PUT", body: "by address" })).status).toBe(200);
    const get = (await store.sign("signed/one", { method: "GET", expiresSeconds: 60 })) ?? "";
    expect(await (await fetch(get)).text()).toBe("by address");
    expect((await fetch(get.replace("signed/one", "signed/two"))).status).toBe(403);
    expect((await fetch(get, { method: "DELETE" })).status).toBe(403);
    expect((await fetch((await store.sign("signed/one", { method: "GET", expiresSeconds: -1 })) ?? "")).status).toBe(
      403,
    );
  });

  test("a server that is overloaded for a moment is asked again", async () => {
    s3.failNext(2);
    await openBucket().put("patient", Buffer.from("stored"));
    expect(s3.objects.get("team/patient")?.toString()).toBe("stored");
  });

  test.each([
    ["a wrong secret", { secretAccessKey: "wrong" }, "SignatureDoesNotMatch", "object_store.secret_access_key_env"],
    ["a wrong key id", { accessKeyId: "AKIAWRONG" }, "InvalidAccessKeyId", "object_store.access_key_id_env"],
    ["a bucket that is missing", { bucket: "no-bucket" }, "NoSuchBucket", "object_store.bucket"],
  ])("%s is named, with the setting to change", async (_name, change, code, setting) => {
    const attempt = openBucket(change).put("one", Buffer.from("secret text"));
    const error = await attempt.then(
      () => expect.fail("stored"),
      (refusal: Error) => refusal,
    );
    expect(error.message).toContain(code);
    expect(error.message).toContain(setting);
    expect(error.message).not.toContain("wrong secret");
  });

  test("a server that drops connections for a moment is asked again", async () => {
    const relay = createServer((socket) => {
      dropped += 1;
      if (dropped <= 4) return void socket.destroy();
      const far = connect(Number(new URL(s3.endpoint).port), "127.0.0.1");
      socket.pipe(far).pipe(socket);
      for (const end of [socket, far]) end.on("error", () => socket.destroy());
    });
    let dropped = 0;
    await new Promise<void>((resolve) => relay.listen(0, "127.0.0.1", resolve));
    const endpoint = `http://127.0.0.1:${(relay.address() as AddressInfo).port}`;
    await openBucket({ endpoint }).put("back", Buffer.from("stored"));
    expect(s3.objects.get("team/back")?.toString()).toBe("stored");
    expect(dropped).toBe(5);
    relay.close();
  });

  test("a server that is not there is named", async () => {
    const attempt = openBucket({ endpoint: "http://127.0.0.1:9" }).get("one");
    await expect(attempt).rejects.toThrow(/http:\/\/127\.0\.0\.1:9.* did not answer: .*object_store\.endpoint/);
  });
});

test("a directory lists no unfinished file and follows no link", async () => {
  const root = join(directory.path, "links");
  await mkdir(join(root, "kept"), { recursive: true });
  await symlink("/etc", join(root, "kept/link"));
  await writeFile(join(root, "kept/.draft-0"), "part");
  await openDirectoryStore(root).put("kept/one", Buffer.from("1"));
  const keys: string[] = [];
  for await (const { key } of openDirectoryStore(root).list("kept/")) keys.push(key);
  expect(keys).toEqual(["kept/one"]);
});
