import { createHash } from 'node:crypto'
import type { Context } from 'hono'
import { z } from 'zod'
import { API_CODES } from '../../../services/snippets/problem-codes.ts'
import { pagePolicy } from '../server/security-headers.ts'
import { API_OPERATIONS, type ApiOperation } from './operations.ts'

const STYLE = `:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
code,pre{font-family:ui-monospace,monospace;font-size:.9em}pre{overflow:auto;padding:.75rem;border:1px solid #8886;border-radius:.4rem}
section{border-top:1px solid #8886;padding:.5rem 0}h2{font-size:1.05rem;margin:.5rem 0}h2 b{display:inline-block;min-width:4.5rem}
td,th{text-align:left;vertical-align:top;padding:.15rem .75rem .15rem 0}summary{cursor:pointer}`

const POLICY = pagePolicy(createHash('sha256').update(STYLE).digest('base64'))

/** The API reference for people: routes, parameters and answers. The page loads nothing from other servers. */
export function apiPage(c: Context, version: string): Response {
  c.header('content-security-policy', POLICY)
  return c.html(page(version))
}

const page = (version: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Windlass code API</title>
<style>${STYLE}</style>
<main>
<h1>Windlass code API</h1>
<p>Version ${escaped(version)}. The same for programs: <a href="/api/v1/openapi.json">openapi.json</a> (OpenAPI 3.1).
Every response is an envelope: <code>code</code> 0 with <code>data</code>, or another code with a <code>message</code>.</p>
<pre>${escaped(EXAMPLE)}</pre>
${API_OPERATIONS.map(section).join('\n')}
<section id="codes"><h2>Codes</h2>${codes()}</section>
</main>
`

const EXAMPLE = `curl -s 'localhost:8080/api/v1/tasks?wait=30s' -H 'Content-Type: application/json' \\
  -d '{"language":"python","code":"print(6*7)"}'`

const section = (operation: ApiOperation): string => `<section id="${operation.name}">
<h2><b>${operation.method.toUpperCase()}</b> <code>${escaped(operation.path)}</code></h2>
<p>${escaped(operation.summary)}</p>
${parameters(operation)}${operation.body ? details('Body', operation.body, 'input') : ''}${answer(operation)}
<p>Problems: ${operation.problems.map((name) => `<a href="#code-${API_CODES[name].code}">${API_CODES[name].code}</a>`).join(', ') || 'none of its own'}</p>
</section>`

const parameters = ({ parameters: all = [] }: ApiOperation): string =>
  all.length === 0
    ? ''
    : `<table>${all
        .map(
          ({ name, in: place, about }) =>
            `<tr><th scope="row"><code>${escaped(name)}</code></th><td>${place}</td><td>${escaped(about)}</td></tr>`,
        )
        .join('')}</table>\n`

const answer = ({ answer: given }: ApiOperation): string =>
  given instanceof z.ZodType
    ? details('Data', given, 'output')
    : `<p>Answer: ${escaped(given.type)}. ${escaped(given.about)}</p>`

const details = (title: string, schema: z.ZodType, io: 'input' | 'output'): string => {
  const { $schema: _, ...shown } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return `<details><summary>${title}</summary><pre>${escaped(JSON.stringify(shown, null, 2))}</pre></details>\n`
}

const codes = (): string =>
  `<table>${Object.values(API_CODES)
    .map(
      ({ code, status, message, means }) =>
        `<tr id="code-${code}"><th scope="row">${code}</th><td>${status}</td><td>${escaped(message)}</td><td>${escaped(means)}</td></tr>`,
    )
    .join('')}</table>`

const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
