// Lines of styled text.
export { highlight } from "./highlight.ts";
export { inline } from "./inline.ts";
export {
  cutLine,
  graphemes,
  headOf,
  type Line,
  lineWidth,
  plainLine,
  type Span,
  type Style,
  span,
  wrapLine,
} from "./line.ts";
export { closesFence, codeRows, diffRows, type Fence, markdown, openingFence } from "./markdown.ts";
export { colorDepth, openPainter, type Painter, type ThemeName, themeNames } from "./paint.ts";
export { visible } from "./visible.ts";
