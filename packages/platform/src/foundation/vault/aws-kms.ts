// The key-encryption key in AWS KMS. The purpose is the encryption context, which KMS authenticates and logs.
import { AwsClient } from "aws4fetch";
import { Unsealable } from "./cipher.ts";
import {
  type Attempt,
  askKeyService,
  defaultRetry,
  type KeyService,
  KeyServiceFault,
  memberOf,
  type RetryOptions,
  readJson,
} from "./key-service.ts";

export interface AwsKmsOptions {
  /** The ARN of the key. */
  key: string;
  region: string;
  /** Without a slash at its end. */
  endpoint: string;
  credentials(): { accessKeyId: string; secretAccessKey: string; sessionToken?: string };
  retry?: RetryOptions;
}

export function openAwsKms({ key, region, endpoint, credentials, retry = defaultRetry }: AwsKmsOptions): KeyService {
  const description = `the key ${key} of AWS KMS`;
  const ask = (operation: string, body: object): Promise<unknown> =>
    askKeyService(description, retry, async (signal) => {
      const client = new AwsClient({ ...credentials(), service: "kms", region, retries: 0 });
      const headers = { "content-type": "application/x-amz-json-1.1", "x-amz-target": `TrentService.${operation}` };
      const request = { method: "POST", headers, body: JSON.stringify(body), signal };
      const response = await client.fetch(`${endpoint}/`, request);
      return readAnswer(response.status, await response.text(), description);
    });
  return {
    description,
    identity: `aws-kms ${key}`,
    async encrypt(text, purpose) {
      const body = { KeyId: key, Plaintext: text.toString("base64"), EncryptionContext: contextOf(purpose) };
      return bytesIn(await ask("Encrypt", body), "CiphertextBlob", description);
    },
    async decrypt(encrypted, purpose) {
      const body = { KeyId: key, CiphertextBlob: encrypted.toString("base64"), EncryptionContext: contextOf(purpose) };
      return bytesIn(await ask("Decrypt", body), "Plaintext", description);
    },
    async rewrap(encrypted, purpose) {
      const context = contextOf(purpose);
      const body = {
        ...{ CiphertextBlob: encrypted.toString("base64"), SourceKeyId: key, DestinationKeyId: key },
        ...{ SourceEncryptionContext: context, DestinationEncryptionContext: context },
      };
      return bytesIn(await ask("ReEncrypt", body), "CiphertextBlob", description);
    },
  };
}

const contextOf = (purpose: string) => ({ platform: purpose });

const busy = new Set(["ThrottlingException", "LimitExceededException", "TooManyRequestsException"]);
const foreign = new Set(["InvalidCiphertextException", "IncorrectKeyException"]);

/** AWS names the error in the body; the status is 400 for nearly all of them. */
function readAnswer(status: number, text: string, description: string): Attempt {
  const body = readJson(text);
  if (status === 200) return { kind: "answered", body };
  const code = String(memberOf(body, "__type") ?? status).replace(/^.*#/, "");
  const what =
    `${code} ${String(memberOf(body, "message") ?? memberOf(body, "Message") ?? "").slice(0, 200)}`.trimEnd();
  if (busy.has(code) || status === 429) return { kind: "busy", reason: "throttled", what };
  if (status >= 500) return { kind: "busy", reason: "failed", what };
  if (foreign.has(code))
    throw new Unsealable(`changed since it was encrypted, or encrypted with another key than ${description}`);
  throw new KeyServiceFault(...faultFor(code, what, description));
}

const remedies: Record<string, string> = {
  AccessDeniedException:
    "Allow these credentials kms:Encrypt, kms:Decrypt, kms:ReEncryptFrom and kms:ReEncryptTo on it.",
  DisabledException: "Enable the key.",
  KMSInvalidStateException: "Enable the key, or cancel its deletion.",
  NotFoundException: "Check kms.key: it is the ARN of the key.",
  ExpiredTokenException: "Give the server new credentials.",
  UnrecognizedClientException: "Check the variable that kms.access_key_id_env names.",
  InvalidSignatureException: "Check the variable that kms.secret_access_key_env names.",
};

/** Credentials and rights are what an operator of the service decides; everything else is a fault. */
const denials = new Set([
  ...["AccessDeniedException", "ExpiredTokenException", "UnrecognizedClientException", "InvalidSignatureException"],
  ...["DisabledException", "KMSInvalidStateException"],
]);

const faultFor = (code: string, what: string, description: string): ["denied" | "failed", string] => [
  denials.has(code) ? "denied" : "failed",
  `${description} refused: ${what}. ${remedies[code] ?? "See the log of the service."}`,
];

function bytesIn(body: unknown, name: string, description: string): Buffer {
  const value = memberOf(body, name);
  if (typeof value === "string" && value !== "") return Buffer.from(value, "base64");
  throw new KeyServiceFault("failed", `${description} answered without ${name}. Check kms.endpoint.`);
}
