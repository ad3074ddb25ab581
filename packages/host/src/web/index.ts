export { htmlToMarkdown, type Page } from "./html-markdown.ts";
export { type WebAccess, webTools } from "./tools.ts";
