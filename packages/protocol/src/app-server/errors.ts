// Errors of turns, as clients of the app server receive them.
import { z } from "zod";
import { maybe, whole } from "./maybe.ts";

const httpFailure = z.object({ httpStatusCode: maybe(whole) });

export const ErrorInfo = z.union([
  z.enum([
    "contextWindowExceeded",
    "sessionBudgetExceeded",
    "usageLimitExceeded",
    "serverOverloaded",
    "cyberPolicy",
    "misalignmentPolicyViolation",
    "internalServerError",
    "unauthorized",
    "badRequest",
    "threadRollbackFailed",
    "sandboxError",
    "other",
  ]),
  z.object({ httpConnectionFailed: httpFailure }),
  z.object({ responseStreamConnectionFailed: httpFailure }),
  z.object({ responseStreamDisconnected: httpFailure }),
  z.object({ responseTooManyFailedAttempts: httpFailure }),
  z.object({ activeTurnNotSteerable: z.object({ turnKind: z.enum(["review", "compact"]) }) }),
]);
export type ErrorInfo = z.infer<typeof ErrorInfo>;

/** Existing clients read `codexErrorInfo`; both have the same value. */
export const TurnError = z.object({
  message: z.string(),
  errorInfo: maybe(ErrorInfo),
  codexErrorInfo: maybe(ErrorInfo),
  additionalDetails: maybe(z.string()),
});
export type TurnError = z.infer<typeof TurnError>;
