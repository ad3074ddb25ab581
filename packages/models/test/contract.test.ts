import { describe } from "vitest";
import { modelContract } from "./contract.ts";

describe.each(["responses", "chat", "anthropic"] as const)("a model on the %s wire", modelContract);
