// Thrown by a route to refuse a request. Its code is one of the catalogue in protocol, which gives the status.
import { type ProblemCode, problemStatus } from "@agentcli/protocol/api";

export interface ApiErrorDetails {
  /** Seconds after which to try again. */
  retryAfter?: number;
  /** More members of the error, such as `helpUrl`. */
  members?: Record<string, unknown>;
  headers?: Record<string, string>;
}

export class ApiError extends Error {
  override name = "ApiError";
  readonly code: ProblemCode;
  readonly extra: ApiErrorDetails;

  constructor(code: ProblemCode, message: string, extra: ApiErrorDetails = {}) {
    super(message);
    this.code = code;
    this.extra = extra;
  }

  get status(): (typeof problemStatus)[ProblemCode] {
    return problemStatus[this.code];
  }
}
