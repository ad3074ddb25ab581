// Rules, and instructions for touched files. Loaded where there are any.
export { type NestedSources, nestedInstructions, readNested, type Touched } from "./instructions/nested.ts";
export {
  mentionedRules,
  type Rule as RepositoryRule,
  type Rules,
  readRules,
  ruleBody,
  ruleMessage,
  ruleTexts,
} from "./instructions/rules.ts";
