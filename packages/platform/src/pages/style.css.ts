// How pages look.

export const style = `:root {
  color-scheme: light dark;
  --ground: #fbfaf8; --card: #fff; --ink: #1d1c1a; --soft: #6d6a64; --line: #e3dfd8; --accent: #2f5d50;
  --good: #1f7a4d; --bad: #b3372f; --busy: #a86a12;
}
@media (prefers-color-scheme: dark) {
  :root { --ground: #171614; --card: #201f1c; --ink: #ece9e3; --soft: #a19c92; --line: #35322d; --accent: #8fc6b3;
    --good: #6fcf97; --bad: #ef8a80; --busy: #e3b261; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
header { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: center; padding: .75rem 1.5rem; border-bottom: 1px solid var(--line); }
header nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; flex: 1; }
.brand { font-weight: 650; letter-spacing: -.01em; }
main { max-width: 62rem; margin: 0 auto; padding: 1.5rem; }
a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; }
h1 { font-size: 1.35rem; margin: 0 0 .75rem; } h2 { font-size: 1.05rem; margin: 1.5rem 0 .5rem; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1rem 1.25rem; margin: 0 0 1.25rem; }
.card { overflow-wrap: anywhere; } .card h2 { margin-top: 0; }
label { display: block; color: var(--soft); font-size: .85rem; }
textarea, select, input[type=text], input[type=email] { width: 100%; margin-top: .2rem; padding: .45rem .6rem; font: inherit; color: var(--ink);
  background: var(--ground); border: 1px solid var(--line); border-radius: 7px; }
.row { display: flex; flex-wrap: wrap; gap: 1rem; align-items: end; margin-top: .75rem; }
.check { display: flex; gap: .4rem; align-items: center; padding-bottom: .5rem; }
button { font: inherit; padding: .45rem 1rem; border: 0; border-radius: 7px; background: var(--accent); color: var(--ground); cursor: pointer; }
button.quiet { background: none; color: var(--soft); border: 1px solid var(--line); }
.who { display: flex; gap: .75rem; align-items: center; color: var(--soft); font-size: .85rem; }
table { width: 100%; border-collapse: collapse; }
th { text-align: left; color: var(--soft); font-weight: 500; font-size: .85rem; }
th, td { padding: .5rem 1rem .5rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
.notice { color: var(--soft); font-size: .85rem; }
.facts { color: var(--soft); font-size: .85rem; display: flex; flex-wrap: wrap; gap: 0 .75rem; align-items: center; margin: .25rem 0; }
.title { display: flex; justify-content: space-between; align-items: start; gap: 1rem; margin-bottom: 1rem; }
.title button { white-space: nowrap; } .title .row { margin-top: 0; }
.title h1 { margin: 0; }
.run { margin: 1.25rem 0; }
.message { white-space: pre-wrap; padding: .7rem 1rem; border-radius: 10px; margin: .5rem 0; overflow-wrap: anywhere; }
.message.user { background: var(--card); border: 1px solid var(--line); }
.thinking { color: var(--soft); white-space: pre-wrap; font-size: .9rem; margin: .4rem 0; }
.call { font-family: ui-monospace, monospace; font-size: .82rem; border-left: 3px solid var(--busy); padding: .3rem .75rem; margin: .4rem 0; overflow-wrap: anywhere; white-space: pre-wrap; }
.call.completed { border-color: var(--good); } .call.error { border-color: var(--bad); }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 7px; padding: .6rem .8rem; overflow: auto; max-height: 22rem; font-size: .8rem; margin: .4rem 0; }
.diff { max-height: none; line-height: 1.45; } .diff .add { color: var(--good); } .diff .del { color: var(--bad); } .diff .hunk { color: var(--soft); }
.problem { color: var(--bad); } .empty { color: var(--soft); } .plain { list-style: none; padding: 0; margin: 0; }
code, .repo { font-family: ui-monospace, monospace; font-size: .82rem; overflow-wrap: anywhere; }
.key { user-select: all; }
code.key { display: block; padding: .6rem .8rem; background: var(--ground); border: 1px dashed var(--accent); border-radius: 7px; }
select, input { min-height: 2.45rem; }
.narrow { max-width: 28rem; margin: 3rem auto; }
.action { display: inline-block; padding: .45rem 1rem; border-radius: 7px; background: var(--accent); color: var(--ground); }
.wide { flex: 1 1 14rem; }
.soft, .hint { color: var(--soft); } .hint { font-size: .85rem; margin: .5rem 0 0; } td .soft { font-size: .85rem; }
.fresh { border-color: var(--accent); }
button.danger { color: var(--bad); border-color: currentColor; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
summary { cursor: pointer; color: var(--accent); }
.actions { text-align: right; white-space: nowrap; } .actions form, .menu form { margin: 0; }
.actions details { position: relative; } .actions summary { list-style: none; } .actions summary::-webkit-details-marker { display: none; }
.menu { position: absolute; right: 0; z-index: 1; display: grid; gap: .5rem; width: max-content; max-width: 18rem; padding: .75rem; text-align: left; white-space: normal;
  background: var(--card); border: 1px solid var(--line); border-radius: 10px; box-shadow: 0 6px 24px rgb(0 0 0 / .15); }
.menu button { width: 100%; } .menu select + button, .menu label + button { margin-top: .5rem; }
@media (max-width: 40rem) {
  header { padding: .75rem 1rem; } header nav { order: 3; flex-basis: 100%; } .who { margin-left: auto; } main { padding: 1rem; }
  .title { flex-wrap: wrap; } .narrow { margin-top: 1rem; } .row > label, .row > button { flex: 1 1 100%; }
  .actions details { width: 100%; } .menu { position: static; width: 100%; max-width: none; margin-top: .5rem; box-shadow: none; }
}
`;
