// Generated from protocol/src/models-file.ts by npm run generate.
import type { Shape } from "../src/shape.ts";

export const modelsShape: Shape = {"type":"object","additionalProperties":{"type":"object","properties":{"context_window":{"type":"integer","exclusiveMinimum":0,"maximum":9007199254740991},"max_output_tokens":{"type":"integer","exclusiveMinimum":0,"maximum":9007199254740991},"freeform":{"type":"boolean"},"images":{"type":"boolean"},"patches":{"type":"boolean"},"reasoning":{"type":"boolean"},"thinking":{"type":"string","enum":["adaptive","extended","none"]},"input":{"type":"number","minimum":0},"output":{"type":"number","minimum":0},"cached_input":{"type":"number","minimum":0},"cache_write":{"type":"number","minimum":0},"source":{"type":"string"},"date":{"type":"string"}}}};
