import { PAGE_STYLE } from './page-style.ts'

export interface PageParts {
  readonly nonce: string
  /** The URLs of modules that are imported by name. */
  readonly imports: Readonly<Record<string, string>>
  readonly entry: string
}

/**
 * Scripts and styles must carry the page's nonce; modules that they import carry it too. No source is allowed by
 * address, not even this server: it also serves output of strangers' programs. Trusted types forbid turning strings
 * into markup or code.
 */
export const playgroundPolicy = (nonce: string): string =>
  [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')

export const playgroundPage = ({ nonce, imports, entry }: PageParts): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>Windlass playground</title>
<style nonce="${nonce}">${PAGE_STYLE}</style>
<script type="importmap" nonce="${nonce}">${JSON.stringify({ imports }).replaceAll('<', '\\u003c')}</script>
<script type="module" nonce="${nonce}" src="${entry}"></script>
<body aria-busy="true">
<header>
<h1>Windlass playground</h1>
<div class="fields">
<label>Language <select id="language" disabled></select></label>
<label>Version <select id="version" disabled></select></label>
<label>Theme <select id="theme">
<option value="">as the system</option><option value="light">light</option><option value="dark">dark</option>
</select></label>
</div>
<div class="actions">
<button id="run" class="main" aria-keyshortcuts="Control+Enter Meta+Enter">Run</button>
<button id="stop" aria-disabled="true">Stop</button>
<button id="share">Share</button>
</div>
</header>
<p id="notice" class="notice" role="alert" hidden></p>
<main>
<section class="input" aria-label="Program">
<h2 id="code-label">Code</h2>
<div id="editor"></div>
<p id="editor-hint" class="hint">Ctrl or Cmd with Enter runs it. Tab indents; Esc, then Tab leaves the editor.</p>
<h2><label for="stdin">Standard input</label></h2>
<textarea id="stdin" rows="3" spellcheck="false" autocapitalize="off" autocomplete="off"></textarea>
</section>
<section class="output" aria-label="Result">
<h2 id="output-label">Output</h2>
<p id="status" role="status">Nothing has run yet.</p>
<pre id="output" role="log" aria-live="polite" aria-labelledby="output-label" tabindex="0"></pre>
</section>
</main>
<dialog id="shared" aria-labelledby="shared-label">
<h2 id="shared-label">A link to this program</h2>
<p>The program is in the link itself: nothing is kept on the server.</p>
<p><label>Link <input id="link" readonly></label></p>
<p class="actions"><button id="copy" class="main">Copy</button> <button id="close">Close</button> <span id="copied" role="status"></span></p>
</dialog>
<noscript><p class="notice">The playground needs JavaScript; the <a href="/api">API</a> does not.</p></noscript>
</body>
</html>
`
