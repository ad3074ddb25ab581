// What a route throws to refuse a request: a code of the one catalogue, which gives the status.
import { type ProblemCode, problemStatus } from "@agentcli/protocol/api";

export interface ProblemExtra {
  /** Seconds after which to try again. */
  retryAfter?: number;
  /** More members of the error, such as `helpUrl`. */
  members?: Record<string, unknown>;
  headers?: Record<string, string>;
}

export class ApiProblem extends Error {
  override name = "ApiProblem";
  readonly code: ProblemCode;
  readonly extra: ProblemExtra;

  constructor(code: ProblemCode, message: string, extra: ProblemExtra = {}) {
    super(message);
    this.code = code;
    this.extra = extra;
  }

  get status(): (typeof problemStatus)[ProblemCode] {
    return problemStatus[this.code];
  }
}
