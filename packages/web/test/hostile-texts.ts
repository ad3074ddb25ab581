// A hundred texts of attackers: each sets `window.attacked`, breaks a layout, or pretends to be something else where it is not shown as text.
const run = "window.attacked=1";

const elements = [
  `<script>${run}</script>`,
  `<img src=x onerror="${run}">`,
  `<svg onload="${run}">`,
  `<svg><script>${run}</script></svg>`,
  `<svg><animate onbegin="${run}" attributeName=x dur=1s>`,
  `<iframe srcdoc="<script>parent.attacked=1</script>">`,
  `<iframe src="javascript:parent.attacked=1">`,
  `<object data="javascript:${run}">`,
  `<embed src="javascript:${run}">`,
  `<body onload="${run}">`,
  `<details open ontoggle="${run}">`,
  `<video><source onerror="${run}">`,
  `<audio src=x onerror="${run}">`,
  `<input autofocus onfocus="${run}">`,
  `<select autofocus onfocus="${run}">`,
  `<textarea autofocus onfocus="${run}">`,
  `<marquee onstart="${run}">`,
  `<a href="javascript:${run}" autofocus onfocus="${run}">x</a>`,
  `<form action="javascript:${run}"><button>go</button></form>`,
  `<math href="javascript:${run}">x</math>`,
  `<style>*{display:none!important}</style>`,
  `<link rel=stylesheet href="//evil.example/x.css">`,
  `<base href="//evil.example/">`,
  `<meta http-equiv=refresh content="0;url=//evil.example/">`,
  `<template><script>${run}</script></template>`,
  `<noscript><p title="</noscript><img src=x onerror=${run}>">`,
  `<div style="position:fixed;inset:0;background:red">x</div>`,
  `<dialog open>Log in again</dialog>`,
  `<title>hacked</title>`,
  `<xss onpointerrawupdate="${run}">`,
];

const breakouts = [
  `"><script>${run}</script>`,
  `'><script>${run}</script>`,
  `</title><script>${run}</script>`,
  `</textarea><script>${run}</script>`,
  `</script><script>${run}</script>`,
  `</style><script>${run}</script>`,
  `--><script>${run}</script>`,
  `]]><script>${run}</script>`,
  `" onmouseover="${run}" x="`,
  `' autofocus onfocus='${run}' x='`,
  `\${${run}}`,
  `{{constructor.constructor('${run}')()}}`,
  `<%= ${run} %>`,
  `{"__proto__":{"attacked":1}}`,
  `%session%`,
  `%fallback%`,
  `$& $\` $' $1`,
  `\\u003cscript\\u003e${run}\\u003c/script\\u003e`,
  `&lt;script&gt;${run}&lt;/script&gt;`,
  `%3Cscript%3E${run}%3C/script%3E`,
];

const markdown = [
  `[click](javascript:${run})`,
  `[click](JaVaScRiPt:${run})`,
  `[click](data:text/html,<script>${run}</script>)`,
  `[click](vbscript:msgbox)`,
  `![x](x" onerror="${run})`,
  `![pixel](https://evil.example/pixel.png)`,
  `<javascript:${run}>`,
  `[x]: javascript:${run}`,
  `**<img src=x onerror=${run}>**`,
  `\`<script>${run}</script>\``,
  `| <img src=x onerror=${run}> |\n|---|\n| x |`,
  `- [ ] <input onfocus=${run} autofocus>`,
  `~~~html\n<script>${run}</script>\n~~~`,
  `<https://evil.example/?${"a".repeat(200)}>`,
  `# # # # # #`,
];

const links = [
  `javascript:${run}`,
  `//evil.example/agents`,
  `https://platform.example@evil.example/`,
  `/agents/../../logout`,
  `../../../etc/passwd`,
  `file:///etc/passwd`,
  `\\\\evil.example\\share`,
  `blob:https://evil.example/x`,
];

const terminal = [
  `\x1b]0;hacked\x07title`,
  `\x1b]8;;javascript:${run}\x07link\x1b]8;;\x07`,
  `\x1b[2J\x1b[Hcleared`,
  `\x1b[?1049h\x1b[31mred`,
  `\x1b]52;c;aGFja2Vk\x07`,
  `10%\r20%\r100%`,
];

const names = [
  `</main></div></div>`,
  `<!--`,
  `<plaintext>`,
  `diff --git a/x b/x\n+++ b/<img src=x onerror=${run}>`,
  `a.txt\u202Etxt.exe`,
  `\u0000null`,
  `\u200Binvisible\u200B`,
  `\uFEFFmark`,
  `\u2028line\u2029paragraph`,
  `${"\u0301".repeat(80)}`,
  `x${"\u0336".repeat(60)}`,
  `\uD83D`,
  `👩‍👩‍👧‍👦👩‍👩‍👧‍👦`,
  `‮evitcaer`,
  `שלום عالم 你好`,
  `CON.txt`,
  `${"a".repeat(100)}`,
  `${"W".repeat(100)}`,
  `${"_".repeat(100)}`,
  `${"<b>".repeat(33)}`,
  `${"ﷺ".repeat(40)}`,
  `   `,
  `null`,
  `-rf /`,
];

/** Without NUL and halves of characters where a request would be refused: those are no texts. */
export const hostileTexts: string[] = [...elements, ...breakouts, ...markdown, ...links, ...terminal, ...names]
  .filter((text) => !text.includes("\u0000") && !/\p{Cs}/u.test(text) && text.trim() !== "")
  .slice(0, 100);
