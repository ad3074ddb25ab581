// Text of a model as Markdown. HTML in it stays text; images of other sites are links, since loading them would tell those sites.
import { memo } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import rehypeSanitize from "rehype-sanitize";
import gfm from "remark-gfm";

const components: Components = {
  a: ({ children, href }) => (
    <a href={href} rel="noreferrer noopener" target="_blank">
      {children}
    </a>
  ),
  img: ({ alt, src }) => (
    <a href={typeof src === "string" ? src : undefined} rel="noreferrer noopener" target="_blank">
      {alt || "image"}
    </a>
  ),
  pre: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard needs a way in.
    <pre tabIndex={0}>{children}</pre>
  ),
};

export const Markdown = memo(({ text }: { text: string }) => (
  <div className="markdown">
    <ReactMarkdown remarkPlugins={[gfm]} rehypePlugins={[rehypeSanitize]} components={components}>
      {text}
    </ReactMarkdown>
  </div>
));
