// Everything this package throws of its own accord, as one tree.

export interface ErrorFacts {
  /** As the platform said it, or one of ours: `network`, `invalid_option`, `closed`. */
  code?: string;
  /** HTTP status, where an answer came. */
  status?: number;
  isRetryable?: boolean;
  /** Method and path that were asked. */
  endpoint?: string;
  /** What the platform calls this request in its log. */
  requestId?: string;
  /** The call of this package, as `agents.create`. */
  operation?: string;
  cause?: unknown;
}

export class PlatformSdkError extends Error {
  // Written out, here and below: a bundle shortens the names of classes.
  override readonly name: string = "PlatformSdkError";
  readonly code: string;
  readonly status: number | undefined;
  readonly isRetryable: boolean;
  readonly endpoint: string | undefined;
  readonly requestId: string | undefined;
  readonly operation: string | undefined;

  constructor(message: string, facts: ErrorFacts = {}) {
    super(message, facts.cause === undefined ? {} : { cause: facts.cause });
    this.code = facts.code ?? "unknown";
    this.status = facts.status;
    this.isRetryable = facts.isRetryable ?? false;
    this.endpoint = facts.endpoint;
    this.requestId = facts.requestId;
    this.operation = facts.operation;
  }

  /** For logs. It has no stack and no cause: those may hold what was sent. */
  toJSON(): Record<string, unknown> {
    const { name, message, code, status, isRetryable, endpoint, requestId, operation } = this;
    return { name, message, code, status, isRetryable, endpoint, requestId, operation };
  }
}

/** Whatever goes wrong with an agent or a run. */
export class PlatformAgentError extends PlatformSdkError {
  override readonly name: string = "PlatformAgentError";
}

/** The key is missing, wrong or expired. */
export class AuthenticationError extends PlatformAgentError {
  override readonly name: string = "AuthenticationError";
}

/** Too many requests; the same one may succeed later. */
export class RateLimitError extends PlatformAgentError {
  override readonly name: string = "RateLimitError";

  /** What the platform asked to wait; undefined where it did not say. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, facts: ErrorFacts & { retryAfterMs?: number } = {}) {
    super(message, facts);
    this.retryAfterMs = facts.retryAfterMs;
  }
}

/** The request cannot succeed as it is. */
export class ConfigurationError extends PlatformAgentError {
  override readonly name: string = "ConfigurationError";
}

/** There is no agent of this id, or none that this key may see. */
export class AgentNotFoundError extends ConfigurationError {
  override readonly name: string = "AgentNotFoundError";
}

/** An account must be connected first; `helpUrl` is where. */
export class IntegrationNotConnectedError extends ConfigurationError {
  override readonly name: string = "IntegrationNotConnectedError";

  readonly helpUrl: string;
  readonly provider: string;

  constructor(message: string, facts: ErrorFacts & { helpUrl: string; provider: string }) {
    super(message, facts);
    this.helpUrl = facts.helpUrl;
    this.provider = facts.provider;
  }

  override toJSON(): Record<string, unknown> {
    return { ...super.toJSON(), helpUrl: this.helpUrl, provider: this.provider };
  }
}

/** What this run cannot do any more; `run.unsupportedReason` says why. */
export class UnsupportedRunOperationError extends ConfigurationError {
  override readonly name: string = "UnsupportedRunOperationError";
}

/** The agent has a run under way. Asking again helps only once that run is over, so it is not called retryable. */
export class AgentBusyError extends PlatformAgentError {
  override readonly name: string = "AgentBusyError";
}

/** No answer, half of one, or one that reports a failure of the platform. */
export class NetworkError extends PlatformAgentError {
  override readonly name: string = "NetworkError";
}

/** The platform refused for a reason that has no class of its own. */
export class UnknownAgentError extends PlatformAgentError {
  override readonly name: string = "UnknownAgentError";
}
