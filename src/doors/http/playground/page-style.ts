/** One style sheet for light and dark, wide and narrow. */
export const PAGE_STYLE = `
:root{color-scheme:light dark;--ground:light-dark(#f6f7f9,#14171c);--paper:light-dark(#fff,#1c2027);--ink:light-dark(#1b1f24,#e4e7eb);
--faint:light-dark(#57606a,#9aa4b0);--line:light-dark(#d0d7de,#363d47);--main:light-dark(#0a5bb5,#6cb2ff);--on-main:light-dark(#fff,#0b1420);
--error:light-dark(#b3261e,#ff8d85);--warn:light-dark(#fff4d6,#3b3013)}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:flex;flex-direction:column;background:var(--ground);color:var(--ink);font:15px/1.45 system-ui,sans-serif}
header{display:flex;flex-wrap:wrap;gap:.5rem 1.25rem;align-items:center;padding:.6rem 1rem;background:var(--paper);border-bottom:1px solid var(--line)}
h1{font-size:1.05rem;margin:0}h2{font-size:.85rem;margin:.75rem 0 .35rem;color:var(--faint);font-weight:600}
.fields,.actions{display:flex;flex-wrap:wrap;gap:.5rem .9rem;align-items:center}header .actions{margin-left:auto}
select,button,input,textarea{font:inherit;color:inherit;background:var(--paper);border:1px solid var(--line);border-radius:.4rem;padding:.35rem .6rem}
button{cursor:pointer;min-width:4.5rem}button.main{background:var(--main);color:var(--on-main);border-color:var(--main)}
button[aria-disabled=true]{opacity:.45;cursor:default}
:focus-visible,#editor:focus-within{outline:3px solid var(--main);outline-offset:1px}
.notice{margin:0;padding:.6rem 1rem;background:var(--warn);border-bottom:1px solid var(--line)}
main{flex:1;display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:1rem;padding:0 1rem 1rem}
section{display:flex;flex-direction:column;min-width:0}
#editor{flex:1;min-height:16rem;display:flex;background:var(--paper);border:1px solid var(--line);border-radius:.4rem;overflow:hidden}
#editor .cm-content{outline:none}#editor .cm-editor{outline:none;flex:1;min-width:0;max-height:70vh}.cm-scroller,pre,textarea,#link{font-family:ui-monospace,monospace;font-size:.9rem}
.hint{margin:.35rem 0 0;color:var(--faint);font-size:.8rem}
textarea{width:100%;resize:vertical}
#status{margin:0 0 .35rem;min-height:1.45em}#status.bad{color:var(--error)}
#output{flex:1;min-height:12rem;max-height:75vh;margin:0;padding:.6rem;overflow:auto;background:var(--paper);border:1px solid var(--line);border-radius:.4rem;white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:isolate;contain:content}
#output .stderr{color:var(--error)}#output .note{color:var(--faint);font-style:italic}
dialog{max-width:min(40rem,92vw);background:var(--paper);color:var(--ink);border:1px solid var(--line);border-radius:.6rem}
dialog label{display:block}#link{display:block;width:100%;margin-top:.25rem}
@media (max-width:50rem){main{grid-template-columns:minmax(0,1fr)}header .actions{margin-left:0;width:100%}header .actions button{flex:1}#editor .cm-editor{max-height:55vh}}
`
