// Parses the binary event frames of AWS, whose payloads hold the events of the model.
import type { SseParser } from "../sse.ts";
import { fields, parseJson, text } from "../untrusted.ts";

// Length of the frame, length of its headers, checksum of both; then headers, payload, checksum.
const preludeBytes = 12;
const checksumBytes = 4;
const maxFrameBytes = 32 * 1024 * 1024;

export function openAwsEvents(onEvent: (data: string, name: string) => void): SseParser {
  let buffered: Buffer = Buffer.alloc(0);
  return {
    push(bytes) {
      buffered = buffered.length === 0 ? bytes : Buffer.concat([buffered, bytes]);
      while (buffered.length >= preludeBytes) {
        const length = buffered.readUInt32BE(0);
        if (length < preludeBytes + checksumBytes || length > maxFrameBytes) return garbled(onEvent);
        if (buffered.length < length) return;
        emit(buffered.subarray(0, length), onEvent);
        buffered = buffered.subarray(length);
      }
    },
    end() {},
  };
}

/** The reader of the wire reports an event that is not JSON. */
const garbled = (onEvent: (data: string, name: string) => void): void => onEvent("not a frame", "");

function emit(frame: Buffer, onEvent: (data: string, name: string) => void): void {
  const headersEnd = preludeBytes + frame.readUInt32BE(4);
  const payload = fields(parseJson(frame.subarray(headersEnd, -checksumBytes).toString("utf8")));
  const bytes = text(payload.bytes);
  const kind = headerOf(frame.subarray(preludeBytes, headersEnd), ":exception-type");
  if (bytes !== undefined) onEvent(Buffer.from(bytes, "base64").toString("utf8"), "");
  else if (kind !== undefined) {
    const error = { type: errorTypes[kind] ?? "api_error", message: text(payload.message) ?? kind };
    onEvent(JSON.stringify({ type: "error", error }), "error");
  }
}

const errorTypes: Record<string, string> = {
  throttlingException: "rate_limit_error",
  serviceUnavailableException: "overloaded_error",
  modelTimeoutException: "timeout_error",
  validationException: "invalid_request_error",
  accessDeniedException: "permission_error",
};

const textType = 7;

/** Headers with a text, up to the first of another type: the service sends no others. */
function headerOf(headers: Buffer, wanted: string): string | undefined {
  for (let at = 0; at < headers.length; ) {
    const nameEnd = at + 1 + headers.readUInt8(at);
    const name = headers.toString("utf8", at + 1, nameEnd);
    if (nameEnd + 3 > headers.length || headers.readUInt8(nameEnd) !== textType) return undefined;
    const end = nameEnd + 3 + headers.readUInt16BE(nameEnd + 1);
    if (name === wanted) return headers.toString("utf8", nameEnd + 3, end);
    at = end;
  }
  return undefined;
}
