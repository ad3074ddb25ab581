// Environment variables in a request.
import { z } from "zod";
import { bytes } from "./common.ts";

const reserved = /^PLATFORM_/;

export const EnvVars = z
  .record(bytes(255, 1), bytes(4096))
  .refine((variables) => Object.keys(variables).length <= 50, "at most 50 variables")
  .superRefine((variables, context) => {
    for (const name of Object.keys(variables)) {
      if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
        context.addIssue({ code: "custom", path: [name], message: "is not a valid name for an environment variable" });
      if (reserved.test(name))
        context.addIssue({ code: "custom", path: [name], message: "names that begin with PLATFORM_ are reserved" });
    }
  });
