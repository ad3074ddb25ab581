// A scripted AWS KMS: Encrypt, Decrypt and ReEncrypt with symmetric keys. Every request must be signed.
import { randomUUID } from "node:crypto";
import { type AwsKeys, signatureError } from "../aws/index.ts";
import { type Answer, type Exchange, type FakeKeyService, newKey, startKeyService } from "./server.ts";

export interface FakeAwsKms extends FakeKeyService, AwsKeys {
  /** The ARN of its key. */
  key: string;
  /** Of one more key. */
  otherKey: string;
}

export async function startFakeAwsKms(): Promise<FakeAwsKms> {
  const keys = {
    accessKeyId: "AKIAKMS",
    secretAccessKey: "kms secret/+",
    region: "eu-test-1",
    sessionToken: "session+/=",
  };
  const newArn = () => `arn:aws:kms:${keys.region}:111122223333:key/${randomUUID()}`;
  const [key, otherKey] = [newArn(), newArn()];
  const stored: Stored = new Map([key, otherKey].map((arn) => [arn, newKey()]));
  const service = await startKeyService({
    operationOf: ({ request }) => String(request.headers["x-amz-target"]).replace("TrentService.", ""),
    answer(exchange) {
      const error = signatureError(exchange, keys, "kms");
      return error === null ? perform(exchange, stored) : refusal(400, signatureErrors[error] ?? error);
    },
    failures: {
      throttled: refusal(400, "ThrottlingException"),
      denied: refusal(400, "AccessDeniedException"),
      broken: refusal(500, "KMSInternalException"),
    },
    rotate: () => stored.get(key)?.rotate(),
    retire: () => stored.get(key)?.retire(),
  });
  return { ...service, ...keys, key, otherKey };
}

type Stored = Map<string, ReturnType<typeof newKey>>;

/** As KMS names what S3 calls otherwise. */
const signatureErrors: Record<string, string> = {
  SignatureDoesNotMatch: "InvalidSignatureException",
  InvalidAccessKeyId: "UnrecognizedClientException",
  InvalidToken: "UnrecognizedClientException",
};

const refusal = (status: number, code: string): Answer => ({
  status,
  body: { __type: `com.amazonaws.kms#${code}`, message: `${code} was answered` },
});

type Asked = Record<string, unknown>;

function perform({ request, body }: Exchange, stored: Stored): Answer {
  const asked = JSON.parse(body.toString()) as Asked;
  if (request.headers["content-type"] !== "application/x-amz-json-1.1") return refusal(400, "SerializationException");
  const read = () => Buffer.from(String(asked.CiphertextBlob), "base64");
  switch (request.headers["x-amz-target"]) {
    case "TrentService.Encrypt": {
      const text = Buffer.from(String(asked.Plaintext), "base64");
      return encrypt(stored, { arn: asked.KeyId, text, context: asked.EncryptionContext });
    }
    case "TrentService.Decrypt": {
      const text = decrypt(stored, { arn: asked.KeyId, blob: read(), context: asked.EncryptionContext });
      if (!Buffer.isBuffer(text)) return text;
      return { status: 200, body: { KeyId: asked.KeyId, Plaintext: text.toString("base64") } };
    }
    case "TrentService.ReEncrypt": {
      const text = decrypt(stored, { arn: asked.SourceKeyId, blob: read(), context: asked.SourceEncryptionContext });
      if (!Buffer.isBuffer(text)) return text;
      return encrypt(stored, { arn: asked.DestinationKeyId, text, context: asked.DestinationEncryptionContext });
    }
    default:
      return refusal(400, "UnknownOperationException");
  }
}

function encrypt(stored: Stored, { arn, text, context }: { arn: unknown; text: Buffer; context: unknown }): Answer {
  const key = stored.get(String(arn));
  if (key === undefined) return refusal(400, "NotFoundException");
  const head = Buffer.from(JSON.stringify([arn, key.newest()]));
  const blob = Buffer.concat([Buffer.of(head.length), head, key.encrypt(text, JSON.stringify(context))]);
  return { status: 200, body: { KeyId: arn, CiphertextBlob: blob.toString("base64") } };
}

function decrypt(
  stored: Stored,
  { arn, blob, context }: { arn: unknown; blob: Buffer; context: unknown },
): Buffer | Answer {
  const head = blob.subarray(1, 1 + (blob[0] ?? 0));
  const [owner, version] = readHead(head.toString());
  if (owner === undefined) return refusal(400, "InvalidCiphertextException");
  if (owner !== arn) return refusal(400, "IncorrectKeyException");
  const text = stored.get(owner)?.decrypt(blob.subarray(1 + head.length), JSON.stringify(context), version);
  return text ?? refusal(400, "InvalidCiphertextException");
}

function readHead(text: string): [string, number] | [undefined, number] {
  try {
    const [arn, version] = JSON.parse(text) as [string, number];
    return [arn, version];
  } catch {
    return [undefined, 0];
  }
}
