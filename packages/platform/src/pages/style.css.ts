// How the pages before the login look, in the colours of the web app.

export const style = `:root {
  color-scheme: light dark;
  --bg: light-dark(#f7f7f8, #0e0f12); --card: light-dark(#fff, #16181d); --line: light-dark(#e6e6ea, #24262d);
  --ink: light-dark(#17181c, #ededf0); --soft: light-dark(#686a75, #9092a0); --bad: light-dark(#b3261e, #ff8f86);
  --accent: light-dark(#4a4fd0, #7b80f2); --accent-ink: light-dark(#fff, #0b0c14); --link: light-dark(#4045c0, #a5a9ff);
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--bg); color: var(--ink); font: 15px/1.5 "Inter", ui-sans-serif, system-ui, sans-serif; }
header { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: center; padding: .85rem 1.5rem; }
header nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; flex: 1; }
.brand { display: flex; align-items: center; gap: .6rem; color: var(--ink); font-weight: 650; letter-spacing: -.01em; }
.brand::before { content: ""; width: 20px; height: 20px; border-radius: 6px; background: linear-gradient(135deg, #4a4fd0, #c05fd8); }
main { max-width: 62rem; margin: 0 auto; padding: 1.5rem; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
h1 { font-size: 1.35rem; margin: 0 0 .75rem; letter-spacing: -.01em; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 1.25rem 1.5rem; margin: 0 0 1.25rem; overflow-wrap: anywhere; }
.narrow { max-width: 28rem; margin: 12vh auto 0; box-shadow: 0 1px 2px rgb(0 0 0 / .04), 0 4px 16px rgb(0 0 0 / .06); }
.narrow form button, .narrow .action { width: 100%; text-align: center; }
button, .action { display: inline-block; padding: .5rem 1rem; border: 0; border-radius: 8px; background: var(--accent); color: var(--accent-ink);
  font: inherit; font-weight: 500; cursor: pointer; }
.who { display: flex; gap: .75rem; align-items: center; margin-left: auto; color: var(--soft); font-size: .85rem; }
.who .quiet { background: none; color: var(--soft); border: 1px solid var(--line); }
.notice, .hint { color: var(--soft); font-size: .85rem; }
.hint { margin: .75rem 0 0; } .problem { color: var(--bad); }
code { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: .85em; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
@media (max-width: 40rem) { header { padding: .75rem 1rem; } main { padding: 1rem; } .narrow { margin-top: 2rem; } }
`;
