import { createHash } from 'node:crypto'
import type { Context } from 'hono'
import { pagePolicy } from './security-headers.ts'

/** The page at `/`, for people: a description of the server, with links. */
const LINKS = [
  { path: '/play', what: 'run code in the browser' },
  { path: '/api', what: 'the API for running code' },
  { path: '/healthz', what: 'liveness of the server process' },
  { path: '/readyz', what: 'whether the server accepts work; if not, the reasons' },
  { path: '/metrics', what: 'figures for Prometheus' },
] as const

const SAYS = 'One execution grid with three front doors: Remote Execution API, CWL workflows, and code snippets.'

const STYLE = `:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem}
code,a{font-family:ui-monospace,monospace}li{margin:.25rem 0}`

const POLICY = pagePolicy(createHash('sha256').update(STYLE).digest('base64'))

export function frontPage(c: Context, version: string): Response {
  c.header('vary', 'Accept')
  if (!/\btext\/html\b/.test(c.req.header('accept') ?? '')) {
    return c.json({ name: 'windlass', version, about: SAYS, links: LINKS })
  }
  c.header('content-security-policy', POLICY)
  return c.html(page(version))
}

const page = (version: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Windlass</title>
<style>${STYLE}</style>
<h1>Windlass ${escaped(version)}</h1>
<p>${SAYS}</p>
<ul>
${LINKS.map(({ path, what }) => `<li><a href="${path}">${path}</a>: ${what}</li>`).join('\n')}
</ul>
`

const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
